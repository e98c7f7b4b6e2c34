/** Stage: one request to the channel, and how long it took. */
import type { Destination } from '../alert.ts';
import type { Channel, Receipt } from '../channels/channel.ts';
import { startDeadline } from '../deadline.ts';
import { DeliveryError, messageOf } from '../errors.ts';
import type { AttemptRun, AttemptStage } from './stage.ts';

export interface TransmitDependencies {
  channel: Pick<Channel, 'send' | 'amend'>;
  /** Milliseconds one send may take. */
  timeoutMs: number;
  /** A shorter time for a destination whose last sends timed out, in milliseconds. Default: `timeoutMs` for all. */
  probeMs?(destination: Destination): number | undefined;
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
export const transmit: AttemptStage<TransmitDependencies> = async (attempt, dependencies) => {
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
