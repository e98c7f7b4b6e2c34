/** Stops what was started, in reverse order: each step is named and bounded in time, each failure logged and survived. */
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';

export interface Lifecycle {
  /** Registers how to stop what was just started. After the stop it is stopped at once. */
  onStop(name: string, stop: () => Promise<void> | void): void;
  /**
   * Stops everything, last first; the same promise however often it is called. True when all stopped in time. `boundMs`: of
   * each step, where it is not the usual one.
   */
  stop(boundMs?: number): Promise<boolean>;
}

const within = async (work: Promise<void>, ms: number): Promise<'done' | 'late'> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late');
  });
  return Promise.race([work.then(() => 'done' as const), late]).finally(() => clearTimeout(timer));
};

/** `stepMs` bounds each step: closing waits for Redis and receivers, which may both be gone. */
export const createLifecycle = (log: Pick<Logger, 'warn'>, stepMs: number): Lifecycle => {
  const steps: { name: string; stop: () => Promise<void> | void }[] = [];
  let stopping: Promise<boolean> | undefined;

  const undo = async (name: string, stop: () => Promise<void> | void, boundMs: number): Promise<boolean> => {
    try {
      if ((await within(Promise.resolve(stop()), boundMs)) === 'done') return true;
      log.warn({ step: name, boundMs }, 'stopping took too long; going on');
    } catch (error) {
      log.warn({ step: name, err: error, message: messageOf(error) }, 'stopping failed; going on');
    }
    return false;
  };

  const stopAll = async (boundMs: number): Promise<boolean> => {
    let clean = true;
    for (const { name, stop } of steps.toReversed()) clean = (await undo(name, stop, boundMs)) && clean;
    return clean;
  };

  return {
    onStop: (name, stop) => {
      if (stopping === undefined) steps.push({ name, stop });
      else void undo(name, stop, stepMs);
    },
    stop: (boundMs = stepMs) => {
      stopping ??= stopAll(boundMs);
      return stopping;
    },
  };
};
