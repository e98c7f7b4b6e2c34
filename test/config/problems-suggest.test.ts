import { expect, test } from 'vitest';
import { nearest } from '../../src/config/problems.ts';

const KEYS = ['interval', 'timeout', 'rateLimit', 'apiKey', 'url', 'to'];

test.each([
  ['intervall', 'interval'],
  ['timeuot', 'timeout'],
  ['rate-limit', 'rateLimit'],
  ['API_KEY', 'apiKey'],
  ['ulr', 'url'],
  ['ratelimits', 'rateLimit'],
  ['concurrency', undefined],
  ['x', undefined],
  ['', undefined],
  ['t', 'to'],
  ['interval'.padEnd(41, 'x'), undefined],
])('%j is nearest to %j', (word, key) => expect(nearest(word, KEYS)).toBe(key));

test('of two the one with fewer edits, and of equals the first', () => {
  expect(nearest('timeout', ['timeouts', 'timeout'])).toBe('timeout');
  expect(nearest('cat', ['bat', 'hat'])).toBe('bat');
  expect(nearest('cat', [])).toBeUndefined();
});
