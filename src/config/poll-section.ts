/** The section of polling: how often, from where, how far back. */
import { z } from 'zod';
import { count, duration, parseDuration } from '../schema/fields.ts';
import { iso } from '../time.ts';

/** A longer duration is a mistake. */
const LONGEST_AGE_MS = 3650 * 86_400_000;

const START_RULE = 'must be now, a duration back like 24h, or a date-time like 2026-01-31T08:00:00Z';

/** `now`, this many milliseconds back, or a moment as ISO 8601 in UTC. */
export type StartFrom = 'now' | { agoMs: number } | { at: string };

const DATE_TIME = z.iso.datetime({ offset: true });

const readStart = (text: string): StartFrom | undefined => {
  if (text === 'now') return text;
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return agoMs <= LONGEST_AGE_MS ? { agoMs } : undefined;
  return DATE_TIME.safeParse(text).success && Number.isFinite(Date.parse(text))
    ? { at: iso(Date.parse(text)) }
    : undefined;
};

const startFrom = () =>
  z
    .string({ error: START_RULE })
    .refine((text) => readStart(text) !== undefined, { error: START_RULE })
    .meta({
      description:
        'Where polling begins at the very first start: now, a duration back such as 24h, or a date-time such as 2026-01-31T08:00:00Z. Later starts continue from the stored cursor. To forward history again, use `tocsin replay`.',
    })
    .transform((text): StartFrom => readStart(text) ?? 'now');

/** The rules compare with these where the operator gives only one of the two. */
export const POLL_DEFAULTS = { overlap: '5s', lookback: '15m' };

const INTERVAL_RULE = 'must be auto, or a whole number and a unit: 500ms, 15s, 10m, 24h or 7d';
const LEAST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 24 * 86_400_000;

const readInterval = (text: string): number | 'auto' => (text === 'auto' ? text : (parseDuration(text) ?? Number.NaN));

const isInterval = (text: string): boolean => {
  const interval = readInterval(text);
  return interval === 'auto' || (interval >= LEAST_INTERVAL_MS && interval <= LONGEST_INTERVAL_MS);
};

const interval = () =>
  z
    .string({ error: INTERVAL_RULE })
    .regex(/^(auto|\d{1,12}(ms|s|m|h|d))$/, { error: INTERVAL_RULE, abort: true })
    .refine(isInterval, { error: 'must be from 100ms to 24d' })
    .transform(readInterval);

const BUDGET_RULE = 'must be a number from 0.1 to 1000';

export const pollSection = z.strictObject({
  interval: interval()
    .prefault('auto')
    .describe(
      'Time between two polls of one protocol and source: auto, or a duration such as 15s. It limits how old an alert is when it is sent. With auto, each protocol is polled as often as requestsPerSecond allows, every 1 to 15 seconds; those that had alerts within 5 minutes more often than the others. `tocsin status` shows the time that this gives.',
    ),
  requestsPerSecond: z
    .number({ error: BUDGET_RULE })
    .min(0.1, { error: BUDGET_RULE })
    .max(1000, { error: BUDGET_RULE })
    .default(4)
    .describe(
      'With interval: auto, the most requests a second to one service, by all daemons together. Tocsin sends fewer while the service is slow or answers 429. It warns if this is too small to poll every protocol within 15 seconds, and names what would suffice.',
    ),
  overlap: duration({ minMs: 0 })
    .prefault(POLL_DEFAULTS.overlap)
    .describe(
      'How far each poll reads back before the end of the last one. Raise it if items become visible out of order. It causes no double messages.',
    ),
  lookback: duration({ minMs: 0 })
    .prefault(POLL_DEFAULTS.lookback)
    .describe(
      'How far back a sweep reads again, for items that arrive late or turn critical later. Raise it if the service writes items later than that. It must be at least as long as overlap.',
    ),
  sweepEvery: duration({ minMs: 100 }).prefault('1m').describe('Time between two sweeps of one protocol and source.'),
  startFrom: startFrom().prefault('now'),
  concurrency: count({ max: 1000 })
    .default(20)
    .describe(
      'The most requests that this process has in flight at once. Lower it if the service limits you. Raise it for thousands of protocols.',
    ),
  catalogEvery: duration({ minMs: 100 })
    .prefault('5m')
    .describe(
      'Time between two listings of the protocols and their channels. It limits how long Tocsin overlooks a new protocol or a changed channel.',
    ),
});
