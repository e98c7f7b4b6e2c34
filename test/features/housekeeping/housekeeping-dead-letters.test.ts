/** Dead letters beyond their bound: what goes is counted and logged. */
import { expect, test } from 'vitest';
import { createDeadLetterBound } from '../../../src/features/housekeeping/housekeeping.ts';
import { createDeadLetters } from '../../../src/ledger/dead-letters.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

test('what is removed is counted and logged, and nothing is said of nothing', async () => {
  const { redis, prefix } = openTestRedis();
  const dead = createDeadLetters(redis, prefix, 2);
  const metrics = createMetrics({ version: 'test' });
  const lines: object[] = [];
  const log = { error: (line: object) => void lines.push(line) } as Parameters<typeof createDeadLetterBound>[2];
  const keep = createDeadLetterBound(dead, metrics, log);
  const add = async (n: number) => {
    const at = new Date(Date.UTC(2026, 10, 20, 12, n)).toISOString();
    await dead.add({ alert: makeAlert(n), reason: 'unknown', message: 'gone', attempts: 1, at });
  };
  for (const n of [1, 2]) await add(n);
  await keep();
  expect(lines).toEqual([]);
  expect(await metrics.text()).toContain('tocsin_dead_removed_total 0');
  for (const n of [3, 4, 5]) await add(n);
  await keep();
  expect((await dead.list()).map(({ alert }) => alert.itemId)).toEqual(['item-4', 'item-5']);
  expect(lines).toMatchObject([{ removedLetters: 3 }]);
  expect(await metrics.text()).toContain('tocsin_dead_removed_total 3');
});
