import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ageText, ago, clock, clockText, durationText, elapsedText, iso, parseTime, spanText } from '../src/time.ts';

const AT = Date.UTC(2026, 10, 21, 10, 7, 31, 2);
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test('iso and parseTime are each other’s inverse', () => {
  expect(iso(AT)).toBe('2026-11-21T10:07:31.002Z');
  fc.assert(fc.property(fc.integer({ min: 0, max: 4e12 }), (at) => parseTime(iso(at)) === at));
});

describe('parseTime', () => {
  test.each([
    ['2026-11-21T10:07Z', Date.UTC(2026, 10, 21, 10, 7)],
    ['2026-11-21T11:07:31+01:00', Date.UTC(2026, 10, 21, 10, 7, 31)],
  ])('reads %s', (text, at) => expect(parseTime(text)).toBe(at));

  test.each(['2026-11-21', '1', '', 'yesterday', '2026-13-45T99:99', 1, null, undefined, {}])(
    'gives NaN for %j',
    (value) => expect(parseTime(value)).toBeNaN(),
  );
});

describe('clock', () => {
  test.each([
    ['minutes', '2026-11-21 10:07'],
    ['seconds', '2026-11-21 10:07:31'],
    ['milliseconds', '2026-11-21 10:07:31.002'],
  ] as const)('shows %s, of both ways to write a moment', (precision, shown) => {
    expect(clock(AT, precision)).toBe(shown);
    expect(clock(iso(AT), precision)).toBe(shown);
    expect(clockText(AT, precision)).toBe(`${shown} UTC`);
  });

  test('shows seconds unless asked for more', () => {
    expect(clock(AT)).toBe('2026-11-21 10:07:31');
    expect(clockText('2026-11-21T10:07:31Z', 'milliseconds')).toBe('2026-11-21 10:07:31 UTC');
  });
});

test.each([
  ['2026-11-20 10:07:12 UTC', '2026-11-20 10:07:12 UTC', '2026-11-20 10:07:12 UTC'],
  ['2026-11-20 10:07:12 UTC', '2026-11-20 10:12:31 UTC', '2026-11-20 10:07:12 to 10:12:31 UTC'],
  ['2026-11-20 23:59:00 UTC', '2026-11-21 00:01:00 UTC', '2026-11-20 23:59:00 UTC to 2026-11-21 00:01:00 UTC'],
])('the span of %s and %s is %s', (from, to, span) => expect(spanText(from, to)).toBe(span));

test.each([
  [0, '0 s'],
  [1, '1 ms'],
  [SECOND, '1 s'],
  [1500, '1500 ms'],
  [MINUTE, '60 s'],
  [2 * MINUTE, '2 min'],
  [90 * SECOND, '90 s'],
  [HOUR, '60 min'],
  [24 * HOUR, '24 h'],
])('durationText(%i) is %s: nothing is lost', (ms, text) => expect(durationText(ms)).toBe(text));

test.each([
  [0, '0 s'],
  [499, '0 s'],
  [12_400, '12 s'],
  [119_999, '120 s'],
  [2 * MINUTE, '2 min'],
  [2 * HOUR - 1, '120 min'],
  [2 * HOUR, '2 h'],
  [2 * DAY - 1, '48 h'],
  [2 * DAY, '2 d'],
])('ageText(%i) is %s', (ms, text) => expect(ageText(ms)).toBe(text));

test.each([
  [0, '0 s'],
  [999, '0 s'],
  [59_999, '59 s'],
  [MINUTE, '1 min'],
  [HOUR - 1, '59 min'],
  [HOUR, '1 h'],
  [DAY - 1, '23 h'],
  [DAY, '1 d'],
])('elapsedText(%i) is %s: only whole units count', (ms, text) => expect(elapsedText(ms)).toBe(text));

test.each([
  [undefined, 'never'],
  [AT, '0 s ago'],
  [AT - 4 * MINUTE, '4 min ago'],
  [iso(AT - 3 * HOUR), '3 h ago'],
  [AT + HOUR, '0 s ago'],
])('ago(%j) is %s', (at, text) => {
  expect(ago(at, AT)).toBe(text);
  expect(ago(at, iso(AT))).toBe(text);
});
