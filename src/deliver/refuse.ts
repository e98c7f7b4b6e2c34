/** Stage: deliveries to a destination that its receiver disabled die at once, before anything is sent. */
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { iso } from '../time.ts';
import type { Disabled } from './disabled.ts';
import { type RecordFailureDependencies, recordFailure } from './record.ts';
import type { ReportDependencies } from './report.ts';
import { DONE, type JobStage } from './stage.ts';

export interface RefuseDependencies extends RecordFailureDependencies, Pick<ReportDependencies, 'onAttempt'> {
  /** Left out: a receiver of this kind cannot disable its destination. */
  disabled?: Pick<Disabled, 'find'>;
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  now(): number;
}

const end = async (
  destination: Destination,
  alerts: readonly Alert[],
  attempt: number,
  message: string,
  dependencies: RefuseDependencies,
): Promise<void> => {
  const at = iso(dependencies.now());
  const outcome = { outcome: 'dead', durationMs: 0, reason: 'disabled', message } as const;
  const dead = await recordFailure({ destination, alerts, attempt, entry: { at, ...outcome } }, dependencies);
  await dependencies.destinationStats.failed(destination, at, message);
  if (dead.length > 0)
    dependencies.onAttempt({ kind: destination.kind, destination, alerts: dead, attempt, ...outcome });
};

export const refuse: JobStage<RefuseDependencies> = async ({ job }, dependencies) => {
  const { destination, attempt } = job;
  const found = await dependencies.disabled?.find(destination.id);
  if (found === undefined) return undefined;
  const alerts = await dependencies.ledger.pending(destination, job.alerts);
  const why = `disabled since ${found.at}, when ${found.message}; tocsin destinations enable ${destination.id}`;
  if (alerts.length > 0) await end(destination, alerts, attempt, why, dependencies);
  return DONE;
};
