import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { channelOptions, senderOption } from '../../src/channels/options.ts';

const schema = z.strictObject({
  ...channelOptions({ rateLimit: { perSecond: 1, burst: 3 }, concurrency: 4 }),
  ...senderOption({ perSecond: 30 }),
});
const problemsOf = (value: object): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);

test('a kind brings its own rates and concurrency; a timeout and a largest age come with them', () => {
  expect(schema.parse({})).toEqual({
    rateLimit: { perSecond: 1, burst: 3 },
    senderRateLimit: { perSecond: 30 },
    concurrency: 4,
    timeout: 15_000,
    retry: { maxAge: 86_400_000 },
  });
});

test('a rate limit that is given takes the place of the whole default', () => {
  const { rateLimit, senderRateLimit } = schema.parse({ rateLimit: { perMinute: 0.5 }, senderRateLimit: {} });
  expect([rateLimit, senderRateLimit]).toEqual([{ perMinute: 0.5 }, {}]);
});

describe('refused with its rule', () => {
  const RATE = 'must be a number greater than 0';
  const COUNT = 'must be a whole number from 1 to 1000';
  test.each<[object, string]>([
    [{ rateLimit: { perSecond: 0 } }, `rateLimit.perSecond ${RATE}`],
    [{ rateLimit: { perMinute: '20' } }, `rateLimit.perMinute ${RATE}`],
    [{ senderRateLimit: { perSecond: -1 } }, `senderRateLimit.perSecond ${RATE}`],
    [{ rateLimit: 5 }, 'rateLimit must be a map like { perSecond: 1 }'],
    [{ rateLimit: { burst: 0 } }, `rateLimit.burst ${COUNT}`],
    [{ concurrency: 1.5 }, `concurrency ${COUNT}`],
    [{ concurrency: 1001 }, `concurrency ${COUNT}`],
  ])('%j', (value, problem) => expect(problemsOf(value)).toEqual([problem]));

  test('a timeout beyond its bounds, and keys that nobody knows', () => {
    expect(problemsOf({ timeout: '50ms' })).toEqual([expect.stringMatching(/^timeout must be .*100ms/)]);
    expect(problemsOf({ timeout: '11m' })).toEqual([expect.stringMatching(/^timeout must be .*10m/)]);
    expect(problemsOf({ retry: { maxage: '1h' }, rateLimit: { perHour: 1 } })).toHaveLength(2);
  });
});
