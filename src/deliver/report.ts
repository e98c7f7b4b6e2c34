/** Stage: one event for each attempt, for the log and the metrics. */
import type { Alert, ChannelKind, Destination } from '../alert.ts';
import type { Attempt } from '../ledger/record.ts';
import type { AttemptStage } from './stage.ts';

/** Everything that an operator asks about an attempt. */
export interface AttemptEvent extends Omit<Attempt, 'at' | 'replay'> {
  kind: ChannelKind;
  destination: Destination;
  alerts: readonly Alert[];
  attempt: number;
  /** The message told many alerts. */
  isDigest: boolean;
  /** Absent where it is not tried again. */
  retryInMs?: number;
}

export interface ReportDependencies {
  onAttempt(event: AttemptEvent): void;
}

/**
 * Only the last part of a message in several parts is reported. A last try by which nothing is dead, because another run
 * of the job delivered all of it, is only in the ledger.
 */
export const report: AttemptStage<ReportDependencies> = (run, { onAttempt }) => {
  const { message, attempt, entry, decision, dead } = run;
  if (entry === undefined || dead?.length === 0) return undefined;
  const { at: _at, replay: _replay, ...event } = entry;
  const { destination, isDigest } = message;
  const alerts = dead ?? message.alerts;
  const retryInMs = decision.kind === 'retry' ? { retryInMs: decision.delayMs } : {};
  onAttempt({ ...event, kind: destination.kind, destination, alerts, attempt, isDigest, ...retryInMs });
  return undefined;
};
