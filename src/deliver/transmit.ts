/** Stage: one request to the channel, and how long it took. */
import type { Channel, Receipt } from '../channels/channel.ts';
import { DeliveryError, messageOf } from '../errors.ts';
import type { AttemptRun, AttemptStage } from './stage.ts';

export interface TransmitDependencies {
  channel: Pick<Channel, 'send' | 'amend'>;
  /** Milliseconds one send may take. */
  timeoutMs: number;
  now(): number;
}

const toDeliveryError = (error: unknown): DeliveryError =>
  error instanceof DeliveryError
    ? error
    : new DeliveryError('unknown', `sending failed: ${messageOf(error)}`, { code: 'exception', maybeDelivered: true });

const request = async (
  { message, amends }: AttemptRun,
  channel: TransmitDependencies['channel'],
  signal: AbortSignal,
): Promise<Receipt> =>
  amends !== undefined && channel.amend ? channel.amend(amends, message, signal) : channel.send(message, signal);

/** Ends the attempt where our own shutdown aborted it. */
export const transmit: AttemptStage<TransmitDependencies> = async (attempt, { channel, timeoutMs, now }) => {
  const begun = now();
  const signal = AbortSignal.any([attempt.signal, AbortSignal.timeout(timeoutMs)]);
  try {
    attempt.receipt = await request(attempt, channel, signal);
  } catch (error) {
    if (attempt.signal.aborted) return { kind: 'stopping' };
    attempt.error = toDeliveryError(error);
  }
  attempt.durationMs = now() - begun;
  return undefined;
};
