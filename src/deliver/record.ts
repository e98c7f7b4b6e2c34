/** Stage: writes an attempt down: ledger, dead letters, statistics, and whether the receiver disabled its destination. */
import { type Alert, type Destination, isSample } from '../alert.ts';
import type { Receipt } from '../channels/channel.ts';
import type { DeliveryError } from '../errors.ts';
import type { DeadLetters } from '../ledger/dead-letters.ts';
import type { DestinationStats } from '../ledger/destination-stats.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Attempt } from '../ledger/record.ts';
import type { GivenUp } from '../queue/retry.ts';
import { durationText, iso } from '../time.ts';
import type { AttemptRun, AttemptStage } from './stage.ts';

export interface RecordFailureDependencies {
  ledger: Pick<Ledger, 'recordAttempt'>;
  deadLetters: Pick<DeadLetters, 'add'>;
  destinationStats: Pick<DestinationStats, 'failed'>;
  /** Deliveries are dead, for this reason; called before the ledger is written. Default: nothing. */
  onDead?(destination: Destination, alerts: readonly Alert[], why: string): Promise<void>;
}

export interface RecordDependencies extends RecordFailureDependencies {
  destinationStats: Pick<DestinationStats, 'succeeded' | 'failed'>;
  /** The receiver disabled this destination. Default: nothing. */
  onDisabled?(destination: Destination, at: string, message: string): Promise<void>;
  /** Takes known secrets out of what a provider said. */
  scrub(text: string): string;
  now(): number;
}

interface Failure {
  destination: Destination;
  alerts: readonly Alert[];
  attempt: number;
  entry: Attempt & { message: string };
}

/** Writes dead letters first and the ledger last, so that a crash in between repeats both. */
export const recordFailure = async (
  { destination, alerts, attempt: attempts, entry }: Failure,
  { ledger, deadLetters, onDead }: RecordFailureDependencies,
): Promise<void> => {
  const { at, outcome, reason = 'unknown', message } = entry;
  const isDead = outcome === 'dead';
  if (isDead) {
    for (const alert of alerts) await deadLetters.add({ alert, destination, reason, message, attempts, at });
    await onDead?.(destination, alerts, message);
  }
  await ledger.recordAttempt(destination, alerts, { state: isDead ? 'dead' : 'waiting', attempt: entry });
};

/** History that is replayed shows as such in the ledger. */
const mark = (alerts: readonly Alert[]): { replay?: true } =>
  alerts.some(({ replay }) => replay) ? { replay: true } : {};

/** The last answer did not end the delivery: time did. */
const givenUpText = ({ by, afterMs }: GivenUp): string =>
  `given up after ${durationText(afterMs)} ${by === 'max-age' ? '(retry.maxAge)' : 'of undocumented answers'}: `;

const recordDelivered = async (
  run: AttemptRun,
  receipt: Receipt,
  { ledger, destinationStats, now }: RecordDependencies,
): Promise<void> => {
  const { destination, alerts } = run.message;
  const at = iso(now());
  const { handle: _handle, progress: _progress, ...provided } = receipt;
  const entry: Attempt = { at, outcome: 'delivered', durationMs: run.durationMs, ...provided, ...mark(alerts) };
  run.entry = entry;
  const isRepeat = await ledger.recordAttempt(destination, alerts, { state: 'delivered', attempt: entry, ...receipt });
  if (run.decision.kind === 'delivered') run.decision = { ...run.decision, isRepeat };
  await destinationStats.succeeded(destination, alerts.length, at);
};

const entryOf = (
  { durationMs, decision, message: { alerts } }: AttemptRun,
  { reason, code, message, maybeDelivered }: DeliveryError,
  { scrub, now }: RecordDependencies,
): Failure['entry'] => ({
  at: iso(now()),
  outcome: decision.kind === 'dead' ? 'dead' : 'retrying',
  durationMs,
  reason,
  code: scrub(code),
  message: `${decision.kind === 'dead' && decision.givenUp ? givenUpText(decision.givenUp) : ''}${scrub(message)}`,
  ...(maybeDelivered ? { maybeDelivered } : {}),
  ...mark(alerts),
});

const recordError = async (run: AttemptRun, error: DeliveryError, dependencies: RecordDependencies): Promise<void> => {
  const { destination, alerts } = run.message;
  const entry = entryOf(run, error, dependencies);
  run.entry = entry;
  await recordFailure({ destination, alerts, attempt: run.attempt, entry }, dependencies);
  // A sample's failure is reported to whoever sent it, and its address may be a made-up one.
  if (!alerts.every(isSample)) {
    const dead = entry.outcome === 'dead' ? alerts.length : 0;
    await dependencies.destinationStats.failed(destination, dead, entry.at, entry.message);
  }
  if (error.disables) await dependencies.onDisabled?.(destination, entry.at, entry.message);
};

/** An error of the stores is no failure of the receiver: it is thrown. */
export const record: AttemptStage<RecordDependencies> = async (run, dependencies) => {
  if (run.decision.kind === 'delivered') await recordDelivered(run, run.decision.receipt, dependencies);
  if (run.error) await recordError(run, run.error, dependencies);
  return undefined;
};
