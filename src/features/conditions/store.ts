/** What was announced, over all daemons: each once, until it is over. Its records are in groups, by who finds them. */
import type { Cluster, Redis } from 'ioredis';
import type { Announcement, Destination } from '../../alert.ts';
import { senderId } from '../../item.ts';
import { execute, recordsIn } from '../../redis/pipeline.ts';
import { DAY_MS, HOUR_MS } from '../../time.ts';

export interface Announced {
  /** Names the announcement: the same key is the same announcement. The record is known by it, or by its `id`. */
  key: string;
  id?: string;
  about: Announcement;
  /** The whole: the daemon that completes it says the same. */
  text: string;
  /** Its cause, as the list of conditions shows it. */
  why?: string;
  /** ISO 8601: what the announcement is dated; mostly, since when it is so. */
  since: string;
  /** ISO 8601: it is kept from then on. Default: `since`. */
  notedAt?: string;
  /** What of it is not over yet, each by its name; empty where it is one thing. */
  members: string[];
  /** Who gets the announcement, and the one of its end. */
  announcedTo: Destination[];
  /** Ids of those whose delivery died: they have not heard of it. */
  notHeard?: string[];
  /** It is durably queued, or nobody is to hear of it. */
  isAnnounced: boolean;
  /** For the log. */
  said: { text: string; fields: object };
  /** ISO 8601: when an operator enabled it again. It is in force no more, and the next answer decides. */
  enabledAt?: string;
}

/** What is over of an announcement: these members; none where it is one thing. */
export interface Over<T extends Announced = Announced> {
  announced: T;
  members: readonly string[];
}

/** Each announcement of which something is over. */
export const overAmong = <T extends Announced>(all: readonly T[], isOver: (member: string, of: T) => boolean) =>
  all
    .map((announced): Over<T> => ({ announced, members: announced.members.filter((one) => isOver(one, announced)) }))
    .filter(({ members }) => members.length > 0);

/** For a log line, which names one of them, and how many there are. */
export const fewOf = (protocols: readonly string[]): object =>
  protocols.length === 0 ? {} : { protocols: protocols.length, first: protocols[0] };

/** What is over of protocols of a service. `gone`: those that are not watched any more. `now`: epoch milliseconds. */
export const overFacts = (service: string, over: Over, watched: readonly string[], now: number) => {
  const { announced, members: protocols } = over;
  const { since } = announced;
  const gone = protocols.filter((name) => !watched.includes(name)).length;
  return { service, protocols, since, gone, forMs: Math.max(0, now - Date.parse(since)) };
};

export const labelsOf = (destinations: readonly Destination[]): string[] => destinations.map(({ label }) => label);

/** Of records, and of the lock under which they change. */
export const GROUPS = {
  /** Outages of destinations and of senders, each by its id: see `ledger/record.ts`. */
  broken: 'broken',
  /** What has lasted. */
  watchdog: 'watchdog',
  /** Protocols of a service that nobody reads, and those of which nothing is inspected. */
  unread: (service: string): string => `unread:${service}`,
  silent: (service: string): string => `silent:${service}`,
  /** Protocols whose inspections do not fit where the service lists them. */
  misfits: (service: string): string => `misfits:${service}`,
};

/** As long as the ledger keeps alerts; what lasts longer is announced again. */
const KEEP_MS = 35 * DAY_MS;

/** KEYS: the group; ARGV: the record's id, as it was read and as it is now (empty for none), how long. */
const REPLACE = `
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return 1`;

export const createAnnouncedStore = (redis: Redis | Cluster, prefix: string, now: () => number = Date.now) => {
  const keyOf = (group: string): string => `${prefix}:announced:${group}`;
  const isKept = ({ since, notedAt = since }: Announced): boolean => !(now() - Date.parse(notedAt) > KEEP_MS);
  const isInForce = (one: Announced): boolean => one.enabledAt === undefined && isKept(one);
  const jsonOf = (one: Announced | undefined): string => (one === undefined ? '' : JSON.stringify(one));
  const get = async <T extends Announced>(group: string, ids: readonly string[]): Promise<Map<string, T>> => {
    if (ids.length === 0) return new Map();
    const found = await redis.hmget(keyOf(group), ...ids);
    return new Map(ids.flatMap((id, index) => (found[index] ? [[id, JSON.parse(found[index]) as T] as const] : [])));
  };

  /** Adds, changes or removes one. Gives what is kept then. Another daemon may come between: then `next` is asked again. */
  const change = async <T extends Announced, N extends T | undefined>(
    group: string,
    id: string,
    next: (kept: T | undefined) => N,
  ): Promise<N> => {
    const kept = (await get<T>(group, [id])).get(id);
    const changed = next(kept);
    if (changed === kept) return changed;
    const isChanged = await redis.eval(REPLACE, 1, keyOf(group), id, jsonOf(kept), jsonOf(changed), KEEP_MS);
    return isChanged === 1 ? changed : change(group, id, next);
  };

  /** The same of just this one. Undefined where it is over, or another one has its place. */
  const update = async (group: string, one: Announced, next: (kept: Announced) => Announced | undefined) => {
    const kept = await change<Announced, Announced | undefined>(group, one.id ?? one.key, (before) =>
      before?.key === one.key ? next(before) : before,
    );
    return kept?.key === one.key ? kept : undefined;
  };

  return {
    ...{ change, update },
    get,
    /** The first to begin comes first. */
    list: async <T extends Announced>(group: string): Promise<T[]> => {
      const all = [...recordsIn<T>(await redis.hgetall(keyOf(group)))];
      const old = all.filter(([, one]) => !isKept(one)).map(([id]) => id);
      if (old.length > 0) await redis.hdel(keyOf(group), ...old);
      return all.flatMap(([, one]) => (isKept(one) ? [one] : [])).toSorted((a, b) => a.since.localeCompare(b.since));
    },
    /** Of those of `ids` that are there and in force. */
    inForce: async <T extends Announced>(group: string, ids: readonly string[]): Promise<Map<string, T>> =>
      new Map([...(await get<T>(group, ids))].filter(([, one]) => isInForce(one))),
    isInForce,
    /** Counts one more, and gives how many there were of it within an hour. */
    count: async (subject: string): Promise<number> => {
      const key = `${prefix}:breaks:${subject}`;
      const [, counted] = await execute(redis.multi().set(key, 0, 'PX', HOUR_MS, 'NX').incr(key));
      return Number(counted);
    },
  };
};

export type AnnouncedStore = ReturnType<typeof createAnnouncedStore>;

/** Which of these take nothing now, by themselves or with their sender. */
export const brokenAmong = async (
  store: Pick<AnnouncedStore, 'inForce'>,
  destinations: readonly Destination[],
): Promise<(destination: Destination) => boolean> => {
  const ids = new Set(destinations.flatMap(({ id, kind }) => [id, senderId(kind)]));
  const broken = await store.inForce(GROUPS.broken, [...ids]);
  return ({ id, kind }) => broken.has(id) || broken.has(senderId(kind));
};
