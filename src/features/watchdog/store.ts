/** The troubles that were announced, over all daemons: each once, until it is over. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../../alert.ts';
import { type Condition, conditionKey } from '../../condition.ts';
import { execute } from '../../redis/pipeline.ts';

/** A trouble of the list, and whether others announce it: outages and blindness announce their own. */
export interface ListedTrouble extends Condition {
  isAnnounced: boolean;
}

/** What was announced together, until all of it is over. */
export interface AnnouncedTrouble extends Omit<Condition, 'announcedTo'> {
  /** Names the announcement: the same key is the same announcement. */
  announcement: string;
}

interface ChangesInput<Announced extends AnnouncedTrouble> {
  current: readonly ListedTrouble[];
  announced: readonly Announced[];
  /** For how long a trouble was seen at every look, and an announced one at none; in milliseconds. */
  seenForMs(key: string): number;
  goneForMs(key: string): number;
  /** What lasts for so long is news. */
  afterMs: number;
}

/** Beside one that is due, others need to last only half as long: what happens together is announced together. */
const TOGETHER = 0.5;

/** Which troubles are to be announced now, and which of the announced ones are over. */
export const changesOf = <Announced extends AnnouncedTrouble>(input: ChangesInput<Announced>) => {
  const { current, announced, seenForMs, goneForMs, afterMs } = input;
  const known = new Set(announced.map(conditionKey));
  const fresh = current.filter((one) => !one.isAnnounced && !known.has(conditionKey(one)));
  const seenFor = (ms: number) => fresh.filter((one) => seenForMs(conditionKey(one)) >= ms);
  const here = new Set(current.map(conditionKey));
  const gone = announced.filter((one) => !here.has(conditionKey(one)));
  const goneFor = (ms: number) => gone.filter((one) => goneForMs(conditionKey(one)) >= ms);
  return {
    begun: seenFor(afterMs).length === 0 ? [] : seenFor(afterMs * TOGETHER),
    ended: goneFor(afterMs).length === 0 ? [] : goneFor(afterMs * TOGETHER),
  };
};

export interface StoredTrouble extends AnnouncedTrouble {
  /** Who gets the announcement, and the one of its end. */
  announcedTo: Destination[];
  /** The announcement is durably queued. */
  isAnnounced: boolean;
}

/** As long as the ledger keeps alerts; what lasts longer is announced again. */
const KEEP_MS = 35 * 86_400_000;

export const createWatchdogStore = (redis: Redis | Cluster, prefix: string) => {
  const key = `${prefix}:watchdog`;
  return {
    list: async (): Promise<StoredTrouble[]> =>
      Object.values(await redis.hgetall(key))
        .map((json) => JSON.parse(json) as StoredTrouble)
        .toSorted((a, b) => (a.since ?? '').localeCompare(b.since ?? '')),
    set: async (troubles: readonly StoredTrouble[]): Promise<void> => {
      if (troubles.length === 0) return;
      const fields = troubles.flatMap((one) => [conditionKey(one), JSON.stringify(one)]);
      await execute(
        redis
          .pipeline()
          .hset(key, ...fields)
          .pexpire(key, KEEP_MS),
      );
    },
    remove: async (troubles: readonly StoredTrouble[]): Promise<void> => {
      if (troubles.length > 0) await redis.hdel(key, ...troubles.map(conditionKey));
    },
    /** This daemon is the one that calls in this interval. */
    takesHeartbeat: async (id: string, everyMs: number): Promise<boolean> =>
      (await redis.set(`${prefix}:heartbeat`, id, 'PX', everyMs, 'NX')) !== null,
  };
};

export type WatchdogStore = ReturnType<typeof createWatchdogStore>;
