/** What was announced as unread or silent, over all daemons: each once, until that is over. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../../alert.ts';

/** The unread protocols of one announcement. */
export interface Blindness {
  /** Names the announcement: the same key is the same announcement. */
  key: string;
  /** ISO 8601. */
  since: string;
  /** The service as a whole; `protocols` is empty then. */
  isWhole: boolean;
  /** Those of the announcement that are not read yet. */
  protocols: string[];
  /** Why, in a sentence without secrets, where that is known. */
  reason?: string | undefined;
  /** Who gets the announcement, and the one of its end. */
  announcedTo: Destination[];
  /** The announcement is durably queued. */
  isAnnounced: boolean;
}

/** As long as the ledger keeps alerts; what is unread for longer is announced again. */
const KEEP_MS = 35 * 86_400_000;

/** `what`: of protocols that are not read, or of those that are, and of which nothing is inspected. */
export const createBlindnessStore = (redis: Redis | Cluster, prefix: string, what: 'unread' | 'silent' = 'unread') => {
  const keyOf = (service: string): string => `${prefix}:${what}:${service}`;
  return {
    list: async (service: string): Promise<Blindness[]> =>
      Object.values(await redis.hgetall(keyOf(service)))
        .map((json) => JSON.parse(json) as Blindness)
        .toSorted((a, b) => a.since.localeCompare(b.since)),
    set: async (service: string, blindness: Blindness): Promise<void> => {
      await redis
        .multi()
        .hset(keyOf(service), blindness.key, JSON.stringify(blindness))
        .pexpire(keyOf(service), KEEP_MS)
        .exec();
    },
    remove: async (service: string, key: string): Promise<void> => {
      await redis.hdel(keyOf(service), key);
    },
  };
};

export type BlindnessStore = ReturnType<typeof createBlindnessStore>;
