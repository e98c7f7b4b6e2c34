import { expect, test } from 'vitest';
import { correlate } from '../../src/dispatch/dispatch.ts';
import { left, MAIL, routed, runOf, SLACK } from './stages.ts';

test('destinations where another alert covers it are left out, and what may be covered soon waits', async () => {
  const run = await correlate(runOf(routed(1, MAIL, SLACK), routed(2, MAIL), routed(3, MAIL)), {
    uncoveredAt: async ({ itemId }, destinations) => {
      if (itemId === 'item-1') return destinations.filter(({ kind }) => kind === 'slack');
      return itemId === 'item-2' ? [] : destinations;
    },
    delayOf: ({ itemId }) => (itemId === 'item-3' ? 3000 : undefined),
  });
  expect(left(run)).toEqual([
    ['item-1', ['slack']],
    ['item-3', ['email']],
  ]);
  expect(run.alerts.map(({ delayMs }) => delayMs)).toEqual([undefined, 3000]);
});

test('without a comparison everything goes on at once', async () => {
  expect(await correlate(runOf(routed(1, MAIL)), {})).toEqual(runOf(routed(1, MAIL)));
});
