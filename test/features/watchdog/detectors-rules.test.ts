import { expect, test } from 'vitest';
import { clockTrouble, diskTrouble } from '../../../src/features/watchdog/detectors.ts';

const GB = 1e9;

test.each([
  [{ free: 50e6, size: 500e6 }, '50 MB of 500 MB'],
  [{ free: 99e6, size: 0.2 * GB }, '99 MB of 200 MB'],
  [{ free: 4.9 * GB, size: 100 * GB }, '4.9 GB of 100.0 GB'],
  [{ free: 5 * GB, size: 10_000 * GB }, undefined],
  [{ free: 0.1 * GB, size: 1 * GB }, undefined],
  [{ free: 6 * GB, size: 100 * GB }, undefined],
])('a disk with %o', (space, says) => {
  expect(diskTrouble('./data', space)).toBe(says && `the disk of dataDir (./data) is nearly full: ${says} are free`);
});

test('a clock that differs by half a minute and more', () => {
  expect(clockTrouble('Redis', 29_999)).toBeUndefined();
  expect(clockTrouble('Redis', -29_999)).toBeUndefined();
  expect(clockTrouble('Redis', 30_000)).toBe('the clock of Redis is 30 s ahead of ours');
  expect(clockTrouble('the service main', -3_600_000)).toBe('the clock of the service main is 60 min behind ours');
});
