/** Stages of one attempt at a message: one request, what becomes of the message, and what is written down of it. */
import { type Alert, type Destination, hasTravelled, isSample } from '../alert.ts';
import type { Receipt } from '../channels/channel.ts';
import { DeliveryError, factsOf, messageOf } from '../errors.ts';
import { deadId } from '../ledger/dead-letters.ts';
import type { Attempt, AttemptEnd } from '../ledger/record.ts';
import { startDeadline } from '../net.ts';
import { decisionOf, type GivenUp } from '../queue/retry.ts';
import { durationText, iso } from '../time.ts';
import type { AttemptResult, AttemptRun, AttemptStage, DeliverDependencies } from './stage.ts';

const toDeliveryError = (error: unknown): DeliveryError =>
  error instanceof DeliveryError
    ? error
    : new DeliveryError('unknown', `sending failed: ${messageOf(error)}`, { code: 'exception', maybeDelivered: true });

const request = async (
  { message, amends }: AttemptRun,
  channel: DeliverDependencies['channel'],
  signal: AbortSignal,
): Promise<Receipt> =>
  amends !== undefined && channel.amend ? channel.amend(amends, message, signal) : channel.send(message, signal);

/** One request to the channel, and how long it took. Ends the attempt where our own shutdown aborted it. */
export const transmit: AttemptStage = async (attempt, dependencies) => {
  const { channel, timeoutMs, probeMs, now } = dependencies;
  const begun = now();
  const mostMs = Math.min(timeoutMs, probeMs?.(attempt.message.destination) ?? timeoutMs);
  if (attempt.signal.aborted) return { kind: 'stopping' };
  const deadline = startDeadline(attempt.signal, mostMs);
  try {
    attempt.receipt = await request(attempt, channel, deadline.signal);
  } catch (error) {
    if (attempt.signal.aborted) return { kind: 'stopping' };
    attempt.error = toDeliveryError(error);
  } finally {
    deadline.end();
  }
  attempt.durationMs = now() - begun;
  return undefined;
};

const success = (receipt: Receipt): AttemptResult =>
  receipt.progress === undefined
    ? { kind: 'delivered', receipt, isRepeat: false }
    : { kind: 'partial', progress: receipt.progress };

const failure = (
  { attempt, firstTriedAt, unknownSince, canBePlainer }: AttemptRun,
  error: DeliveryError,
  { maxAgeMs, now, random }: DeliverDependencies,
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
  return decision.kind === 'retry' && factsOf(error.reason).outlook === 'undocumented'
    ? { ...decision, unknownSince: since }
    : decision;
};

/** What becomes of the message, by the channel's answer and the retry policy. */
export const decide: AttemptStage = (attempt, dependencies) => {
  if (attempt.receipt) attempt.decision = success(attempt.receipt);
  if (attempt.error) attempt.decision = failure(attempt, attempt.error, dependencies);
  return undefined;
};

/** What a delivery that dies without a try needs as well. */
export type UnsentDependencies = Pick<
  DeliverDependencies,
  'ledger' | 'deadLetters' | 'destinationStats' | 'onDead' | 'onDied' | 'onAttempt' | 'now'
>;

export interface Failure {
  destination: Destination;
  alerts: readonly Alert[];
  attempt: number;
  entry: Attempt & { message: string };
}

/** A delivery that was delivered after all has no dead letter. */
const takeBackLetters = async (
  destination: Destination,
  delivered: readonly Alert[],
  deadLetters: DeliverDependencies['deadLetters'],
): Promise<void> => {
  await deadLetters.remove(await deadLetters.get(delivered.map((alert) => deadId(alert, destination))));
};

/**
 * Writes dead letters first and the ledger last, so that a crash in between repeats both. Gives the alerts that are dead
 * by this: where a job runs twice, the other run may have reached an end.
 */
export const recordFailure = async (
  { destination, alerts, attempt: attempts, entry }: Failure,
  { ledger, deadLetters, onDead, onDied }: UnsentDependencies,
): Promise<Alert[]> => {
  const { at, outcome, reason = 'unknown', message } = entry;
  const isDead = outcome === 'dead';
  // A sample is no dead letter: its failure is reported where it was asked for, and its address may be nobody's.
  const dying = isDead ? (await ledger.pending(destination, alerts)).filter((alert) => !isSample(alert)) : [];
  for (const alert of dying) await deadLetters.add({ alert, destination, reason, message, attempts, at });
  if (dying.length > 0) await onDead?.(destination, dying, message);
  const state = isDead ? 'dead' : 'waiting';
  const found = await ledger.recordAttempt(destination, alerts, { state, attempt: entry });
  const wasDelivered = new Set(alerts.filter((_, index) => found[index] === 'delivered'));
  const survivors = dying.filter((alert) => wasDelivered.has(alert));
  if (survivors.length > 0) await takeBackLetters(destination, survivors, deadLetters);
  const dead = dying.filter((alert) => !wasDelivered.has(alert));
  if (dead.length > 0) await onDied?.(destination, dead);
  return dead;
};

/** History that is replayed shows as such in the ledger. */
const mark = (alerts: readonly Alert[]): { replay?: true } =>
  alerts.some(({ replay }) => replay) ? { replay: true } : {};

/** The last answer did not end the delivery: time did. */
const givenUpText = ({ by, afterMs }: GivenUp): string =>
  `given up after ${durationText(afterMs)} ${by === 'max-age' ? '(retry.maxAge)' : 'of undocumented answers'}: `;

/** True where another job delivered some of it in the same moment. */
const recordEnd = async (
  { message: { destination, alerts }, receipt }: AttemptRun,
  end: AttemptEnd,
  { ledger, deadLetters, destinationStats }: DeliverDependencies,
): Promise<boolean> => {
  const found = await ledger.recordAttempt(destination, alerts, end);
  const died = alerts.filter((_, index) => found[index] === 'dead');
  if (died.length > 0) await takeBackLetters(destination, died, deadLetters);
  const repeats = found.filter((state) => state === 'delivered').length;
  // It is a moment until they are written; no alert waits for that, and without them none is lost.
  const delivered = { count: alerts.length - repeats, at: Date.parse(end.attempt.at) };
  // A receiver that was not asked has not worked.
  if (receipt?.isUnsent) return repeats > 0;
  const latencies = alerts.filter(hasTravelled).map(({ at }) => Math.max(0, delivered.at - Date.parse(at)));
  destinationStats.succeeded(destination, delivered.count, end.attempt.at, latencies).catch(() => {});
  return repeats > 0;
};

/** The next message need not wait until the end of this one is in the ledger: `settle` does where it has to. */
const recordDelivered = (run: AttemptRun, receipt: Receipt, dependencies: DeliverDependencies): void => {
  const { providerId, handle } = receipt;
  const provided = providerId === undefined ? {} : { providerId };
  const given = { at: iso(dependencies.now()), outcome: 'delivered', durationMs: run.durationMs } as const;
  run.entry = { ...given, ...provided, ...mark(run.message.alerts) };
  const end = { state: 'delivered', attempt: run.entry, ...provided, ...(handle !== undefined && { handle }) } as const;
  const isRepeat = recordEnd(run, end, dependencies);
  isRepeat.catch(() => {});
  run.decision = { kind: 'delivered', receipt, isRepeat };
};

const entryOf = (
  { durationMs, decision, message: { alerts } }: AttemptRun,
  { reason, code, message, maybeDelivered }: DeliveryError,
  { scrub, now }: DeliverDependencies,
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

const recordError = async (run: AttemptRun, error: DeliveryError, dependencies: DeliverDependencies) => {
  const { destination, alerts } = run.message;
  const entry = entryOf(run, error, dependencies);
  run.entry = entry;
  const dead = await recordFailure({ destination, alerts, attempt: run.attempt, entry }, dependencies);
  if (entry.outcome === 'dead') run.dead = dead;
  // A sample's failure is reported where it was asked for, and its address may be a made-up one.
  if (alerts.every(isSample)) return undefined;
  await dependencies.destinationStats.failed(destination, entry.at, entry.message);
  if (error.disables) await dependencies.onDisabled?.(destination, entry.at, entry.message);
  return undefined;
};

/**
 * Writes the attempt down: ledger, dead letters, statistics, and whether the receiver disabled its destination. An error of
 * the stores is no failure of the receiver: it is thrown.
 */
export const record: AttemptStage = (run, dependencies) => {
  if (run.decision.kind === 'delivered') recordDelivered(run, run.decision.receipt, dependencies);
  return run.error && recordError(run, run.error, dependencies);
};

const noteError = async (
  attempt: AttemptRun,
  error: DeliveryError,
  { health, scrub, now }: DeliverDependencies,
): Promise<void> => {
  const { message, entry, decision } = attempt;
  const retryInMs = decision.kind === 'retry' ? decision.delayMs : 0;
  const said = error.said === undefined ? {} : { said: scrub(error.said) };
  const failure = { error, message: entry?.message ?? '', ...said, retryInMs };
  const pausedUntil = await health.failed(message.destination, message.alerts, failure);
  // The retry is a probe like any other: it need not wait longer than the others, unless the provider named a wait.
  if (decision.kind === 'retry' && pausedUntil !== undefined && error.retryAfterMs === undefined) {
    attempt.decision = { ...decision, delayMs: Math.min(decision.delayMs, Math.max(0, pausedUntil - now())) };
  }
};

/** The circuits of the destination and its sender learn how the attempt went. */
export const updateCircuit: AttemptStage = (attempt, dependencies) => {
  const { message, receipt, error } = attempt;
  const { unasked, worked } = dependencies.health;
  const learn = receipt?.isUnsent ? unasked : worked;
  const learning = error ? noteError(attempt, error, dependencies) : learn(message.destination);
  return learning?.then(() => undefined);
};

/**
 * One event for each attempt, for the log and the metrics. Only the last part of a message in several parts is reported. A
 * last try by which nothing is dead, because another run of the job delivered all of it, is only in the ledger.
 */
export const report: AttemptStage = (run, { onAttempt }) => {
  const { message, attempt, entry, decision, dead } = run;
  if (entry === undefined || dead?.length === 0) return undefined;
  const { destination, isDigest } = message;
  const alerts = dead ?? message.alerts;
  const retryInMs = decision.kind === 'retry' ? { retryInMs: decision.delayMs } : {};
  onAttempt({ ...entry, kind: destination.kind, destination, alerts, attempt, isDigest, ...retryInMs });
  return undefined;
};
