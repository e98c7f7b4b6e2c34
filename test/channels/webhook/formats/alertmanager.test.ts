import { afterEach, expect, test } from 'vitest';
import { announcementAlert } from '../../../../src/features/announcements/announce.ts';
import { sampleAlert } from '../../../../src/features/sample/sample.ts';
import { createAlertmanagerReceiver } from '../../../../src/sandbox/receivers/formats/alertmanager.ts';
import { inspectionAlert, TX_HASH } from '../../../support/alerts.ts';
import { openVendor } from '../../../support/webhooks.ts';

const HOUR_MS = 3_600_000;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** `clockMs`: how far the receiver's clock is ahead of ours. */
const open = async (settings: object = {}, clockMs = 0) => {
  const receiver = createAlertmanagerReceiver({ now: () => Date.now() + clockMs });
  const { url } = await receiver.start();
  const bench = openVendor(url, { format: 'alertmanager', ...settings });
  closers.push(receiver.stop, bench.close);
  return { receiver, ...bench };
};

const followUp = (change: string, was: string, is: string) =>
  inspectionAlert({
    id: change,
    type: `inspection.${change}`,
    at: '2026-11-20T10:09:00.000Z',
    followUp: { of: inspectionAlert().id, was, is },
  });

const firing = (receiver: { firingAt(time: number): object[] }, inMs = 1000) => receiver.firingAt(Date.now() + inMs);

test('a critical alert fires for a day, as Alertmanager would end one without an end after five minutes', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  const labels = {
    alertname: 'TocsinInspection',
    severity: 'critical',
    service: 'main',
    protocol: 'Lending Pool',
    alert_key: expect.stringMatching(/^msg_[0-9a-f]{32}\.critical$/),
  };
  expect(firing(receiver, 23 * HOUR_MS)).toEqual([labels]);
  expect(firing(receiver, 25 * HOUR_MS)).toEqual([]);
  expect(receiver.received()[0]?.raw.body).toMatchObject([
    {
      startsAt: '2026-11-20T10:07:31.002Z',
      generatorURL: `https://basescan.org/tx/${TX_HASH}`,
      annotations: {
        summary: expect.stringContaining('Borrowed 12,400 ETH'),
        chain: 'Base',
        type: 'inspection.critical',
      },
    },
  ]);
});

test.each([0, -30_000, 30_000])('a downgrade ends it, with clocks %i ms apart', async (clockMs) => {
  const { receiver, deliver } = await open({}, clockMs);
  await deliver([inspectionAlert()]);
  await deliver([followUp('downgraded', 'critical', 'ok')]);
  expect(receiver.firingAt(Date.now() + clockMs)).toEqual([]);
});

test('an upgrade raises one and ends the other in one request', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert({ item: { assessment: 'suspecious' } })]);
  await deliver([followUp('upgraded', 'suspecious', 'critical')]);
  expect(firing(receiver)).toEqual([expect.objectContaining({ severity: 'critical' })]);
  expect(receiver.received()).toHaveLength(2);
});

test('a downgrade to another bad assessment fires as what it is now', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert()]);
  await deliver([followUp('downgraded', 'critical', 'suspecious')]);
  expect(firing(receiver)).toEqual([expect.objectContaining({ severity: 'warning' })]);
});

test('a replay is only news, ends by itself, and leaves what fires as it is', async () => {
  const { receiver, deliver } = await open();
  await deliver([inspectionAlert({ replay: true })]);
  expect(firing(receiver)).toEqual([expect.objectContaining({ severity: 'info' })]);
  expect(firing(receiver, 10 * 60_000)).toEqual([]);
  await deliver([inspectionAlert()]);
  await deliver([inspectionAlert({ replay: true })]);
  expect(firing(receiver, HOUR_MS)).toEqual([expect.objectContaining({ severity: 'critical' })]);
});

test('tests and good news end by themselves', async () => {
  const { receiver, deliver } = await open();
  await deliver([sampleAlert('main', 'Lending Pool', 'sample', Date.now())]);
  await deliver([announcementAlert({ about: 'service.read', key: '1', message: 'Works again.' }, Date.now())]);
  expect(firing(receiver)).toHaveLength(2);
  expect(firing(receiver, 10 * 60_000)).toEqual([]);
});

test('user and password are sent by HTTP Basic', async () => {
  const { receiver, deliver } = await open({ basicAuth: { user: 'tocsin', pass: 'pa:ss' } });
  await deliver([inspectionAlert()]);
  const expected = `Basic ${Buffer.from('tocsin:pa:ss').toString('base64')}`;
  expect(receiver.received()[0]?.raw.headers.authorization).toBe(expected);
});
