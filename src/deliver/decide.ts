/** Stage: what becomes of the message, by the channel's answer and the retry policy. */
import type { Receipt } from '../channels/channel.ts';
import type { DeliveryError } from '../errors.ts';
import { decisionOf } from '../queue/retry.ts';
import type { AttemptResult, AttemptRun, AttemptStage } from './stage.ts';

export interface DecideDependencies {
  /** `retry.maxAge`: milliseconds after the first try at which a delivery is given up. */
  maxAgeMs: number;
  now(): number;
  /** 0 up to, not including, 1. */
  random(): number;
}

const success = (receipt: Receipt): AttemptResult =>
  receipt.progress === undefined
    ? { kind: 'delivered', receipt, isRepeat: false }
    : { kind: 'partial', progress: receipt.progress };

const failure = (
  { attempt, firstTriedAt, unknownSince, canBePlainer }: AttemptRun,
  error: DeliveryError,
  { maxAgeMs, now, random }: DecideDependencies,
): AttemptResult => {
  const since = unknownSince ?? now();
  const decision = decisionOf({
    error,
    attempt,
    ageMs: now() - firstTriedAt,
    unknownForMs: now() - since,
    maxAgeMs,
    random: random(),
  });
  if (decision.kind === 'plainer' && !canBePlainer) return { kind: 'dead' };
  return decision.kind === 'retry' && error.reason === 'unknown' ? { ...decision, unknownSince: since } : decision;
};

export const decide: AttemptStage<DecideDependencies> = (attempt, dependencies) => {
  if (attempt.receipt) attempt.decision = success(attempt.receipt);
  if (attempt.error) attempt.decision = failure(attempt, attempt.error, dependencies);
  return undefined;
};
