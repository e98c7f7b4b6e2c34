/** Many commands in one trip: pipelines, and questions and writes of several callers that become one. */
import { setTimeout } from 'node:timers/promises';
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import { createBoundedMap } from '../bounded-map.ts';

/** Gives the answers in order. A pipeline resolves even where a command failed: the first failure is thrown. */
export const execute = async (batch: ChainableCommander): Promise<unknown[]> =>
  ((await batch.exec()) ?? []).map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });

/** Commands for each entry, in one trip; gives the answers in order. */
export const askEach = <T>(
  redis: Redis | Cluster,
  all: Iterable<T>,
  ask: (batch: ChainableCommander, one: T) => unknown,
): Promise<unknown[]> => {
  const batch = redis.pipeline();
  for (const one of all) ask(batch, one);
  return execute(batch);
};

/** JSON in the fields of a hash whose names start with `beginning`, by the rest of the name. */
export const recordsIn = <T>(fields: Readonly<Record<string, string>>, beginning = ''): Map<string, T> =>
  new Map(
    Object.entries(fields).flatMap(([field, json]) =>
      field.startsWith(beginning) ? [[field.slice(beginning.length), JSON.parse(json) as T]] : [],
    ),
  );

/** Keys that were there are asked for one by one, as they are mostly there for longer: for so many milliseconds. */
const FOUND_MS = 60_000;
const MOST_FOUND = 5000;
const found = createBoundedMap<string, number>(MOST_FOUND);

/** Keys that are asked for in the same moment, and those of them that are there. */
const asked = new WeakMap<Redis | Cluster, { keys: string[]; there: Promise<ReadonlySet<string>> }>();

const askTogether = (redis: Redis | Cluster, keys: readonly string[]): Promise<ReadonlySet<string>> => {
  const known = asked.get(redis);
  known?.keys.push(...keys);
  if (known) return known.there;
  const all = [...keys];
  const there = Promise.resolve().then(async () => {
    asked.delete(redis);
    if ((await redis.exists(...all)) === 0) return new Set<string>();
    const each = await askEach(redis, all, (batch, key) => batch.exists(key));
    const present = all.filter((_, index) => each[index] === 1);
    for (const key of present) found.set(key, performance.now() + FOUND_MS);
    return new Set(present);
  });
  asked.set(redis, { keys: all, there });
  return there;
};

/**
 * False where none of these keys exists; true where one of them does, or did lately. For what is hardly ever there: one command
 * for all that is asked in the same moment, by whomever.
 */
export const mayExist = async (redis: Redis | Cluster, ...keys: readonly string[]): Promise<boolean> => {
  if (keys.some((key) => performance.now() < (found.get(key) ?? 0))) return true;
  const there = await askTogether(redis, keys);
  return keys.some((key) => there.has(key));
};

/** Whether one of these keys exists now; for what is hardly ever there, as `mayExist`. */
export const exists = async (redis: Redis | Cluster, ...keys: readonly string[]): Promise<boolean> =>
  (await mayExist(redis, ...keys)) && (await redis.exists(...keys)) > 0;

interface Waiting<T, R> {
  one: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * What is asked for with a key while a write with it is on its way waits, and is then written together, in order, by one
 * write; what comes within `gatherMs` of the first, too. So fifty jobs that end at about the same time cost a few commands,
 * and each knows when its own are durable. `write` gives a result for each, in their order.
 */
export const createGroupCommit = <T, R>(
  write: (all: readonly T[], key: string) => Promise<readonly R[]>,
  gatherMs = 0,
) => {
  const byKey = new Map<string, Waiting<T, R>[]>();

  const drain = async (key: string, waiting: Waiting<T, R>[]): Promise<void> => {
    while (waiting.length > 0) {
      if (gatherMs > 0) await setTimeout(gatherMs);
      const group = waiting.splice(0);
      try {
        const all = group.map(({ one }) => one);
        const results = await write(all, key);
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    byKey.delete(key);
  };

  return {
    /** Something with this key is on its way. */
    isBusy: (key: string): boolean => byKey.has(key),
    commit: (one: T, key = ''): Promise<R> => {
      const { promise, resolve, reject } = Promise.withResolvers<R>();
      const known = byKey.get(key);
      const waiting = known ?? [];
      waiting.push({ one, resolve, reject });
      if (!known) {
        byKey.set(key, waiting);
        void drain(key, waiting);
      }
      return promise;
    },
  };
};
