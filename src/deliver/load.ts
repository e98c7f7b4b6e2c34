/** What a row of messages asks of one destination. Pure. */
import { createPace, type Rate } from './pace.ts';

export interface Load {
  messages: number;
  /** The minute in which most messages were ready, by its beginning in epoch milliseconds. */
  worstMinute: { at: number; messages: number };
  /** How long the message that waits longest would wait for its turn, and how many waited then. */
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

const worstBacklogOf = (times: readonly number[], rate: Rate): Load['worstBacklog'] => {
  const pace = createPace(rate);
  const slots = times.map(pace);
  let worst = { at: times[0] ?? 0, messages: 0, waitMs: 0 };
  let gone = 0;
  times.forEach((time, index) => {
    while (gone < index && (slots[gone] ?? time) <= time) gone += 1;
    const waitMs = (slots[index] ?? time) - time;
    if (waitMs > worst.waitMs) worst = { at: time, messages: index - gone + 1, waitMs };
  });
  return worst;
};

/** `times`: when each message was ready, in epoch milliseconds and any order. */
export const loadOf = (times: readonly number[], rate: Rate): Load => {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    messages: sorted.length,
    worstMinute: worstMinuteOf(sorted),
    worstBacklog: worstBacklogOf(sorted, rate),
  };
};
