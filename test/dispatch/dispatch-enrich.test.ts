import { expect, test } from 'vitest';
import { enrich } from '../../src/dispatch/dispatch.ts';
import { makeAlert } from '../support/numbered.ts';
import { MAIL, routed, runOf } from './stages.ts';

test('each alert gets its own context, and keeps its destinations', async () => {
  const withContext = async (alerts: readonly { itemId: string }[]) =>
    alerts.map(({ itemId }, index) => makeAlert(index + 1, { itemId, context: { adminOf: [itemId] } }));
  const { alerts } = await enrich(runOf(routed(1, MAIL), routed(2)), { withContext });
  expect(alerts.map(({ alert }) => alert.context)).toEqual([{ adminOf: ['item-1'] }, { adminOf: ['item-2'] }]);
  expect(alerts.map(({ destinations }) => destinations)).toEqual([[MAIL], []]);
});

test('without anybody who enriches, alerts stay as they are', async () => {
  expect(await enrich(runOf(routed(1, MAIL)), {})).toEqual(runOf(routed(1, MAIL)));
});
