import { expect, test } from 'vitest';
import { suppress } from '../../src/dispatch/dispatch.ts';
import { left, MAIL, routed, runOf, SLACK } from './stages.ts';

test('an alert goes on where it is not suppressed, and ends here where it is suppressed everywhere', async () => {
  const run = await suppress(runOf(routed(1, MAIL, SLACK), routed(2, MAIL)), {
    filter: async (alerts) =>
      alerts.map((one) => ({ ...one, destinations: one.destinations.filter(({ kind }) => kind !== 'email') })),
  });
  expect(left(run)).toEqual([['item-1', ['slack']]]);
});

test('nothing is asked where there is no alert', async () => {
  const filter = () => Promise.reject(new Error('asked'));
  expect(await suppress(runOf(), { filter })).toEqual(runOf());
});
