/** The habits of a service's protocols, over all daemons. What is announced: `features/blindness/store.ts`, as `silent`. */
import type { Cluster, Redis } from 'ioredis';
import type { Probed } from './probe.ts';

export type KnownHabit = Pick<Probed, 'habit' | 'behind'>;

export interface HabitStore {
  /** In the order of `protocols`; undefined for those that are not known yet. */
  read(service: string, protocols: readonly string[]): Promise<(KnownHabit | undefined)[]>;
  write(service: string, habits: ReadonlyMap<string, KnownHabit>): Promise<void>;
  /** Forgets all but these. */
  retain(service: string, protocols: ReadonlySet<string>): Promise<void>;
}

/** Twice what a habit remembers: what is older teaches nothing. */
const KEEP_MS = 28 * 86_400_000;

export const createHabitStore = (redis: Redis | Cluster, prefix: string): HabitStore => {
  const keyOf = (service: string): string => `${prefix}:habits:${service}`;
  return {
    read: async (service, protocols) => {
      if (protocols.length === 0) return [];
      const found = await redis.hmget(keyOf(service), ...protocols);
      return found.map((json) => (json === null ? undefined : (JSON.parse(json) as KnownHabit)));
    },
    write: async (service, habits) => {
      if (habits.size === 0) return;
      const fields = [...habits].flatMap(([protocol, habit]) => [protocol, JSON.stringify(habit)]);
      await redis
        .multi()
        .hset(keyOf(service), ...fields)
        .pexpire(keyOf(service), KEEP_MS)
        .exec();
    },
    retain: async (service, protocols) => {
      const gone = (await redis.hkeys(keyOf(service))).filter((name) => !protocols.has(name));
      if (gone.length > 0) await redis.hdel(keyOf(service), ...gone);
    },
  };
};
