/** Stops what was started, in reverse order: each step is named and bounded in time, each failure logged and survived. */
import type { Logger } from 'pino';
import { messageOf } from '../errors.ts';
import { endedWithin } from '../waiting.ts';

type Stop = () => Promise<void> | void;

export type Lifecycle = ReturnType<typeof createLifecycle>;

/** `stepMs` bounds each step: closing waits for Redis and receivers, which may both be gone. */
export const createLifecycle = (log: Pick<Logger, 'warn'>, stepMs: number) => {
  const steps: { name: string; stop: Stop }[] = [];
  let stopping: Promise<boolean> | undefined;

  const undo = async (name: string, stop: Stop, boundMs: number): Promise<boolean> => {
    try {
      if (await endedWithin(Promise.resolve(stop()), boundMs)) return true;
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
    /** Registers how to stop what was just started. After the stop it is stopped at once. */
    onStop: (name: string, stop: Stop): void => {
      if (stopping === undefined) steps.push({ name, stop });
      else void undo(name, stop, stepMs);
    },
    /** The same promise however often it is called: true when all stopped in time. `boundMs`: of each step. */
    stop: (boundMs = stepMs): Promise<boolean> => {
      stopping ??= stopAll(boundMs);
      return stopping;
    },
  };
};
