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
  /** Absent where it is not tried again. */
  retryInMs?: number;
}

export interface ReportDependencies {
  onAttempt(event: AttemptEvent): void;
}

/** Only the last part of a message in several parts is reported. */
export const report: AttemptStage<ReportDependencies> = ({ message, attempt, entry, decision }, { onAttempt }) => {
  if (entry === undefined) return undefined;
  const { at: _at, replay: _replay, ...event } = entry;
  const { destination, alerts } = message;
  const retryInMs = decision.kind === 'retry' ? { retryInMs: decision.delayMs } : {};
  onAttempt({ ...event, kind: destination.kind, destination, alerts, attempt, ...retryInMs });
  return undefined;
};
