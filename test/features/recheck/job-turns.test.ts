import { expect, test } from 'vitest';
import { hasRecheck, recheckEveryMs } from '../../../src/features/recheck/job.ts';

const config = (secondLook: number[], sources: ('inspections' | 'notifications')[] = ['inspections']) => ({
  alerts: { secondLook, sources, assessments: ['critical' as const] },
});

test('rechecks run where there are offsets and inspections are read', () => {
  expect(hasRecheck(config([120_000]))).toBe(true);
  expect(hasRecheck(config([]))).toBe(false);
  expect(hasRecheck(config([120_000], ['notifications']))).toBe(false);
});

test.each([
  [[900_000, 120_000], 15_000],
  [[900_000, 40_000], 5000],
  [[100], 100],
])('with the offsets %j they run every %d ms', (offsets, everyMs) => {
  expect(recheckEveryMs(config(offsets))).toBe(everyMs);
});
