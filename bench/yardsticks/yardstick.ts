/** The yardsticks in a process of their own, so that their CPU time and memory are measured like the daemon's. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { memoryOf } from '../stage/process.ts';
import type { Spent } from './watch.ts';

/**
 * `floor`: alerts as jobs of ten through BullMQ, one signed POST each. `jobs`: one by one, without a POST.
 * `get`: the same page again and again, so many
 * requests at once. `post`: signed POSTs, so many a second.
 */
export type YardstickOrder =
  | { kind: 'floor'; redisUrl: string; url: string; from: number; count: number; bytes?: number | undefined }
  | { kind: 'jobs'; redisUrl: string; perSecond: number; seconds: number }
  | { kind: 'get'; url: string; count: number; concurrency: number }
  | { kind: 'post'; url: string; perSecond: number; seconds: number };

export interface Yardstick {
  memory(): number;
  run(order: YardstickOrder): Promise<Spent>;
  stop(): Promise<void>;
}

export const startYardstick = async (): Promise<Yardstick> => {
  const child = fork(new URL('./process.ts', import.meta.url));
  const ended = once(child, 'exit');
  const next = async (): Promise<unknown> => {
    const [message] = await Promise.race([once(child, 'message'), ended.then(() => [undefined])]);
    if (message === undefined) throw new Error("the yardstick's process ended");
    return message;
  };
  await next();
  const pid = child.pid ?? 0;
  return {
    memory: () => memoryOf(pid),
    run: async (order) => {
      child.send(order);
      return (await next()) as Spent;
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
};
