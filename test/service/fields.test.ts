import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/alert.ts';
import { countOf, dateMs } from '../../src/service/fields.ts';

const AT = Date.UTC(2026, 10, 20, 10, 7, 31, 2);

describe('dates', () => {
  test.each<[JsonValue, number]>([
    ['2026-11-20T10:07:31.002Z', AT],
    ['2026-11-20t10:07:31.002z', AT],
    ['2026-11-20T12:07:31.002+02:00', AT],
    ['2026-11-20T12:07:31.002+0200', AT],
    ['2026-11-20T12:07:31.002+02', AT],
    ['2026-11-20 04:37:31.002 -05:30', AT],
    ['2026-11-20 10:07:31,002', AT],
    ['2026-11-20T10:07:31.002', AT],
    ['2026-11-20T10:07:31.002999Z', AT],
    [' 2026-11-20T10:07:31.002Z ', AT],
    ['2026-11-20T10:07:31Z', AT - 2],
    ['2026-11-20T10:07Z', AT - 31_002],
    ['2026-11-20', Date.UTC(2026, 10, 20)],
    [AT, AT],
    [String(AT), AT],
    [AT / 1000, AT],
    [(AT - 2) / 1000, AT - 2],
    [String(AT / 1000), AT],
    [AT / 1000 + 0.0004, AT],
    [1, 1000],
  ])('%j', (value, ms) => {
    expect(dateMs(value)).toBe(ms);
  });

  test.each<JsonValue>([
    null,
    true,
    '',
    ' ',
    'yesterday',
    'May 1',
    '2026-13-01T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20 and more',
    '0001-01-01T00:00:00Z',
    '0001-01-01T00:00:00.000Z',
    '2026-13-01T00:00:00.000Z',
    0,
    -5,
    1e15,
    [],
    {},
    '1e9',
    '-3',
  ])('%j is none', (value) => {
    expect(dateMs(value)).toBeUndefined();
  });

  test('whatever way a date is written, it is the same', () => {
    const instants = fc.integer({ min: Date.UTC(2001, 0), max: Date.UTC(2099, 0) });
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
    fc.assert(
      fc.property(instants, offsets, (ms, offset) => {
        const size = Math.abs(offset);
        const clock = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0')).join(':');
        const local = new Date(ms + offset * 60_000).toISOString().slice(0, -1);
        const seconds = Math.floor(ms / 1000);
        expect(dateMs(new Date(ms).toISOString())).toBe(ms);
        expect(dateMs(`${local}${offset < 0 ? '-' : '+'}${clock}`)).toBe(ms);
        expect([dateMs(ms), dateMs(String(ms)), dateMs(seconds)]).toEqual([ms, ms, seconds * 1000]);
      }),
    );
  });
});

test.each<[JsonValue, number | undefined]>([
  [0, 0],
  [7, 7],
  ['7', 7],
  [' 07 ', 7],
  [-1, undefined],
  [1.5, undefined],
  ['', undefined],
  ['1.5', undefined],
  ['one', undefined],
  [null, undefined],
  [1e300, undefined],
])('the count %j is %j', (value, count) => {
  expect(countOf(value)).toBe(count);
});
