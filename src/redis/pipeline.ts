/** Many commands in one trip: pipelines, and writes of several callers that become one. */

import { setTimeout } from 'node:timers/promises';
import type { ChainableCommander } from 'ioredis';

// Runs a pipeline or transaction.

/** Gives the answers in order. A pipeline resolves even where a command failed: the first failure is thrown. */
export const execute = async (batch: ChainableCommander): Promise<unknown[]> =>
  ((await batch.exec()) ?? []).map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });

// Group commit: what is asked for while a write is on its way waits, and is then written together, in order, by one.

interface Waiting<T, R> {
  one: T;
  resolve(result: R): void;
  reject(error: unknown): void;
}

/**
 * `write`: gives a result for each, in their order. What comes within `gatherMs` of the first is written together, too. So
 * fifty jobs that end at about the same time cost a few commands, and each knows when its own are durable.
 */
export const createGroupCommit = <T, R>(write: (all: readonly T[]) => Promise<readonly R[]>, gatherMs: number) => {
  let waiting: Waiting<T, R>[] = [];
  let isWriting = false;

  const writeGroup = async (group: readonly Waiting<T, R>[]): Promise<void> => {
    try {
      const results = await write(group.map(({ one }) => one));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as R);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };

  const drain = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0) {
      await setTimeout(gatherMs);
      const group = waiting;
      waiting = [];
      await writeGroup(group);
    }
    isWriting = false;
  };

  return (one: T): Promise<R> => {
    const { promise, resolve, reject } = Promise.withResolvers<R>();
    waiting.push({ one, resolve, reject });
    if (!isWriting) void drain();
    return promise;
  };
};
