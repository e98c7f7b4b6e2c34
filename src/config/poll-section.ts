/** The sections `services` and `poll`: what is read, and how often. */
import { z } from 'zod';
import { connectionFields, pairedKey } from '../schema/connection.ts';
import { count, durationOr, httpUrl, parseDuration, secret } from '../schema/fields.ts';
import { DAY_MS, iso } from '../time.ts';

const NAME_RULE = 'must be a short id: letters, digits, - and _, at most 32';
const BASE_RULE = 'must be a base URL: no ? and no #';
const KEY_RULE = 'must be printable ASCII without spaces, as it goes into an HTTP header';

/** An entry of `services`: one key of a monitoring service. */
export const serviceSection = z
  .strictObject({
    name: z
      .string({ error: NAME_RULE })
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, { error: NAME_RULE })
      .describe(
        'Short id of this service in logs, metrics and stored keys: letters, digits, - and _. Do not change it later: Tocsin reads a service with a new name afresh, from poll.startFrom.',
      ),
    baseUrl: httpUrl()
      .refine((url) => !/[?#]/.test(url), { error: BASE_RULE })
      .describe('Base URL of the API, without the paths of its endpoints.'),
    apiKey: secret({ pattern: /^[\x21-\x7e]+$/, rule: KEY_RULE }).describe('The API key, sent as a bearer token.'),
    timeout: durationOr('10s', { minMs: 100, maxMs: 600_000 }).describe(
      'The longest that one request may take, from connecting to the last byte. Raise it if large pages are slow. A shorter time only causes more repeated reads.',
    ),
    pageSize: count({ max: 10_000 })
      .default(100)
      .describe(
        'Items to request per page; the service may return fewer. Raise it for very busy protocols. Lower it if pages time out.',
      ),
    arrayParams: z
      .enum(['repeat', 'brackets', 'comma'])
      .default('repeat')
      .describe(
        'How a list is written into a query: repeat (k=a&k=b), brackets (k[]=a&k[]=b) or comma (k=a,b). Change it if the service answers for only one of several names.',
      ),
    ...connectionFields('the service'),
  })
  .superRefine(pairedKey);

/** A longer duration is a mistake. */
const LONGEST_AGE_MS = 3650 * DAY_MS;

const START_RULE = 'must be now, a duration back like 24h, or a date-time like 2026-01-31T08:00:00Z';

/** `now`, this many milliseconds back, or a moment as ISO 8601 in UTC. */
type StartFrom = 'now' | { agoMs: number } | { at: string };

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
const LONGEST_INTERVAL_MS = 24 * DAY_MS;

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
  overlap: durationOr(POLL_DEFAULTS.overlap, { minMs: 0 }).describe(
    'How far each poll reads back before the end of the last one. Raise it if items become visible out of order. It causes no double messages.',
  ),
  lookback: durationOr(POLL_DEFAULTS.lookback, { minMs: 0 }).describe(
    'How far back a sweep reads again, for items that arrive late or turn critical later. Raise it if the service writes items later than that. It must be at least as long as overlap.',
  ),
  sweepEvery: durationOr('1m', { minMs: 100 }).describe('Time between two sweeps of one protocol and source.'),
  startFrom: startFrom().prefault('now'),
  concurrency: count({ max: 1000 })
    .default(20)
    .describe(
      'The most requests that this process has in flight at once. Lower it if the service limits you. Raise it for thousands of protocols.',
    ),
  catalogEvery: durationOr('5m', { minMs: 100 }).describe(
    'Time between two listings of the protocols and their channels. It limits how long Tocsin overlooks a new protocol or a changed channel.',
  ),
});

/** Of `auto`: no stream is read more often than the first, and none more seldom than the second. */
export const AUTO_INTERVAL_MS = { least: 1000, longest: 15_000 } as const;

/** How long a protocol may go unread, in milliseconds: between two polls of one source, at most. */
export const longestIntervalMs = ({ interval }: { interval: number | 'auto' }): number =>
  interval === 'auto' ? AUTO_INTERVAL_MS.longest : interval;
