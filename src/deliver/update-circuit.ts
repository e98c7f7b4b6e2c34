/** Stage: the circuits of the destination and its sender learn how the attempt went. */
import type { DestinationHealth } from './health.ts';
import type { AttemptStage } from './stage.ts';

export interface UpdateCircuitDependencies {
  health: Pick<DestinationHealth, 'worked' | 'failed'>;
  /** Takes known secrets out of what a provider said. */
  scrub(text: string): string;
  now(): number;
}

export const updateCircuit: AttemptStage<UpdateCircuitDependencies> = async (attempt, { health, scrub, now }) => {
  const { message, error, entry, decision } = attempt;
  if (error === undefined) {
    await health.worked(message.destination);
    return undefined;
  }
  const retryInMs = decision.kind === 'retry' ? decision.delayMs : 0;
  const said = error.said === undefined ? {} : { said: scrub(error.said) };
  const failure = { error, message: entry?.message ?? '', ...said, retryInMs };
  const pausedUntil = await health.failed(message.destination, message.alerts, failure);
  // The retry is a probe like any other: it need not wait longer than the others, unless the provider named a wait.
  if (decision.kind === 'retry' && pausedUntil !== undefined && error.retryAfterMs === undefined) {
    attempt.decision = { ...decision, delayMs: Math.min(decision.delayMs, Math.max(0, pausedUntil - now())) };
  }
  return undefined;
};
