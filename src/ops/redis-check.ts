/** Whether Redis answers, known within seconds: this daemon's beats ask it every second. */
import { messageOf } from '../errors.ts';
import type { Health } from './health.ts';

export interface RedisCheckDependencies {
  health: Pick<Health, 'prove' | 'fail'>;
  /** Milliseconds by a clock that nobody sets. Default: the process' own. */
  elapsed?(): number;
}

const CHECK = 'redis';
/** Longer than a quick restart of Redis takes, or a beat on a busy machine. */
const SILENT_MS = 3000;

export const createRedisCheck = ({ health, elapsed = () => performance.now() }: RedisCheckDependencies) => {
  let answeredAt = elapsed();
  let lookedAt = elapsed();
  let why: string | undefined;
  return {
    answered: (): void => {
      answeredAt = elapsed();
      why = undefined;
      health.prove(CHECK);
    },
    /** A beat failed; whether Redis fails for good, the next seconds show. */
    refused: (error: unknown): void => {
      why = `Redis does not take our commands: ${messageOf(error)}`;
    },
    /** To be called every second. */
    look: (): void => {
      const pausedMs = elapsed() - lookedAt;
      lookedAt = elapsed();
      // The event loop was blocked, or the machine slept: nobody could have heard an answer.
      if (pausedMs > SILENT_MS) answeredAt = elapsed();
      if (elapsed() - answeredAt > SILENT_MS) health.fail(CHECK, why ?? 'Redis does not answer');
    },
  };
};

export type RedisCheck = ReturnType<typeof createRedisCheck>;
