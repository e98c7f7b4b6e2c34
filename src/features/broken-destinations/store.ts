/** The outages that were announced, over all daemons: each once, until it is over. Subjects: see `ledger/record.ts`. */
import type { Cluster, Redis } from 'ioredis';
import { CHANNEL_KINDS, type ChannelKind, type Destination } from '../../alert.ts';
import type { Disabled } from '../../deliver/destinations.ts';
import type { Circuits } from '../../deliver/health.ts';
import type { DeliveryReason, Explanation } from '../../errors.ts';
import { senderId } from '../../item.ts';
import type { DestinationStatistics } from '../../ledger/destination-stats.ts';
import { nameOf } from '../../ledger/record.ts';
import { iso } from '../../time.ts';

export interface Outage {
  /** ISO 8601. */
  since: string;
  reason: DeliveryReason;
  /** The error that it gave, in a sentence without secrets. */
  message: string;
  /** The same for people; absent where nobody has words for it. */
  explanation?: Explanation;
  /** Who got the announcement, and gets the one of its end. */
  announcedTo: Destination[];
  /** ISO 8601: when an operator enabled it again. It is in force no more, and the next answer decides. */
  enabledAt?: string;
}

/** As long as the ledger keeps alerts; an outage that lasts longer is announced again. */
const KEEP_MS = 35 * 86_400_000;
const HOUR_MS = 3_600_000;

/** KEYS: the outage; ARGV: as it was read. */
const REMOVE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** KEYS: the outage; ARGV: as it was read, as it is now. */
const REPLACE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
return 1`;

/** KEYS: the count; ARGV: how long it counts. */
const COUNT = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count`;

const parse = (json: string): Outage => JSON.parse(json) as Outage;

export const createOutageStore = (redis: Redis | Cluster, prefix: string) => {
  const keyOf = (subject: string): string => `${prefix}:announced:${subject}`;
  const replace = async (subject: string, before: string, outage: Outage): Promise<boolean> =>
    (await redis.eval(REPLACE, 1, keyOf(subject), before, JSON.stringify(outage))) === 1;
  /** Gives the outage that is kept: this one, or one that was noted before and is in force. */
  const note = async (subject: string, outage: Outage): Promise<Outage> => {
    const json = JSON.stringify(outage);
    if (await redis.set(keyOf(subject), json, 'PX', KEEP_MS, 'NX')) return outage;
    const before = await redis.get(keyOf(subject));
    if (before === null) return outage;
    const known = parse(before);
    if (known.enabledAt === undefined) return known;
    // Another daemon may have noted the new outage meanwhile: then its note holds.
    return (await replace(subject, before, outage)) ? outage : note(subject, outage);
  };
  return {
    note,
    /** Of those of `subjects` that are broken. */
    get: async (subjects: readonly string[]): Promise<Map<string, Outage>> => {
      if (subjects.length === 0) return new Map();
      const found = await redis.mget(subjects.map(keyOf));
      const known = subjects.flatMap((subject, index) =>
        found[index] ? [[subject, parse(found[index])] as const] : [],
      );
      return new Map(known.filter(([, { enabledAt }]) => enabledAt === undefined));
    },
    /** Also one that an operator has enabled since: its end is not announced yet. */
    find: async (subject: string): Promise<Outage | undefined> => {
      const json = await redis.get(keyOf(subject));
      return json === null ? undefined : parse(json);
    },
    /** `at`: ISO 8601. */
    enabled: async (subject: string, at: string): Promise<void> => {
      const json = await redis.get(keyOf(subject));
      if (json !== null) await replace(subject, json, { ...parse(json), enabledAt: at });
    },
    /** Only as it was read: one that was noted meanwhile stays. */
    remove: async (subject: string, outage: Outage): Promise<void> => {
      await redis.eval(REMOVE, 1, keyOf(subject), JSON.stringify(outage));
    },
    /** Counts one more, and gives how many there were of it within an hour. */
    count: async (subject: string): Promise<number> =>
      Number(await redis.eval(COUNT, 1, `${prefix}:breaks:${subject}`, HOUR_MS)),
  };
};

export type OutageStore = ReturnType<typeof createOutageStore>;

/** A destination or a sender that is broken now. */
export interface CurrentOutage {
  /** A destination's id, or `sender-KIND`. */
  id: string;
  kind: ChannelKind;
  /** In words. */
  name: string;
  /** ISO 8601. */
  since: string;
  /** The error that it gave, in a sentence without secrets. */
  message: string;
  /** What mends it, as part of a sentence, where that is known. */
  todo?: string;
  /** Who heard of it, as people read destinations. */
  announcedTo: string[];
}

export const currentOutages = async (
  outages: Pick<OutageStore, 'get'>,
  destinations: readonly (Pick<DestinationStatistics, 'id' | 'kind' | 'label'> & { name?: string })[],
): Promise<CurrentOutage[]> => {
  const subjects = [
    ...CHANNEL_KINDS.map((kind) => ({ id: senderId(kind), kind, name: `everything by ${kind}` })),
    ...destinations.map((one) => ({ id: one.id, kind: one.kind, name: nameOf(one) })),
  ];
  const found = await outages.get(subjects.map(({ id }) => id));
  return subjects.flatMap((subject) => {
    const { since, message, explanation, announcedTo = [] } = found.get(subject.id) ?? {};
    if (since === undefined || message === undefined) return [];
    const own = explanation === undefined ? {} : { todo: explanation.todo };
    return [{ ...subject, since, message, announcedTo: announcedTo.map(({ label }) => label), ...own }];
  });
};

interface EnableDependencies {
  disabled: Pick<Disabled, 'find' | 'enable'>;
  circuits: Pick<Circuits, 'announceAgain'>;
  outages: Pick<OutageStore, 'enabled'>;
  now(): number;
}

/** False where it was not disabled: then nothing changes. */
export type Enable = (id: Destination['id']) => Promise<boolean>;

/**
 * Enables a destination whose receiver wanted nothing more. Its outage is in force no more, so nobody is sent there for
 * nothing. Whether it is over, the next answer says.
 */
export const createEnable =
  ({ disabled, circuits, outages, now }: EnableDependencies): Enable =>
  async (id) => {
    if ((await disabled.find(id)) === undefined) return false;
    await outages.enabled(id, iso(now()));
    await circuits.announceAgain(id);
    // Last: where this is cut short, the same command does it all again.
    return disabled.enable(id);
  };
