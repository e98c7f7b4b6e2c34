/** Stage: the circuits of the destination and its sender learn how the attempt went. */
import type { DestinationHealth } from './health.ts';
import type { AttemptStage } from './stage.ts';

export interface UpdateCircuitDependencies {
  health: Pick<DestinationHealth, 'worked' | 'failed'>;
  now(): number;
}

export const updateCircuit: AttemptStage<UpdateCircuitDependencies> = async (attempt, { health, now }) => {
  const { message, error, entry, decision } = attempt;
  if (error === undefined) {
    await health.worked(message.destination);
    return undefined;
  }
  const retryInMs = decision.kind === 'retry' ? decision.delayMs : 0;
  const failure = { error, message: entry?.message ?? '', retryInMs };
  const pausedUntil = await health.failed(message.destination, message.alerts, failure);
  // The retry is a probe like any other: it need not wait longer than the others, unless the provider named a wait.
  if (decision.kind === 'retry' && pausedUntil !== undefined && error.retryAfterMs === undefined) {
    attempt.decision = { ...decision, delayMs: Math.min(decision.delayMs, Math.max(0, pausedUntil - now())) };
  }
  return undefined;
};
