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

/** `now` gives epoch milliseconds. */
export const createBackoffStore = (redis: Redis | Cluster, prefix: string, now: () => number): BackoffStore => {
  const keyOf = (service: string): string => `${prefix}:hold:${service}`;
  const leftMs = async (service: string): Promise<number> =>
    Math.max(0, Number((await redis.get(keyOf(service))) ?? 0) - now());
  return {
    note: async (service, waitMs) => {
      if ((await leftMs(service)) >= waitMs) return;
      await redis.set(keyOf(service), Math.ceil(now() + waitMs), 'PX', Math.ceil(waitMs + SLACK_MS));
    },
    leftMs,
  };
};
