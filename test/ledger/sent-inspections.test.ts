/** What a destination has of a transaction, and how it stands. */
import { expect, test } from 'vitest';
import type { Alert, Destination, SentInspection } from '../../src/alert.ts';
import { followUpId } from '../../src/item.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import type { AttemptEnd } from '../../src/ledger/record.ts';
import { createSentInspections } from '../../src/ledger/sent-inspections.ts';
import { destinationOf, inspectionAlert, notificationAlert, TX_HASH } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const HERE = destinationOf('webhook', 'https://events.pagerduty.com/v2/enqueue');
const ELSEWHERE = destinationOf('slack', 'C1');

/** Of one transaction, read one after the other. */
const finding = (number: number, changes: Partial<Alert> = {}): Alert =>
  inspectionAlert({
    item: { _id: `finding-${number}`, protocol: `Protocol ${number}` },
    readAt: `2026-11-20T10:07:4${number}.000Z`,
    ...changes,
  });

const followUp = (of: Alert, is: string | undefined, number = 1): Alert => ({
  ...of,
  ...{ id: followUpId(of.id, 'downgraded', number), type: 'inspection.downgraded' },
  // The clock goes back.
  readAt: `2026-11-20T10:0${9 - number}:00.000Z`,
  followUp: { of: of.id, was: 'critical', ...(is === undefined ? {} : { is }) },
});

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, Date.now);
  const sentInspections = createSentInspections(ledger);
  const wait = (alert: Alert, destination: Destination = HERE) =>
    ledger.recordWaiting([{ destination, alerts: [alert] }]);
  const end = async (alert: Alert, state: AttemptEnd['state'], destination: Destination = HERE, replay = false) => {
    await wait(alert, destination);
    const attempt = { at: '2026-11-20T10:08:00.000Z', outcome: 'delivered', durationMs: 5 } as const;
    await ledger.recordAttempt(destination, [alert], { state, attempt: { ...attempt, ...(replay ? { replay } : {}) } });
  };
  const read = async (...alerts: Alert[]): Promise<readonly SentInspection[] | undefined> =>
    (await sentInspections(HERE, alerts)).get(TX_HASH);
  return { wait, end, read, sentInspections };
};

test('what was sent there and what is on its way, in the order in which it was read', async () => {
  const { wait, end, read } = setUp();
  await wait(finding(3));
  await end(finding(2, { type: 'inspection.suspecious' }), 'delivered');
  await end(finding(1), 'delivered');
  expect(await read(finding(3))).toEqual([
    { alert: finding(1).id, protocol: 'Protocol 1', assessment: 'critical', isSent: true },
    { alert: finding(2).id, protocol: 'Protocol 2', assessment: 'suspecious', isSent: true },
    { alert: finding(3).id, protocol: 'Protocol 3', assessment: 'critical', isSent: false },
  ]);
});

test('the last follow-up says what it is now, also where it went elsewhere', async () => {
  const { wait, end, read } = setUp();
  const [one, two] = [finding(1), finding(2)];
  await end(one, 'delivered');
  await end(two, 'delivered');
  await end(followUp(one, 'ok', 2), 'delivered', ELSEWHERE);
  await wait(followUp(one, 'suspecious'));
  await wait(followUp(two, undefined));
  expect((await read(one))?.map(({ assessment }) => assessment)).toEqual(['ok', undefined]);
});

test('nothing that is muted, dead or of another destination or transaction, and no history', async () => {
  const { end, read, sentInspections } = setUp();
  await end(finding(1), 'muted');
  await end(finding(2), 'dead');
  await end(finding(3), 'delivered', ELSEWHERE);
  await end(finding(4), 'delivered', HERE, true);
  await end(makeAlert(5), 'delivered');
  await end(notificationAlert('Something happened', { txHash: TX_HASH }), 'delivered');
  expect(await read(finding(1))).toEqual([]);
  expect([...(await sentInspections(HERE, [notificationAlert('Something')])).keys()]).toEqual([]);
});
