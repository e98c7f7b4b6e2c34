/** Deliveries that die without a try: nothing that is sent could change it. */
import type { Alert, Destination } from '../alert.ts';
import { iso } from '../time.ts';
import { type RecordFailureDependencies, recordFailure } from './record.ts';
import type { ReportDependencies } from './report.ts';

export interface UnsentDependencies extends RecordFailureDependencies, Pick<ReportDependencies, 'onAttempt'> {
  now(): number;
}

export interface Unsent {
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
