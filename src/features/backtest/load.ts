/** What a row of messages asks of one destination. Pure. */
import type { SimulatedMessage } from './delivery.ts';

/** A message as it would be sent. */
export type LoadMessage = Pick<SimulatedMessage, 'at' | 'ready' | 'isDigest' | 'amends'>;

export interface Load {
  alerts: number;
  /** Those that call people; what takes the place of an earlier one does not. */
  messages: number;
  /** Of the messages those with many alerts for people. */
  digests: number;
  /** The minute in which most messages are sent, by its beginning in epoch milliseconds. */
  worstMinute: { at: number; messages: number };
  /** Of the alert that waits longest: when it was ready, for how long it waits, and how many messages go until it is sent. */
  worstBacklog: { at: number; messages: number; waitMs: number };
}

const MINUTE_MS = 60_000;

const worstMinuteOf = (times: readonly number[]): Load['worstMinute'] => {
  let worst = { at: times[0] ?? 0, messages: 0 };
  let first = 0;
  times.forEach((time, index) => {
    while ((times[first] ?? time) <= time - MINUTE_MS) first += 1;
    if (index - first + 1 > worst.messages) worst = { at: times[first] ?? time, messages: index - first + 1 };
  });
  return worst;
};

const worstBacklogOf = (sent: readonly LoadMessage[]): Load['worstBacklog'] => {
  const worst = { at: sent[0]?.at ?? 0, waitMs: 0 };
  for (const { at, ready } of sent) {
    for (const since of ready) if (at - since > worst.waitMs) Object.assign(worst, { at: since, waitMs: at - since });
  }
  const until = worst.at + worst.waitMs;
  return { ...worst, messages: sent.filter(({ at }) => at > worst.at && at <= until).length };
};

/** `sent`: in order of time. */
export const loadOf = (sent: readonly LoadMessage[]): Load => {
  const calls = sent.filter(({ amends }) => !amends);
  return {
    alerts: sent.reduce((sum, { ready }) => sum + ready.length, 0),
    messages: calls.length,
    digests: calls.filter(({ isDigest }) => isDigest).length,
    worstMinute: worstMinuteOf(calls.map(({ at }) => at)),
    worstBacklog: worstBacklogOf(sent),
  };
};
