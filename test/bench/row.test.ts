/** What makes `make bench` fail. */
import { describe, expect, test } from 'vitest';
import { isMet, isWorse, type Row, watchedOf } from '../../bench/row.ts';

const row = (measured: number, wanted: Row['wanted'], yardstick?: Row['yardstick']): Row => ({
  key: 'key',
  work: 'work',
  unit: 'us',
  measured,
  wanted,
  ...(yardstick && { yardstick }),
});

describe('a row', () => {
  test('is watched by its value, or by its ratio to the yardstick', () => {
    expect(watchedOf(row(30, { of: 'value', most: 1 }, { name: 'floor', measured: 10 }))).toBe(30);
    expect(watchedOf(row(30, { of: 'ratio', most: 1 }, { name: 'floor', measured: 10 }))).toBe(3);
    expect(watchedOf(row(30, { of: 'ratio', most: 1 }, { name: 'floor', measured: 10, ratio: 2.9 }))).toBe(2.9);
    const slow = { ...row(30, { of: 'value', most: 40 }, { name: 'floor', measured: 10 }), watched: 'ratio' } as const;
    expect([watchedOf(slow), isMet(slow)]).toEqual([3, true]);
  });

  test('that is a bound of less is worse when it is larger by more than a quarter', () => {
    const least = { of: 'value', most: 5 } as const;
    expect([4, 12.4, 12.6].map((value) => isWorse(row(value, least), 10))).toEqual([false, false, true]);
    expect([5, 5.1].map((value) => isMet(row(value, least)))).toEqual([true, false]);
  });

  test('that is a bound of more is worse when it is smaller by more than a quarter', () => {
    const most = { of: 'ratio', least: 1.3 } as const;
    const beside = { name: 'Alertmanager', measured: 100 };
    expect([300, 81, 79].map((value) => isWorse(row(value, most, beside), 1))).toEqual([false, false, true]);
    expect([131, 129].map((value) => isMet(row(value, most, beside)))).toEqual([true, false]);
  });

  test('without its yardstick is not watched; one that could not be measured is worse', () => {
    expect(watchedOf(row(30, { of: 'ratio', most: 1 }))).toBeUndefined();
    expect(isMet(row(30, { of: 'ratio', most: 1 }))).toBeUndefined();
    expect(isWorse(row(30, { of: 'ratio', most: 1 }), 1)).toBe(false);
    expect(isWorse(row(Number.NaN, { of: 'value', most: 1 }), 1)).toBe(true);
    expect(isWorse(row(1000, { of: 'value', most: 1 }), undefined)).toBe(false);
  });
});
