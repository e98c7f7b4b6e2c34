/** Runs a pipeline or transaction. */
import type { ChainableCommander } from 'ioredis';

/** Gives the answers in order. A pipeline resolves even where a command failed: the first failure is thrown. */
export const execute = async (batch: ChainableCommander): Promise<unknown[]> =>
  ((await batch.exec()) ?? []).map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });
