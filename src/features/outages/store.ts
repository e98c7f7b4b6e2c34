/** The outages that were announced, over all daemons: each once, until it is over. Subjects: see `ledger/outage-subject.ts`. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../../alert.ts';
import type { DeliveryReason } from '../../errors.ts';

export interface Outage {
  /** ISO 8601. */
  since: string;
  reason: DeliveryReason;
  /** The error that it gave, in a sentence without secrets. */
  message: string;
  /** Who got the announcement, and gets the one of its end. In Redis under this name. */
  told: Destination[];
}

export interface OutageStore {
  /** Gives the outage that is kept: this one, or one that was noted before. */
  note(subject: string, outage: Outage): Promise<Outage>;
  /** Of those of `subjects` that are broken. */
  get(subjects: readonly string[]): Promise<Map<string, Outage>>;
  /** Only as it was read: one that was noted meanwhile stays. */
  remove(subject: string, outage: Outage): Promise<void>;
  /** Counts one more, and gives how many there were of it within an hour. */
  count(subject: string): Promise<number>;
}

/** As long as the ledger keeps alerts; an outage that lasts longer is announced again. */
const KEEP_MS = 35 * 86_400_000;
const HOUR_MS = 3_600_000;

/** KEYS: the outage; ARGV: as it was read. */
const REMOVE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** KEYS: the count; ARGV: how long it counts. */
const COUNT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count`;

const parse = (json: string): Outage => JSON.parse(json) as Outage;

export const createOutageStore = (redis: Redis | Cluster, prefix: string): OutageStore => {
  const keyOf = (subject: string): string => `${prefix}:announced:${subject}`;
  return {
    note: async (subject, outage) => {
      const json = JSON.stringify(outage);
      if (await redis.set(keyOf(subject), json, 'PX', KEEP_MS, 'NX')) return outage;
      const before = await redis.get(keyOf(subject));
      return before === null ? outage : parse(before);
    },
    get: async (subjects) => {
      if (subjects.length === 0) return new Map();
      const found = await redis.mget(subjects.map(keyOf));
      return new Map(subjects.flatMap((subject, index) => (found[index] ? [[subject, parse(found[index])]] : [])));
    },
    remove: async (subject, outage) => {
      await redis.eval(REMOVE, 1, keyOf(subject), JSON.stringify(outage));
    },
    count: async (subject) => Number(await redis.eval(COUNT, 1, `${prefix}:breaks:${subject}`, HOUR_MS)),
  };
};
