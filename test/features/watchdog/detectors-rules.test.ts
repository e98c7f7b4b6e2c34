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
  expect(diskTrouble('./data', space)).toBe(
    says && `the disk of the data folder of Tocsin (./data) is nearly full: ${says} are free`,
  );
});

test('a clock that differs by half a minute and more', () => {
  const of = (peer: string, aheadMs: number) => ({ peer, aheadMs });
  expect(clockTrouble([of('Redis', 29_999)])).toBeUndefined();
  expect(clockTrouble([of('Redis', -29_999)])).toBeUndefined();
  expect(clockTrouble([of('Redis', 30_000)])).toBe('the clock of Redis is 30 s ahead of ours');
  const main = 'the service main';
  expect(clockTrouble([of(main, -3_600_000), of('Redis', 10)])).toBe(
    'the clock of the service main is 60 min behind ours',
  );
});

test('where all clocks differ from ours it is ours: one cause is one condition', () => {
  const peers = [
    { peer: 'the service main', aheadMs: -3_600_000 },
    { peer: 'Redis', aheadMs: -3_600_100 },
  ];
  expect(clockTrouble(peers)).toBe('our clock is 60 min ahead of those of the service main, Redis');
  expect(clockTrouble([...peers, { peer: 'the service other', aheadMs: 0 }])).toBe(
    'the clock of the service main is 60 min behind ours, and 1 more differ',
  );
});
