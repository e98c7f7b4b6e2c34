/** Waits that a service named. They are in Redis, so they hold for every daemon, also after a restart. */
import type { Cluster, Redis } from 'ioredis';

export interface BackoffStore {
  /** The service must not be asked for this many milliseconds from now. */
  note(service: string, waitMs: number): Promise<void>;
  /** Milliseconds until it may be asked again; 0: now. */
  leftMs(service: string): Promise<number>;
}

/** Redis forgets a wait a little after its end, as clocks differ. */
const SLACK_MS = 60_000;

interface Seen {
  until: number;
  at: number;
}

/** `now` gives epoch milliseconds. A wait moves with this daemon's clock where that is set back. */
export const createBackoffStore = (redis: Redis | Cluster, prefix: string, now: () => number): BackoffStore => {
  const keyOf = (service: string): string => `${prefix}:hold:${service}`;
  /** The wait of each service as it was seen last: the same wait, seen at an earlier time, is longer by that. */
  const last = new Map<string, Seen>();

  const set = async (service: string, waitMs: number): Promise<void> => {
    await redis.set(keyOf(service), Math.ceil(now() + waitMs), 'PX', Math.ceil(waitMs + SLACK_MS));
  };

  const leftMs = async (service: string): Promise<number> => {
    const until = Number((await redis.get(keyOf(service))) ?? 0);
    const at = now();
    const before = last.get(service);
    last.set(service, { until, at });
    if (until <= at || before?.until !== until || before.at <= at) return Math.max(0, until - at);
    const waitMs = Math.max(0, until - before.at);
    await set(service, waitMs);
    return waitMs;
  };
  return {
    note: async (service, waitMs) => {
      if ((await leftMs(service)) < waitMs) await set(service, waitMs);
    },
    leftMs,
  };
};

/**
 * So old a wait may be: a poll that finds nothing new asks Redis nothing. A daemon that does not know of it yet is told by
 * the service itself.
 */
const FRESH_MS = 5000;

/** Asks Redis once in a while, however many polls ask. `elapsed`: milliseconds by a clock that nobody sets. */
export const rememberWaits = (store: BackoffStore, elapsed: () => number): BackoffStore => {
  const asked = new Map<string, { at: number; leftMs: Promise<number> }>();
  return {
    note: async (service, waitMs) => {
      asked.delete(service);
      await store.note(service, waitMs);
    },
    leftMs: async (service) => {
      const before = asked.get(service);
      const isFresh = before !== undefined && elapsed() - before.at < FRESH_MS;
      const now = isFresh ? before : { at: elapsed(), leftMs: store.leftMs(service) };
      asked.set(service, now);
      now.leftMs.catch(() => asked.delete(service));
      return Math.max(0, (await now.leftMs) - (elapsed() - now.at));
    },
  };
};
