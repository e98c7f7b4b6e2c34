import { afterEach, expect, test } from 'vitest';
import { announcementAlert } from '../../../../src/features/announcements/announce.ts';
import { createOpsgenieReceiver } from '../../../../src/sandbox/receivers/formats/opsgenie.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../../support/alerts.ts';
import { openVendor, sentInspectionsOf } from '../../../support/webhooks.ts';

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

test('an upgrade goes into the open alert', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert({ item: { assessment: 'suspecious' } })]);
  await deliver([followUp('upgraded', 'suspecious', 'critical')]);
  expect(receiver.alerts()).toMatchObject([
    { state: 'open', count: 2, priority: 'P1', message: expect.stringContaining('CRITICAL (was SUSPICIOUS)') },
  ]);
});

test('what another protocol finds in the transaction goes into the open alert', async () => {
  const { receiver, deliver } = await open();
  const first = inspectionAlert({ item: { assessment: 'suspecious' } });
  const second = inspectionAlert({ item: { _id: 'second', protocol: 'Copper Perps' } });
  await deliver([first]);
  await deliver([second], { sentInspections: sentInspectionsOf([first, 'suspecious'], [second, 'critical', false]) });
  const [{ message, notes, ...alert } = { message: '', notes: [] }, ...more] = receiver.alerts();
  expect(more).toEqual([]);
  expect(alert).toMatchObject({ state: 'open', priority: 'P1', count: 2 });
  expect(message).toMatch(/^CRITICAL · 2 protocols · one transaction: Copper Perps · Lending vault: “Borrowed/);
  expect(message.length).toBeLessThanOrEqual(130);
  expect(notes).toEqual([expect.stringContaining('> Flash loan: Borrowed 12,400 ETH')]);
});

test('where one protocol of a transaction is well, the open alert says which are not', async () => {
  const { receiver, deliver } = await open();
  const second = inspectionAlert({ item: { _id: 'second', protocol: 'Copper Perps' } });
  await deliver([inspectionAlert()]);
  await deliver([followUp('downgraded', 'critical', 'ok')], {
    sentInspections: sentInspectionsOf([inspectionAlert(), 'ok'], [second, 'critical']),
  });
  expect(receiver.alerts()).toMatchObject([
    {
      ...{ state: 'open', priority: 'P1' },
      message: expect.stringMatching(
        /^CRITICAL · one transaction: still “Copper Perps”; OK \(was CRITICAL\) · Lending Pool/,
      ),
    },
  ]);
});

test('a downgrade to another bad assessment changes the open alert, and opens none', async () => {
  const { receiver, deliver } = await open();
  const downgrade = followUp('downgraded', 'critical', 'suspecious');
  await deliver([inspectionAlert()]);
  await deliver([downgrade]);
  const changed = { priority: 'P3', message: expect.stringMatching(/^SUSPICIOUS \(was CRITICAL\) · /), count: 1 };
  expect(receiver.alerts()).toMatchObject([{ state: 'open', ...changed }]);
  for (const alias of receiver.openAliases().keys()) receiver.close(alias);
  await deliver([downgrade]);
  expect(receiver.alerts()).toMatchObject([{ state: 'closed', ...changed }]);
});

test('who acknowledges a transaction acknowledges its alert, which says who', async () => {
  const { receiver, deliver } = await open();
  const of = inspectionAlert();
  await deliver([of]);
  const message = 'Acknowledged by “Ann”, 02:45:10 UTC';
  await deliver([announcementAlert({ about: 'alert.acknowledged', key: '1', message, of }, Date.now())]);
  expect(receiver.alerts()).toMatchObject([{ state: 'acknowledged', count: 1, notes: [message] }]);
});

test('a replay is an alert of its own, and wakes nobody', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  await deliver([inspectionAlert({ replay: true })]);
  expect(receiver.alerts()).toMatchObject([
    { priority: 'P1', count: 1 },
    { priority: 'P5', count: 1 },
  ]);
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
