/** One try of one message, and what is written down of it: the ledger, the standing, one log line, the metrics. */
import { type Alert, type ChannelKind, type Destination, isSample } from '../alert.ts';
import type { Channel, Message, Receipt } from '../channels/channel.ts';
import { DeliveryError, messageOf } from '../errors.ts';
import type { DeadLetters } from '../ledger/dead-letters.ts';
import type { DestinationStats } from '../ledger/destination-stats.ts';
import type { Attempt, Ledger } from '../ledger/ledger.ts';
import { type Fate, fateOf, type GivenUp } from '../queue/retry.ts';
import { durationText, iso } from '../time.ts';
import type { DestinationHealth } from './health.ts';

/** The canonical line of an attempt: everything an operator asks about it. */
export interface AttemptEvent {
  kind: ChannelKind;
  destination: Destination;
  alerts: readonly Alert[];
  attempt: number;
  outcome: 'delivered' | 'retrying' | 'dead';
  durationMs: number;
  reason?: string;
  code?: string;
  message?: string;
  retryInMs?: number;
  maybeDelivered?: boolean;
  providerId?: string;
}

export interface AttemptDependencies {
  channel: Channel;
  ledger: Ledger;
  dead: DeadLetters;
  destinationStats: DestinationStats;
  health: Pick<DestinationHealth, 'worked' | 'failed'>;
  /** Deliveries are dead, for this reason; told before the books are. Default: nobody is told. */
  onDead?(destination: Destination, alerts: readonly Alert[], why: string): Promise<void>;
  /** The destination's receiver wants nothing more. Default: nobody is told. */
  onDisabled?(destination: Destination, at: string, message: string): Promise<void>;
  /** Milliseconds one send may take. */
  timeoutMs: number;
  /** Milliseconds after the first try at which a delivery is given up. */
  maxAgeMs: number;
  /** Takes known secrets out of what a provider said. */
  scrub(text: string): string;
  onAttempt(event: AttemptEvent): void;
  now(): number;
  random(): number;
}

export interface AttemptInput {
  message: Message;
  /** The handle of the message whose place it takes; left out: it is a new one. */
  amends?: string;
  /** Tries charged so far, this one included. */
  attempt: number;
  /** Epoch milliseconds. */
  firstTriedAt: number;
  /** Of the first of the `unknown` answers that it has had in a row; left out: the last was none. */
  unknownSince?: number | undefined;
  /** A plainer format is left to try. */
  canBePlainer: boolean;
  signal: AbortSignal;
}

/** As the policy says, and the next try's `unknownSince`. */
type Setback = Fate & { unknownSince?: number };

/**
 * `partial`: one of several parts was taken, and nothing is booked yet. `isRepeat`: another job has told some of it in the same moment. `stopping`: the daemon is going down; nothing is
 * charged.
 */
export type AttemptResult =
  | { kind: 'delivered'; receipt: Receipt; isRepeat: boolean }
  | { kind: 'partial'; progress: string }
  | { kind: 'stopping' }
  | Setback;

const toDeliveryError = (error: unknown): DeliveryError =>
  error instanceof DeliveryError
    ? error
    : new DeliveryError('unknown', `sending failed: ${messageOf(error)}`, { code: 'exception', maybeDelivered: true });

/** History that is forwarded again shows as such in the books. */
const mark = (alerts: readonly Alert[]): { replay?: true } =>
  alerts.some(({ replay }) => replay) ? { replay: true } : {};

/** The reason says what the last answer was; this, that it was not what ended the delivery. */
const givenUpText = ({ by, afterMs }: GivenUp): string =>
  `given up after ${durationText(afterMs)} ${by === 'max-age' ? '(retry.maxAge)' : 'of undocumented answers'}: `;

export const createAttempt = (dependencies: AttemptDependencies) => {
  const { channel, ledger, dead, destinationStats, health, scrub, onAttempt, now } = dependencies;

  const succeed = async (
    { message, attempt }: AttemptInput,
    receipt: Receipt,
    durationMs: number,
  ): Promise<AttemptResult> => {
    const { destination, alerts } = message;
    const { handle: _handle, progress, ...provided } = receipt;
    if (progress !== undefined) {
      await health.worked(destination);
      return { kind: 'partial', progress };
    }
    const entry: Attempt = { at: iso(now()), outcome: 'delivered', durationMs, ...provided, ...mark(alerts) };
    const isRepeat = await ledger.recordAttempt(destination, alerts, {
      state: 'delivered',
      attempt: entry,
      ...receipt,
    });
    await destinationStats.succeeded(destination, alerts.length, entry.at);
    await health.worked(destination);
    onAttempt({ kind: channel.kind, destination, alerts, attempt, outcome: 'delivered', durationMs, ...provided });
    return { kind: 'delivered', receipt, isRepeat };
  };

  const decide = (error: DeliveryError, input: AttemptInput): Fate => {
    const { attempt, firstTriedAt, unknownSince = now(), canBePlainer } = input;
    const fate = fateOf({
      error,
      attempt,
      ageMs: now() - firstTriedAt,
      unknownForMs: now() - unknownSince,
      maxAgeMs: dependencies.maxAgeMs,
      random: dependencies.random(),
    });
    return fate.kind === 'plainer' && !canBePlainer ? { kind: 'dead' } : fate;
  };

  /** What failed is a probe like any other: it need not wait longer than the others do, unless it was told to. */
  const setback = (
    fate: Fate,
    { reason, retryAfterMs }: DeliveryError,
    pausedUntil: number | undefined,
    { unknownSince = now() }: AttemptInput,
  ): Setback => {
    if (fate.kind !== 'again') return fate;
    const probeMs =
      retryAfterMs === undefined && pausedUntil !== undefined ? Math.max(0, pausedUntil - now()) : Infinity;
    const delayMs = Math.min(fate.delayMs, probeMs);
    return { ...fate, delayMs, ...(reason === 'unknown' ? { unknownSince } : {}) };
  };

  const said = ({ reason, code, message, maybeDelivered }: DeliveryError, fate: Fate) => ({
    reason,
    code: scrub(code),
    message: `${fate.kind === 'dead' && fate.givenUp ? givenUpText(fate.givenUp) : ''}${scrub(message)}`,
    ...(maybeDelivered ? { maybeDelivered } : {}),
  });

  const fail = async (input: AttemptInput, error: DeliveryError, durationMs: number): Promise<Setback> => {
    const { destination, alerts } = input.message;
    const fate = decide(error, input);
    const outcome = fate.kind === 'dead' ? 'dead' : 'retrying';
    const entry = { at: iso(now()), outcome, durationMs, ...said(error, fate), ...mark(alerts) } as const;
    const { at: _at, replay: _replay, ...event } = entry;
    await note(input, entry);
    if (error.disables) await dependencies.onDisabled?.(destination, entry.at, entry.message);
    const retryInMs = fate.kind === 'again' ? fate.delayMs : 0;
    const pausedUntil = await health.failed(destination, alerts, { error, message: entry.message, retryInMs });
    const next = setback(fate, error, pausedUntil, input);
    onAttempt({
      ...event,
      kind: channel.kind,
      destination,
      alerts,
      attempt: input.attempt,
      ...(next.kind === 'again' ? { retryInMs: next.delayMs } : {}),
    });
    return next;
  };

  /** The dead are buried first and booked last, so that a crash in between does it again. */
  const note = async ({ message, attempt }: AttemptInput, entry: Attempt & { message: string }): Promise<void> => {
    const { destination, alerts } = message;
    const isDead = entry.outcome === 'dead';
    if (isDead) await buryAll(alerts, destination, entry, attempt);
    await ledger.recordAttempt(destination, alerts, { state: isDead ? 'dead' : 'waiting', attempt: entry });
    // A sample's failure is told to whoever sent it, and its address may be nobody's.
    if (alerts.every(isSample)) return;
    await destinationStats.failed(destination, isDead ? alerts.length : 0, entry.at, entry.message);
  };

  const buryAll = async (alerts: readonly Alert[], destination: Destination, entry: Attempt, attempts: number) => {
    const { at, reason = 'unknown', message = '' } = entry;
    for (const alert of alerts) await dead.add({ alert, destination, reason, message, attempts, at });
    await dependencies.onDead?.(destination, alerts, message);
  };

  const transmit = async ({ message, amends }: AttemptInput, signal: AbortSignal): Promise<Receipt> =>
    amends !== undefined && channel.amend ? channel.amend(amends, message, signal) : channel.send(message, signal);

  /** Sends once and books the outcome. What goes wrong with the books is no failure of the receiver: it is thrown. */
  return async (input: AttemptInput): Promise<AttemptResult> => {
    const begun = now();
    const signal = AbortSignal.any([input.signal, AbortSignal.timeout(dependencies.timeoutMs)]);
    const sent = await transmit(input, signal).then(
      (receipt) => ({ receipt }),
      (error: unknown) => ({ error }),
    );
    const durationMs = now() - begun;
    if ('receipt' in sent) return succeed(input, sent.receipt, durationMs);
    return input.signal.aborted ? { kind: 'stopping' } : fail(input, toDeliveryError(sent.error), durationMs);
  };
};
