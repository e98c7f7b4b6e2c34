/** Distinguishes a refused key from a refused protocol by one cheap question that is about the key alone. */
import { ServiceError } from '../errors.ts';
import type { FailureDetector } from './failure-detector.ts';

export interface KeyCheckDependencies {
  detector: Pick<FailureDetector, 'worked' | 'refused' | 'trouble'>;
  /** The question. Throws `ServiceError`. */
  probe(signal: AbortSignal): Promise<void>;
  /** Called once when the key is refused, whatever is asked for. */
  onRefused(error: ServiceError): void;
  /** An answer counts for this many milliseconds. */
  everyMs: number;
  now(): number;
}

/** What is asked for, to the failure detector. */
const KEY = 'key';

export const isUnauthorized = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.reason === 'unauthorized';

/** Gives whether the key is good, as far as is known. One question at a time. */
export const createKeyCheck = ({ detector, probe, onRefused, everyMs, now }: KeyCheckDependencies) => {
  let goodUntil = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | undefined;

  const ask = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await probe(signal);
      goodUntil = now() + everyMs;
      detector.worked(KEY);
    } catch (error) {
      if (isUnauthorized(error)) {
        if (detector.refused()) onRefused(error);
        return false;
      }
    }
    return detector.trouble()?.kind !== 'refused';
  };

  return async (signal: AbortSignal): Promise<boolean> => {
    if (now() < goodUntil) return true;
    asking ??= ask(signal).finally(() => {
      asking = undefined;
    });
    return asking;
  };
};
