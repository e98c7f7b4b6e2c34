/** What one seed is about: a service of some sort, and what it does wrong. */
import type { Random } from '../../../src/sandbox/random.ts';
import type { Fault } from '../../../src/sandbox/service/faults.ts';
import type { Quirks } from '../../../src/sandbox/service/quirks.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;

/** How the reader is set up, in milliseconds. */
export const SETTINGS = {
  overlap: 5 * SECOND,
  lookback: 5 * MINUTE,
  sweepEvery: MINUTE,
  interval: 15 * SECOND,
} as const;

const DATES = ['createdAt', 'txTimestamp', 'updatedAt'] as const;
const STYLES = ['repeat', 'brackets', 'comma'] as const;

/** True once in `times` times. */
const rarely = (random: Random, times: number): boolean => random.below(times) === 0;

export const drawQuirks = (random: Random): Partial<Quirks> => {
  const ignoredBounds = random.pick(['none', 'none', 'none', 'none', 'startDate', 'endDate', 'both'] as const);
  return {
    firstPage: random.pick([0, 1]),
    pageNumberEcho: random.pick(['number', 'string', 'missing']),
    behindLastPage: random.pick(['empty', 'empty', 'last', 'missing', 'reject']),
    defaultPageSize: 3 + random.below(20),
    maxPageSize: random.pick([4, 8, 15, 40, 100, 100]),
    totalCounts: random.pick(['items', 'pages', 'page']),
    defaultSort: random.pick(['asc', 'dsc']),
    ignoresSort: rarely(random, 4),
    arrayParams: random.pick(STYLES),
    withoutNames: random.pick(['reject', 'nothing', 'everything']),
    dateField: random.pick(DATES),
    sortField: random.pick(DATES),
    dateFormat: random.pick(['iso', 'iso', 'offset', 'seconds', 'milliseconds']),
    clockSkewMs: random.pick([0, random.below(180 * SECOND) - 90 * SECOND]),
    extraFields: random.chance(0.5),
    nullArrays: random.chance(0.5),
    assessmentWords: rarely(random, 8) ? { critical: 'severe' } : {},
    errorBody: random.pick(['json', 'nested', 'array', 'text', 'html', 'empty']),
    // Neither bounds nor an order to hold on to: then only walking it often enough helps, which no promise can rest on.
    unstableTies: ignoredBounds === 'none' && random.chance(0.5),
    pageOverlap: random.pick([0, 0, 1, 2]),
    ignoredBounds,
    listing: random.pick(['single', 'split']),
  };
};

export const drawStyle = (random: Random): (typeof STYLES)[number] => random.pick(STYLES);

const FOREIGN = 'http://127.0.0.1:9/elsewhere';

/** `serviceNow`: for a Retry-After that is a date. */
export const drawFault = (random: Random, serviceNow: number): Fault => {
  const seconds = 1 + random.below(40);
  const retryAfter = random.chance(0.5) ? seconds : new Date(serviceNow + seconds * SECOND).toUTCString();
  return random.pick<Fault>([
    { kind: 'status', status: random.pick([500, 502, 504]) },
    { kind: 'status', status: random.pick([429, 503]), retryAfter },
    { kind: 'status', status: 429 },
    { kind: 'status', status: random.pick([401, 403, 404]) },
    { kind: 'status', status: 502, body: '<html><h1>Bad Gateway</h1></html>', contentType: 'text/html' },
    { kind: 'reset' },
    { kind: 'cut' },
    { kind: 'truncated' },
    { kind: 'invalid-json' },
    { kind: 'empty' },
    { kind: 'huge', bytes: 400_000 },
    { kind: 'wrong-shape', body: { items: [] } },
    { kind: 'wrong-type', contentType: 'text/html' },
    { kind: 'redirect', location: FOREIGN },
    { kind: 'malformed-item' },
    ...(rarely(random, 8) ? [{ kind: 'hang' } as const] : []),
  ]);
};
