/** A tool for people on call has one incident for a transaction, whoever finds something in it and whatever becomes of it. */
import { expect, test } from 'vitest';
import { createOpsgenieReceiver } from '../../src/sandbox/receivers/formats/opsgenie.ts';
import { createPagerdutyReceiver } from '../../src/sandbox/receivers/formats/pagerduty.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const ROUTING_KEY = 'R0123456789abcdefghijklmnopqrstu';
const NAMES = ['Vault', 'Bridge', 'Market', 'Oracle', 'Bank', 'Swap'];
const HASH = `0x${'5033ab'.repeat(10)}5ccb`;
const CHAT = '-1001000000001';

const summaryIn = (body: unknown): string =>
  String((body as { payload?: { summary?: string } } | undefined)?.payload?.summary);

test('six protocols, an acknowledgement, a downgrade of one, and nothing bad any more: one incident', {
  timeout: 90_000,
}, async ({ onTestFinished: onFinished }) => {
  const pagerduty = createPagerdutyReceiver({ routingKey: ROUTING_KEY });
  const opsgenie = createOpsgenieReceiver({ apiKey: 'opsgenie-key' });
  onFinished(async () => {
    await Promise.all([pagerduty.stop(), opsgenie.stop()]);
  });
  const urls = [(await pagerduty.start()).url, (await opsgenie.start()).url];
  const [forPagerduty = '', forOpsgenie = ''] = urls;
  const channels = [...urls.map((url) => ({ name: 'webhook', url })), { name: 'telegram', contacts: [CHAT] }];
  const world = await startWorld({
    onFinished,
    names: NAMES,
    kinds: ['telegram', 'webhook'],
    config: {
      alerts: {
        acknowledge: true,
        secondLook: ['2s', '4s', '6s', '8s', '11s', '14s', '18s', '24s', '32s', '45s'],
      },
      protocols: { overrides: Object.fromEntries(NAMES.map((name) => [name, { channels }])) },
      channels: {
        webhook: {
          receivers: {
            [forPagerduty]: { format: 'pagerduty', routingKey: ROUTING_KEY },
            [forOpsgenie]: { format: 'opsgenie', apiKey: 'opsgenie-key' },
          },
        },
      },
    },
  });
  const daemon = await world.start();
  await daemon.watching();
  const { service, receivers } = world.sandbox;
  const { telegram } = receivers;
  await until('presses can arrive', () => telegram.updates.polling() === 1);

  const found = NAMES.map((protocol) =>
    service.insertInspection({ protocol, assessment: 'critical', chainId: 1, txHash: HASH }),
  );
  await until('all six are there', () => pagerduty.incidents()[0]?.triggers === 6 && opsgenie.alerts()[0]?.count === 6);
  expect(pagerduty.incidents()).toMatchObject([{ state: 'triggered', severity: 'critical' }]);
  expect(opsgenie.alerts()).toMatchObject([{ state: 'open', priority: 'P1' }]);
  const summaries = pagerduty.received().map(({ raw }) => summaryIn(raw.body));
  expect(summaries).toContainEqual(expect.stringMatching(/^CRITICAL · 6 protocols · one transaction: /));

  const [message] = telegram.received();
  await telegram.press({ chat: CHAT, messageId: message?.raw.messageId ?? 0, button: 'Acknowledge' });
  await until('somebody is at it', () => pagerduty.incidents()[0]?.state === 'acknowledged');
  await until('there as well', () => opsgenie.alerts()[0]?.state === 'acknowledged');
  expect(opsgenie.alerts()[0]?.notes.join('\n')).toContain('Acknowledged by “Ann”');

  const [first, ...others] = found;
  service.changeInspection(first?._id ?? '', { assessment: 'ok' });
  await until('one of them is none', () => opsgenie.alerts()[0]?.notes.join('\n').includes('OK (was CRITICAL)'));
  expect(opsgenie.alerts()).toMatchObject([{ state: 'acknowledged', priority: 'P1' }]);
  expect(pagerduty.incidents()).toMatchObject([{ state: 'acknowledged', severity: 'critical', triggers: 6 }]);

  for (const { _id: id } of others) service.changeInspection(id, { assessment: 'suspecious' });
  await until('the others are less bad', () => pagerduty.incidents()[0]?.severity === 'warning');
  await until('there as well', () => opsgenie.alerts()[0]?.priority === 'P3');
  expect(pagerduty.incidents()).toMatchObject([{ state: 'acknowledged' }]);

  for (const { _id: id } of others) service.changeInspection(id, { assessment: 'ok' });
  await until('it is over', () => pagerduty.openKeys().length + opsgenie.openAliases().size === 0);
  world.critical('Vault');
  await until('another transaction is another', () => pagerduty.openKeys().length + opsgenie.openAliases().size === 2);
  expect(pagerduty.incidents().map(({ state }) => state)).toEqual(['resolved', 'triggered']);
  expect(opsgenie.alerts().map(({ state }) => state)).toEqual(['closed', 'open']);
  const attempts = [...pagerduty.attempts(), ...opsgenie.attempts()];
  expect(attempts.filter(({ outcome }) => outcome !== 'accepted')).toEqual([]);
});

test('an incident whose last bad finding dies on its way is closed', { timeout: 90_000 }, async ({
  onTestFinished: onFinished,
}) => {
  const pagerduty = createPagerdutyReceiver({ routingKey: ROUTING_KEY });
  onFinished(() => pagerduty.stop());
  const { url } = await pagerduty.start();
  const channels = [
    { name: 'webhook', url },
    { name: 'telegram', contacts: [CHAT] },
  ];
  const world = await startWorld({
    onFinished,
    names: ['Vault', 'Bridge'],
    kinds: ['telegram', 'webhook'],
    config: {
      alerts: { secondLook: ['1s', '2s', '4s', '6s', '8s', '11s', '14s', '18s', '24s'] },
      protocols: { overrides: { Vault: { channels }, Bridge: { channels } } },
      channels: { webhook: { receivers: { [url]: { format: 'pagerduty', routingKey: ROUTING_KEY } } } },
    },
  });
  const daemon = await world.start();
  await daemon.watching();
  const { service, receivers } = world.sandbox;
  const insert = (protocol: string) =>
    service.insertInspection({ protocol, assessment: 'critical', chainId: 1, txHash: HASH });
  const first = insert('Vault');
  await until('it is open', () => pagerduty.openKeys().length === 1);
  const repair = pagerduty.script.always({ kind: 'answer', status: 503, body: 'later' });
  insert('Bridge');
  await until('the other waits', () => pagerduty.attempts().some(({ outcome }) => outcome === 'scripted'));
  service.changeInspection(first._id, { assessment: 'ok' });
  await until('the good news is out', () =>
    receivers.telegram.received().some(({ raw }) => JSON.stringify(raw).includes('OK (was CRITICAL)')),
  );
  // Three forms of a message are refused: then it is dead.
  pagerduty.script.next({ kind: 'answer', status: 400, body: '{"status":"invalid event"}' }, { times: 3 });
  repair();
  await until('it is over', () => pagerduty.openKeys().length === 0);
  expect(pagerduty.incidents().map(({ state }) => state)).toEqual(['resolved']);
  expect(await daemon.status()).toMatchObject({ dead: 1 });
});
