/** What leads where: made again only when the review found other protocols. */
import { expect, test } from 'vitest';
import { createRouteDetails } from '../../../src/features/page/details.ts';
import { destinationOf } from '../../support/alerts.ts';

const SLACK = destinationOf('slack', 'C1');

test('is made once for each listing, with names and rates', async () => {
  let [revision, made] = [1, 0];
  const review = {
    revision: () => revision,
    destinations: () => {
      made += 1;
      return [SLACK];
    },
    protocolsOf: () => new Map([[SLACK.id, ['Vault', 'Bridge']]]),
  };
  const routes = createRouteDetails({ review, rateOf: () => ({ perSecond: 1 }) });
  const first = await routes();
  expect([...first.rates]).toEqual([[SLACK.id, '1/s']]);
  expect([...first.destinationsOf]).toEqual([
    ['Vault', ['slack C1']],
    ['Bridge', ['slack C1']],
  ]);
  await routes();
  expect(made).toBe(1);
  revision = 2;
  await routes();
  expect(made).toBe(2);
});
