/** Stage: writes an attempt down: ledger, dead letters, statistics, and whether the receiver disabled its destination. */
import { type Alert, type Destination, hasTravelled, isSample } from '../alert.ts';
import type { Receipt } from '../channels/channel.ts';
import type { DeliveryError } from '../errors.ts';
import { type DeadLetters, deadId } from '../ledger/dead-letters.ts';
import type { DestinationStats } from '../ledger/destination-stats.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Attempt, AttemptResult } from '../ledger/record.ts';
import type { GivenUp } from '../queue/retry.ts';
import { durationText, iso } from '../time.ts';
import type { AttemptRun, AttemptStage } from './stage.ts';

export interface RecordFailureDependencies {
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  deadLetters: Pick<DeadLetters, 'add' | 'get' | 'remove'>;
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

/** A delivery that was delivered after all has no dead letter. */
const takeBackLetters = async (
  destination: Destination,
  delivered: readonly Alert[],
  deadLetters: RecordFailureDependencies['deadLetters'],
): Promise<void> => {
  if (delivered.length === 0) return;
  await deadLetters.remove(await deadLetters.get(delivered.map((alert) => deadId(alert, destination))));
};

/**
 * Writes dead letters first and the ledger last, so that a crash in between repeats both. Gives the alerts that are dead
 * by this: where a job runs twice, the other run may have reached an end.
 */
export const recordFailure = async (
  { destination, alerts, attempt: attempts, entry }: Failure,
  { ledger, deadLetters, onDead }: RecordFailureDependencies,
): Promise<Alert[]> => {
  const { at, outcome, reason = 'unknown', message } = entry;
  const isDead = outcome === 'dead';
  // A sample is no dead letter: its failure is reported to whoever sent it, and its address may be nobody's.
  const dying = isDead ? (await ledger.pending(destination, alerts)).filter((alert) => !isSample(alert)) : [];
  for (const alert of dying) await deadLetters.add({ alert, destination, reason, message, attempts, at });
  if (dying.length > 0) await onDead?.(destination, dying, message);
  const state = isDead ? 'dead' : 'waiting';
  const found = await ledger.recordAttempt(destination, alerts, { state, attempt: entry });
  const wasDelivered = new Set(alerts.filter((_, index) => found[index] === 'delivered'));
  const survivors = dying.filter((alert) => wasDelivered.has(alert));
  await takeBackLetters(destination, survivors, deadLetters);
  return dying.filter((alert) => !wasDelivered.has(alert));
};

/** History that is replayed shows as such in the ledger. */
const mark = (alerts: readonly Alert[]): { replay?: true } =>
  alerts.some(({ replay }) => replay) ? { replay: true } : {};

/** The last answer did not end the delivery: time did. */
const givenUpText = ({ by, afterMs }: GivenUp): string =>
  `given up after ${durationText(afterMs)} ${by === 'max-age' ? '(retry.maxAge)' : 'of undocumented answers'}: `;

/** True where another job delivered some of it in the same moment. */
const recordEnd = async (
  { message: { destination, alerts } }: AttemptRun,
  end: AttemptResult,
  { ledger, deadLetters, destinationStats }: RecordDependencies,
): Promise<boolean> => {
  const found = await ledger.recordAttempt(destination, alerts, end);
  const died = alerts.filter((_, index) => found[index] === 'dead');
  await takeBackLetters(destination, died, deadLetters);
  const repeats = found.filter((state) => state === 'delivered').length;
  // It is a moment until they are written; no alert waits for that, and without them none is lost.
  const delivered = { count: alerts.length - repeats, at: Date.parse(end.attempt.at) };
  const latencies = alerts.filter(hasTravelled).map(({ at }) => Math.max(0, delivered.at - Date.parse(at)));
  destinationStats.succeeded(destination, delivered.count, end.attempt.at, latencies).catch(() => {});
  return repeats > 0;
};

/** The next message need not wait until the end of this one is in the ledger: `settle` does where it has to. */
const recordDelivered = (run: AttemptRun, receipt: Receipt, dependencies: RecordDependencies): void => {
  const { handle: _handle, progress: _progress, ...provided } = receipt;
  const given = { at: iso(dependencies.now()), outcome: 'delivered', durationMs: run.durationMs } as const;
  run.entry = { ...given, ...provided, ...mark(run.message.alerts) };
  const isRepeat = recordEnd(run, { state: 'delivered', attempt: run.entry, ...receipt }, dependencies);
  isRepeat.catch(() => {});
  run.decision = { kind: 'delivered', receipt, isRepeat };
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
  const dead = await recordFailure({ destination, alerts, attempt: run.attempt, entry }, dependencies);
  if (entry.outcome === 'dead') run.dead = dead;
  // A sample's failure is reported to whoever sent it, and its address may be a made-up one.
  if (alerts.every(isSample)) return;
  await dependencies.destinationStats.failed(destination, entry.at, entry.message);
  if (error.disables) await dependencies.onDisabled?.(destination, entry.at, entry.message);
};

/** An error of the stores is no failure of the receiver: it is thrown. */
export const record: AttemptStage<RecordDependencies> = async (run, dependencies) => {
  if (run.decision.kind === 'delivered') recordDelivered(run, run.decision.receipt, dependencies);
  if (run.error) await recordError(run, run.error, dependencies);
  return undefined;
};
