/** Many commands in one trip: pipelines, and writes of several callers that become one. */
import { setTimeout } from 'node:timers/promises';
import type { ChainableCommander, Cluster, Redis } from 'ioredis';

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
