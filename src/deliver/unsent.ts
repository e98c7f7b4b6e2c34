/** Deliveries that die without a try: nothing that is sent could change it. */
import type { Alert, Destination } from '../alert.ts';
import { messageOf } from '../errors.ts';
import { iso } from '../time.ts';
import { recordFailure, type UnsentDependencies } from './attempt-stages.ts';
import { type DeliverDependencies, DONE, type JobRun, type JobStage } from './stage.ts';

interface Unsent {
  destination: Destination;
  alerts: readonly Alert[];
  /** Tries so far. */
  attempt: number;
  reason: string;
  message: string;
}

/** Records and reports them like those that died by a try. */
export const endUnsent = async (
  { destination, alerts, attempt, reason, message }: Unsent,
  dependencies: UnsentDependencies,
): Promise<void> => {
  const at = iso(dependencies.now());
  const outcome = { outcome: 'dead', durationMs: 0, reason, message } as const;
  const dead = await recordFailure({ destination, alerts, attempt, entry: { at, ...outcome } }, dependencies);
  await dependencies.destinationStats.failed(destination, at, message);
  if (dead.length > 0)
    dependencies.onAttempt({ kind: destination.kind, destination, alerts: dead, attempt, isDigest: false, ...outcome });
};

/** Stage: deliveries to a destination that its receiver disabled die at once, before anything is sent. */
export const refuse: JobStage = async ({ job, alerts, disabled }, dependencies) => {
  if (disabled === undefined) return undefined;
  const { destination, attempt } = job;
  const message = `disabled since ${disabled.at}, when ${disabled.message}; tocsin destinations enable ${destination.id}`;
  if (alerts.length > 0) await endUnsent({ destination, alerts, attempt, reason: 'disabled', message }, dependencies);
  return DONE;
};

/**
 * Ends the alerts that no format could compose, after everything else of their job: a fault of ours, which a repeat would
 * only repeat. As dead letters they wait for a version that can.
 */
export const giveUp = async (
  { job: { destination, attempt }, uncomposable }: Pick<JobRun, 'job' | 'uncomposable'>,
  dependencies: DeliverDependencies,
): Promise<void> => {
  for (const { alerts, error } of uncomposable) {
    const message = `no message could be made of it, not even the plainest: ${dependencies.scrub(messageOf(error))}`;
    await endUnsent({ destination, alerts, attempt, reason: 'uncomposable', message }, dependencies);
  }
};
