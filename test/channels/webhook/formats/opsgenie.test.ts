import { afterEach, expect, test } from 'vitest';
import { createOpsgenieReceiver } from '../../../../src/sandbox/receivers/formats/opsgenie.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../../support/alerts.ts';
import { openVendor } from '../../../support/webhooks.ts';

const API_KEY = 'eb243592-faa2-4ba2-a551-1afdf565c889';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const open = async (receiverConfig: object = { apiKey: API_KEY }, query = '') => {
  const receiver = createOpsgenieReceiver({ apiKey: API_KEY });
  const { url } = await receiver.start();
  const bench = openVendor(`${url}${query}`, { format: 'opsgenie', ...receiverConfig });
  closers.push(receiver.stop, bench.close);
  return { receiver, ...bench };
};

const followUp = (change: string, was: string, is: string) =>
  inspectionAlert({ id: change, type: `inspection.${change}`, followUp: { of: inspectionAlert().id, was, is } });

test('a critical alert is created with priority P1', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  expect(receiver.received().map(({ raw: { body } }) => body)).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(/^CRITICAL · Lending Pool · Lending vault: “Borrowed 12,400 ETH/),
      description: expect.stringContaining('> Drastic balance change: Balance fell by 61.5 %'),
      tags: ['inspection.critical', 'flashLoan', 'drasticBalanceChange'],
      details: expect.objectContaining({ Transaction: TX_HASH, Chain: 'Base (8453)' }),
      entity: 'Lending Pool',
      source: 'Tocsin',
      priority: 'P1',
    }),
  ]);
});

test('a downgrade closes it by its alias', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  expect([...receiver.openAliases().values()]).toEqual([1]);
  await deliver([followUp('downgraded', 'critical', 'ok')]);
  expect([...receiver.openAliases()]).toEqual([]);
  expect(receiver.received().at(-1)?.raw).toMatchObject({
    path: expect.stringMatching(/^\/v2\/alerts\/[\w.-]+\/close$/),
    query: 'identifierType=alias',
    body: { source: 'Tocsin', note: expect.stringContaining('OK (was CRITICAL)') },
  });
});

test('an upgrade is another alert, as Opsgenie would only count it under an open alias', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert({ item: { assessment: 'suspecious' } })]);
  await deliver([followUp('upgraded', 'suspecious', 'critical')]);
  expect([...receiver.openAliases().values()]).toEqual([1]);
  expect(receiver.received()).toHaveLength(3);
});

test('a downgrade to another bad assessment is another alert before the first is closed', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  await deliver([followUp('downgraded', 'critical', 'suspecious')]);
  expect([...receiver.openAliases().keys()]).toEqual([expect.stringMatching(/\.warning$/)]);
  expect(receiver.received()[1]?.raw.body).toMatchObject({ priority: 'P3' });
});

test('a replay is the same alias, and wakes nobody', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  await deliver([inspectionAlert({ replay: true })]);
  expect([...receiver.openAliases().values()]).toEqual([2]);
  expect(receiver.received()[1]?.raw.body).toMatchObject({ priority: 'P5' });
});

test('foreign text begins no tag of HTML', async () => {
  const { receiver, deliver } = await open();
  await deliver([notificationAlert('<script>alert(1)</script> <img src=x> 1 < 2 <!-- x')]);
  const body = JSON.stringify(receiver.received()[0]?.raw.body);
  expect(body).toContain('alert(1)');
  expect(body).not.toMatch(/<[A-Za-z/!?]/);
});

test('an authorization header of the config does instead of a key', async () => {
  const { receiver, deliver } = await open({ headers: { Authorization: `GenieKey ${API_KEY}` } });
  await deliver([inspectionAlert()]);
  expect(receiver.received()).toHaveLength(1);
});

test('a wrong key is retried for a while, as somebody may mend it, and is not shown', async () => {
  const { deliver } = await open({ apiKey: 'a-wrong-key-of-opsgenie' }, '?team=vaults');
  const error: unknown = await deliver([inspectionAlert()]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: 'unknown', code: '401' });
  expect(JSON.stringify(error) + String(error)).not.toContain('a-wrong-key');
});
