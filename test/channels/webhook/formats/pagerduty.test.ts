import { afterEach, describe, expect, test } from 'vitest';
import type { Announcement } from '../../../../src/alert.ts';
import { announcementAlert } from '../../../../src/features/announcements/announce.ts';
import { createPagerdutyReceiver } from '../../../../src/sandbox/receivers/formats/pagerduty.ts';
import { inspectionAlert, notificationAlert, TX_HASH } from '../../../support/alerts.ts';
import { openVendor } from '../../../support/webhooks.ts';

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

const first = inspectionAlert({ item: { assessment: 'suspecious' } });
const followUp = (change: string, was: string, is?: string) =>
  inspectionAlert({
    id: `${change} ${was}`,
    type: `inspection.${change}`,
    followUp: { of: first.id, was, ...(is === undefined ? {} : { is }) },
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
      { text: 'Origin' },
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

describe('follow-ups', () => {
  test.each([
    ['downgraded', 'suspecious', 'ok'],
    ['vanished', 'suspecious', undefined],
  ])('%s resolves what it follows', async (change, was, is) => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    expect(receiver.openKeys()).toHaveLength(1);
    await deliver([followUp(change, was, is)]);
    expect(receiver.openKeys()).toEqual([]);
  });

  test('an upgrade is an event of its own, and the last downgrade ends it', async () => {
    const { receiver, deliver } = await open();
    await deliver([first]);
    const [warning] = receiver.openKeys();
    await deliver([followUp('upgraded', 'suspecious', 'critical')]);
    const [critical, ...more] = receiver.openKeys();
    expect(more).toEqual([]);
    expect(critical).not.toBe(warning);
    const actions = receiver.received().map(({ raw: { body } }) => JSON.parse(JSON.stringify(body)).event_action);
    expect(actions).toEqual(['trigger', 'trigger', 'resolve']);
    await deliver([followUp('downgraded', 'critical', 'ok')]);
    expect(receiver.openKeys()).toEqual([]);
  });

  test('a downgrade to another bad assessment stays open as what it is now', async () => {
    const { receiver, deliver } = await open();
    await deliver([inspectionAlert()]);
    await deliver([followUp('downgraded', 'critical', 'suspecious')]);
    expect(receiver.openKeys()).toEqual([expect.stringMatching(/\.warning$/)]);
    const events = receiver.received().map(({ raw: { body } }) => JSON.parse(JSON.stringify(body)));
    expect(events.map(({ event_action: action }) => action)).toEqual(['trigger', 'trigger', 'resolve']);
    expect(events[1].payload).toMatchObject({ severity: 'warning', class: 'inspection.downgraded' });
    await deliver([followUp('downgraded', 'suspecious', 'ok')]);
    expect(receiver.openKeys()).toEqual([]);
  });
});

test.each([
  ['an inspection', inspectionAlert({ replay: true }), 'critical'],
  ['a stored notification', notificationAlert('Critical: the vault is empty', { replay: true }), 'critical'],
])('a replay of %s wakes nobody, and has the key of what it replays', async (_what, replay, severity) => {
  const { receiver, deliver } = await open();
  await deliver([replay]);
  await deliver([{ ...replay, replay: false }]);
  const events = receiver.received().map(({ raw: { body } }) => JSON.parse(JSON.stringify(body)));
  expect(events.map(({ payload }) => payload.severity)).toEqual(['info', severity]);
  expect(events[0].dedup_key).toBe(events[1].dedup_key);
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
  expect(receiver.openKeys()).toEqual([expect.stringMatching(/\.error$/)]);
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
