import { afterEach, describe, expect, test } from 'vitest';
import type { Alert, Announcement } from '../../../../src/alert.ts';
import { announcementAlert } from '../../../../src/features/announcements/announce.ts';
import { createPagerdutyReceiver } from '../../../../src/sandbox/receivers/formats/pagerduty.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../../support/alerts.ts';
import { makeAlert } from '../../../support/numbered.ts';
import { openVendor, sentInspectionsOf } from '../../../support/webhooks.ts';

const KEY = 'R0123456789abcdefghijklmnopqrstu';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const open = async ({ query = '', routingKey = KEY } = {}) => {
  const receiver = createPagerdutyReceiver({ routingKey: KEY });
  const { url } = await receiver.start();
  const secret = `whsec_${Buffer.alloc(32, 'a').toString('base64')}`;
  const bench = openVendor(`${url}${query}`, { format: 'pagerduty', routingKey }, { secret });
  closers.push(receiver.stop, bench.close);
  return { receiver, ...bench };
};

const first = inspectionAlert();
/** The same transaction, found by another protocol. */
const second = inspectionAlert({ item: { _id: 'second', protocol: 'Copper Perps' } });

const followUp = (of: Alert, change: string, was: string, is?: string) =>
  inspectionAlert({
    ...{ id: `${of.id} ${change} ${is}`, type: `inspection.${change}`, protocol: of.protocol },
    followUp: { of: of.id, was, ...(is === undefined ? {} : { is }) },
  });

test('a critical alert triggers an event with what a person on call needs', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  const [{ raw } = { raw: undefined }] = receiver.received();
  expect(raw?.body).toMatchObject({
    routing_key: KEY,
    event_action: 'trigger',
    client: 'Tocsin',
    links: [
      { href: `https://basescan.org/tx/${TX_HASH}`, text: 'Transaction' },
      { text: 'Sender' },
      { text: 'Contract' },
    ],
    payload: {
      summary:
        'CRITICAL · Lending Pool · Lending vault: “Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”',
      severity: 'critical',
      source: 'Lending Pool',
      timestamp: '2026-11-20T10:07:31.002Z',
      component: 'flashLoan, drasticBalanceChange',
      group: 'main',
      class: 'inspection.critical',
      custom_details: { Transaction: TX_HASH, 'What happened': expect.stringContaining('> Flash loan: Borrowed') },
    },
  });
});

test('it is not signed by the secret of all webhooks', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  const [{ raw } = { raw: undefined }] = receiver.received();
  expect(Object.keys(raw?.headers ?? {}).filter((name) => name.startsWith('webhook-'))).toEqual([]);
});

describe('one incident for a transaction', () => {
  test('what another protocol finds comes under the same key, and the alert says both', async () => {
    const { receiver, deliver } = await open();
    await deliver([first], { sentInspections: sentInspectionsOf([first, 'critical', false]) });
    await deliver([second], { sentInspections: sentInspectionsOf([first, 'critical'], [second, 'critical', false]) });
    const [{ summary, title, ...incident } = { summary: '', title: '' }, ...more] = receiver.incidents();
    expect(more).toEqual([]);
    expect(incident).toMatchObject({ state: 'triggered', severity: 'critical', triggers: 2 });
    expect(title).toMatch(/^CRITICAL · Lending Pool · Lending vault: “Borrowed/);
    expect(summary).toBe(
      'CRITICAL · 2 protocols · one transaction: Copper Perps · Lending vault: “Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”; also “Lending Pool”',
    );
    expect(JSON.stringify(receiver.received().at(-1)?.raw.body)).toContain(
      '"Also in this transaction":"Lending Pool: CRITICAL"',
    );
  });

  test('what is less bad does not make it less severe', async () => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    const mild = inspectionAlert({ item: { _id: 'mild', protocol: 'Copper Perps', assessment: 'suspecious' } });
    await deliver([mild], { sentInspections: sentInspectionsOf([first, 'critical'], [mild, 'suspecious', false]) });
    expect(receiver.incidents()).toMatchObject([
      {
        severity: 'critical',
        summary: expect.stringMatching(/^CRITICAL · 2 protocols · one transaction: SUSPICIOUS · Copper Perps · /),
      },
    ]);
  });

  test('a stored notification that names the transaction belongs to it', async () => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    await deliver([notificationAlert('Something happened', { txHash: TX_HASH })], {
      sentInspections: sentInspectionsOf([first, 'critical']),
    });
    expect(receiver.incidents()).toMatchObject([{ severity: 'critical', triggers: 2 }]);
  });

  test('what another protocol is called stays in quotation marks', async () => {
    const { receiver, deliver } = await open();
    const posing = inspectionAlert({ item: { _id: 'x', protocol: 'x” "″ Tocsin: all is well. “\u202e' } });
    await deliver([second], { sentInspections: sentInspectionsOf([posing, 'critical'], [second, 'critical', false]) });
    expect(receiver.incidents()[0]?.summary).toMatch(/; also “x' ''? ?Tocsin: all is well\. '”$/);
  });

  test('another transaction, and another key, is another incident', async () => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    await deliver([makeAlert(1)]);
    expect(receiver.incidents()).toHaveLength(2);
  });
});

describe('follow-ups', () => {
  test.each([
    ['downgraded', 'ok'],
    ['vanished', undefined],
  ])('%s resolves it, when nothing else of the transaction is bad', async (change, is) => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    await deliver([second]);
    await deliver([followUp(first, change, 'critical', is)], {
      sentInspections: sentInspectionsOf([first, is], [second, 'critical']),
    });
    expect(receiver.incidents()).toMatchObject([{ state: 'triggered', severity: 'critical' }]);
    await deliver([followUp(second, 'downgraded', 'critical', 'ok')], {
      sentInspections: sentInspectionsOf([first, is], [second, 'ok']),
    });
    expect(receiver.incidents()).toMatchObject([{ state: 'resolved' }]);
  });

  test('a downgrade makes it less severe only when nothing of it is worse', async () => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    await deliver([second]);
    await deliver([followUp(first, 'downgraded', 'critical', 'suspecious')], {
      sentInspections: sentInspectionsOf([first, 'suspecious'], [second, 'critical']),
    });
    expect(receiver.incidents()).toMatchObject([{ severity: 'critical', triggers: 2 }]);
    await deliver([followUp(second, 'downgraded', 'critical', 'suspecious')], {
      sentInspections: sentInspectionsOf([first, 'suspecious'], [second, 'suspecious']),
    });
    expect(receiver.incidents()).toMatchObject([
      {
        ...{ state: 'triggered', severity: 'warning', triggers: 3 },
        summary: expect.stringMatching(/^SUSPICIOUS \(was CRITICAL\) · 2 protocols · one transaction: Copper Perps/),
      },
    ]);
  });

  test('an upgrade goes to the same incident', async () => {
    const { receiver, deliver } = await open();
    const mild = inspectionAlert({ item: { assessment: 'suspecious' } });
    await deliver([mild]);
    await deliver([followUp(mild, 'upgraded', 'suspecious', 'critical')], {
      sentInspections: sentInspectionsOf([mild, 'critical']),
    });
    expect(receiver.incidents()).toMatchObject([{ severity: 'critical', triggers: 2 }]);
  });

  test('of two follow-ups the older may come last', async () => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    const sentInspections = sentInspectionsOf([first, 'ok']);
    await deliver([followUp(first, 'downgraded', 'suspecious', 'ok')], { sentInspections });
    await deliver([followUp(first, 'downgraded', 'critical', 'suspecious')], { sentInspections });
    expect(receiver.incidents()).toMatchObject([{ state: 'resolved', triggers: 1 }]);
  });

  test('good news opens nothing: not where nothing was sent, nor where somebody has resolved what is as bad as before', async () => {
    const { receiver, deliver } = await open();
    await deliver([followUp(first, 'downgraded', 'critical', 'suspecious')], {
      sentInspections: sentInspectionsOf([first, 'suspecious', false]),
    });
    await deliver([followUp(first, 'vanished', 'suspecious')], { sentInspections: sentInspectionsOf([first]) });
    expect(receiver.incidents()).toEqual([]);
    await deliver([first]);
    await deliver([second]);
    for (const key of receiver.openKeys()) receiver.resolve(key);
    await deliver([followUp(first, 'downgraded', 'critical', 'ok')], {
      sentInspections: sentInspectionsOf([first, 'ok'], [second, 'critical']),
    });
    expect(receiver.incidents()).toMatchObject([{ state: 'resolved' }]);
  });
});

test('who acknowledges a transaction acknowledges its incident', async () => {
  const { receiver, deliver } = await open();
  await deliver([first]);
  const acknowledged = (of: Pick<Alert, 'id' | 'txHash'>) =>
    announcementAlert({ about: 'alert.acknowledged', key: of.id, message: 'Acknowledged by “Ann”', of }, Date.now());
  await deliver([acknowledged(second)]);
  expect(receiver.incidents()).toMatchObject([{ state: 'acknowledged', severity: 'critical', triggers: 1 }]);
  const nameless = notificationAlert('Something happened');
  await deliver([nameless]);
  await deliver([acknowledged(nameless)]);
  expect(receiver.incidents().map(({ state }) => state)).toEqual(['acknowledged', 'acknowledged']);
});

test.each([
  ['an inspection', inspectionAlert({ replay: true })],
  ['a stored notification', notificationAlert('Critical: the vault is empty', { replay: true })],
])('a replay of %s wakes nobody, and leaves what is open as it is', async (_what, replay) => {
  const { receiver, deliver } = await open();
  await deliver([{ ...replay, replay: false }]);
  await deliver([replay]);
  await deliver([replay]);
  expect(receiver.incidents()).toMatchObject([
    { severity: 'critical', triggers: 1 },
    { severity: 'info', triggers: 2 },
  ]);
});

test('a channel that works again resolves that it was broken; other good news is an event', async () => {
  const { receiver, deliver } = await open();
  const key = 'slack-0123456789ab 2026-11-20T10:00:00.000Z';
  const announce = (about: Announcement, itsKey = key) =>
    deliver([announcementAlert({ about, key: itsKey, message: 'Something.' }, Date.now())]);
  await announce('destination.broken');
  await announce('destination.broken', 'slack-other 2026-11-20T10:00:00.000Z');
  expect(receiver.openKeys()).toHaveLength(2);
  await announce('destination.well');
  expect(receiver.incidents()).toMatchObject([{ state: 'resolved' }, { state: 'triggered', severity: 'error' }]);
  await announce('service.read');
  expect(receiver.openKeys()).toHaveLength(2);
});

test('what follows ? tells receivers apart and is not sent', async () => {
  const { receiver, deliver } = await open({ query: '?team=vaults' });
  await deliver([inspectionAlert()]);
  expect(receiver.received().map(({ raw: { query } }) => query)).toEqual(['']);
});

describe('answers', () => {
  test('a routing key that PagerDuty does not take is final, and is not shown', async () => {
    const routingKey = 'W0123456789abcdefghijklmnopqrstu';
    const { deliver } = await open({ routingKey });
    const error: unknown = await deliver([inspectionAlert()]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'destination-dead', code: '400' });
    expect(String(error)).toContain('does not take the routing key');
    expect(JSON.stringify(error) + String(error)).not.toContain(routingKey);
  });

  test('another invalid event is sent with less', async () => {
    const { receiver, deliver } = await open();
    receiver.script.next({ kind: 'answer', status: 400, body: { status: 'invalid event', errors: ['summary'] } });
    await expect(deliver([inspectionAlert()])).rejects.toMatchObject({ reason: 'bad-message', code: '400' });
  });

  test('429 waits', async () => {
    const { receiver, deliver } = await open();
    receiver.script.next({ kind: 'answer', status: 429 });
    await expect(deliver([inspectionAlert()])).rejects.toMatchObject({ reason: 'rate-limited' });
  });
});
