/** Tells one message: in the place of an earlier one that it belongs to, else below it, else by itself. */
import type { Message } from '../channels/channel.ts';
import type { AttemptInput, AttemptResult, createAttempt } from './attempt.ts';
import { type Compose, plainer, type Unit } from './compose.ts';
import type { Earlier, Threads } from './threads.ts';

export interface SendMessageDependencies {
  compose: Compose;
  attempt: ReturnType<typeof createAttempt>;
  /** A kind whose messages can belong to earlier ones. */
  threads?: Threads;
  /** It can put a message in the place of another. Default: it cannot. */
  canAmend?: boolean;
  now(): number;
}

interface Tries extends Omit<AttemptInput, 'message' | 'amends' | 'canBePlainer'> {
  /** Where another job has the message that these alerts belong to, nothing is sent yet. */
  mayYield: boolean;
}

/** So often an earlier message is tried to be changed; what belongs to it must not wait for that alone. */
const AMEND_TRIES = 2;

export const createSendMessage = ({ compose, attempt, threads, canAmend = false, now }: SendMessageDependencies) => {
  /** The earlier message with the new alerts in it; undefined where that is not one message, or cannot be changed. */
  const growing = ({ alerts }: Earlier, message: Message, { format }: Unit): Message | undefined => {
    if (alerts.length === 0) return undefined;
    const parcel = { destination: message.destination, alerts: [...alerts, ...message.alerts] };
    const both = compose(parcel, format, now());
    const [only] = both;
    return only && both.length === 1 ? { ...only, alerts: message.alerts } : undefined;
  };

  const send = async (
    base: Omit<AttemptInput, 'message' | 'amends'>,
    message: Message,
    unit: Unit,
    { earlier, mayAmend }: { earlier: Earlier | undefined; mayAmend: boolean },
  ): Promise<AttemptResult> => {
    const grown = mayAmend && earlier ? growing(earlier, message, unit) : undefined;
    const amended =
      grown && earlier && (await attempt({ ...base, canBePlainer: true, message: grown, amends: earlier.handle }));
    if (amended && amended.kind !== 'plainer') return amended;
    return attempt({ ...base, message: { ...message, ...(earlier ? { replyTo: earlier.handle } : {}) } });
  };

  const remember = async (message: Message, handle: string | undefined): Promise<void> => {
    if (threads === undefined || handle === undefined) return;
    const { alerts = [] } = (await threads.find(message.destination, message.alerts)) ?? {};
    await threads.remember(message.destination, [...alerts, ...message.alerts], handle);
  };

  return async (
    { mayYield, ...tries }: Tries,
    message: Message,
    unit: Unit,
  ): Promise<AttemptResult | { kind: 'taken' }> => {
    // Several that not even the plainest format can tell together may be told apart.
    const canBePlainer = plainer(unit.format) !== undefined || message.alerts.length > 1;
    const base = { ...tries, canBePlainer };
    // In this order, on one connection: what is found is what is claimed.
    const [claim, earlier] = await Promise.all([
      canAmend ? threads?.claim(message.destination, message.alerts) : undefined,
      threads?.find(message.destination, message.alerts),
    ]);
    if (claim === 'taken' && mayYield) return { kind: 'taken' };
    const unclaim = claim === 'taken' ? undefined : claim;
    const mayAmend = unclaim !== undefined && tries.attempt <= AMEND_TRIES;
    try {
      const result = await send(base, message, unit, { earlier, mayAmend });
      if (result.kind === 'delivered') await remember(message, result.receipt.handle);
      return result;
    } finally {
      await unclaim?.();
    }
  };
};
