/**
 * The locks of the jobs that a worker runs. A run has to know by itself when it may have lost its lock, as after the process
 * stood still: then another run has the job, and sends what this one has not sent yet. BullMQ's own renewal says so later,
 * and stops renewing the second run of a job when the first one ends.
 */

import { setImmediate } from 'node:timers/promises';

/** Jobs of a killed daemon start again after this where nobody noticed that it is gone. */
export const LOCK_MS = 10_000;
const RENEW_EVERY_MS = 4000;

interface Run {
  id: string;
  token: string;
  /** By the monotonic clock; Redis keeps the lock until then at least. */
  heldUntil: number;
  isLost: boolean;
  ended: Promise<void>;
}

interface JobLocksDependencies {
  /** Keeps locks for `LOCK_MS` more; gives the jobs whose locks are lost. */
  extend(jobs: string[], tokens: string[]): Promise<readonly string[]>;
  /** Also hears of a lock that was lost. */
  onError(error: Error): void;
  /** Default: the process' own. */
  monotonic?(): number;
}

/** Asks Redis only where the lock was not renewed in time. */
export type HoldsLock = () => boolean | Promise<boolean>;

export const createJobLocks = (dependencies: JobLocksDependencies) => {
  const { extend, onError, monotonic = () => performance.now() } = dependencies;
  /** The latest run of each job. */
  const runs = new Map<string, Run>();
  let timer: NodeJS.Timeout | undefined;
  let isRenewing = false;

  const renew = async (some: readonly Run[]): Promise<void> => {
    const sentAt = monotonic();
    const jobs = some.map(({ id }) => id);
    const tokens = some.map(({ token }) => token);
    const lost = await extend(jobs, tokens);
    // A job that went back into the queue meanwhile ends its run in this turn of the event loop.
    await setImmediate();
    for (const run of some) {
      run.heldUntil = sentAt + LOCK_MS;
      // A run that ended meanwhile has given its lock back.
      if (run.isLost || runs.get(run.id) !== run || !lost.includes(run.id)) continue;
      run.isLost = true;
      onError(new Error(`the lock of job ${run.id} is lost`));
    }
  };

  const renewAll = async (): Promise<void> => {
    // Without Redis a renewal waits for it.
    if (isRenewing) return;
    isRenewing = true;
    await renew([...runs.values()].filter(({ isLost }) => !isLost)).catch(onError);
    isRenewing = false;
  };

  const holdsLock = (run: Run): boolean | Promise<boolean> =>
    run.isLost || monotonic() < run.heldUntil ? !run.isLost : renew([run]).then(() => !run.isLost);

  /**
   * Runs a job whose lock was taken `agoMs` ago. Where this process still runs it without the lock, that run ends first: what
   * it has on its way is recorded then.
   */
  return async (
    { id, token, agoMs }: { id: string; token: string; agoMs: number },
    work: (holdsLock: HoldsLock) => Promise<void>,
  ): Promise<void> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const before = runs.get(id);
    if (before) before.isLost = true;
    const run = { id, token, heldUntil: monotonic() - agoMs + LOCK_MS, isLost: false, ended };
    runs.set(id, run);
    timer ??= setInterval(renewAll, RENEW_EVERY_MS);
    try {
      await before?.ended;
      await work(() => holdsLock(run));
    } finally {
      if (runs.get(id) === run) runs.delete(id);
      if (runs.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
      end();
    }
  };
};
