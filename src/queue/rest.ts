/** Lets a worker rest while Redis refuses its commands: no memory, read-only, still loading. BullMQ asks again at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'bullmq';

/** Short: alerts wait as long when Redis is well again. */
const REST_MS = 1000;

export type Rest = (ms: number, signal: AbortSignal) => Promise<void>;

const restFor: Rest = (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {});

/** An answer of Redis itself; a lost connection is waited for by BullMQ. */
const isRefusal = ({ name }: Error): boolean => name === 'ReplyError';

/** Jobs that run may end meanwhile; none is taken. So a worker asks once in each rest. */
export const restWhenRefused = (worker: Worker, rest = restFor): void => {
  const closing = new AbortController();
  worker.on('closing', () => closing.abort());
  let isResting = false;
  worker.on('error', async (error) => {
    if (isResting || closing.signal.aborted || !isRefusal(error)) return;
    isResting = true;
    await worker.pause(true);
    await rest(REST_MS, closing.signal);
    isResting = false;
    if (!closing.signal.aborted) await worker.resume();
  });
};
