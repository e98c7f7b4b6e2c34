/** Every name of an item leads to it: its own id, the alert's, its transaction's, and that of a dead delivery. */
import { describe, expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { createAcknowledgementStore } from '../../../src/features/acknowledgement/store.ts';
import { createApprovalStore } from '../../../src/features/approval/store.ts';
import { createTracer } from '../../../src/features/trace/trace.ts';
import { alertId, deliveryId } from '../../../src/item.ts';
import { createDeadLetters } from '../../../src/ledger/dead-letters.ts';
import { createAlertIndex } from '../../../src/ledger/index-by-date.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createBatchStore } from '../../../src/queue/batch-store.ts';
import { destinationOf } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const AT = '2026-11-20T12:00:00.000Z';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const now = () => Date.parse(AT);
  const ledger = createLedger(redis, prefix, now);
  const dead = createDeadLetters(redis, prefix);
  const alertIndex = createAlertIndex(redis, prefix, now);
  const held = createApprovalStore(redis, prefix, now);
  const batches = createBatchStore(redis, prefix);
  const acknowledgements = createAcknowledgementStore(redis, prefix, Date.now);
  const stores = { ledger, dead, alertIndex, held, batches, acknowledgements };
  const trace = createTracer({ ...stores, names: { all: async () => new Map() }, services: ['other', 'main'] });
  const expectOne = (alert: Alert) => ledger.recordWaiting([{ destination: SLACK, alerts: [alert] }]);
  const bury = (alert: Alert) =>
    dead.add({ alert, destination: SLACK, reason: 'unknown', message: 'gone', attempts: 2, at: AT });
  const idsOf = async (name: string) => (await trace(name)).map(({ alert }) => alert.id);
  return { ledger, held, batches, acknowledgements, expectOne, bury, trace, idsOf };
};

describe('an item is found', () => {
  test('by every one of its names, and by nothing else', async () => {
    const { expectOne, idsOf } = setUp();
    const alert = makeAlert(1);
    const notification = makeAlert(2, { source: 'notifications', id: alertId('main', 'notifications', 'item-2') });
    await expectOne(alert);
    await expectOne(notification);
    for (const name of [alert.id, 'item-1', hashOf(1), hashOf(1).toUpperCase().replace('0X', '0x')]) {
      expect(await idsOf(name)).toEqual([alert.id]);
    }
    expect(await idsOf('item-2')).toEqual([notification.id]);
    for (const name of ['item-3', hashOf(3), '', 'msg_']) expect(await idsOf(name)).toEqual([]);
  });

  test('with who acknowledged it', async () => {
    const { acknowledgements, expectOne, trace } = setUp();
    const [alert, other] = [makeAlert(1), makeAlert(2)];
    for (const one of [alert, other]) await expectOne(one);
    const by = { by: 'Ann', via: 'slack', to: '#alerts', at: AT };
    await acknowledgements.acknowledge([alert.id], by);
    expect((await trace('item-1'))[0]?.acknowledged).toEqual(by);
    expect(await trace('item-2')).toEqual([expect.not.objectContaining({ acknowledged: expect.anything() })]);
  });

  test('with all others of its transaction, by that, oldest first', async () => {
    const { expectOne, idsOf } = setUp();
    const late = makeAlert(1, { at: '2026-11-20T11:00:00.000Z', txHash: hashOf(9) });
    const early = makeAlert(2, { at: '2026-11-20T10:00:00.000Z', txHash: hashOf(9) });
    await expectOne(late);
    await expectOne(early);
    expect(await idsOf(hashOf(9))).toEqual([early.id, late.id]);
    expect(await idsOf('item-1')).toEqual([late.id]);
  });

  test('with its follow-ups', async () => {
    const { expectOne, idsOf } = setUp();
    const first = makeAlert(1);
    const followUp = { of: first.id, was: 'critical', is: 'ok' };
    const second = makeAlert(1, { id: 'f'.repeat(32), at: '2026-11-20T23:00:00.000Z', followUp });
    await expectOne(first);
    await expectOne(second);
    await expectOne(makeAlert(2, { txHash: hashOf(1) }));
    expect(await idsOf('item-1')).toEqual([first.id, second.id]);
  });

  test('with the identity its receivers know, and whether it can be retried', async () => {
    const { ledger, bury, expectOne, trace } = setUp();
    const alert = makeAlert(1);
    await expectOne(alert);
    const id = deliveryId(alert.id, SLACK.id);
    expect(await trace('item-1')).toMatchObject([{ deliveries: [{ id, state: 'waiting', isKept: false }] }]);
    await bury(alert);
    await ledger.recordAttempt(SLACK, [alert], { state: 'dead', attempt: { at: AT, outcome: 'dead', durationMs: 1 } });
    expect(await trace(id)).toMatchObject([{ alert: { id: alert.id }, deliveries: [{ id, isKept: true }] }]);
  });

  test('by the id of its message, among more than are looked at together', async () => {
    const { ledger, idsOf } = setUp();
    const alerts = Array.from({ length: 1100 }, (_, n) => makeAlert(n));
    await ledger.recordWaiting([
      { destination: SLACK, alerts },
      { destination: destinationOf('slack', 'C2'), alerts },
    ]);
    const id = deliveryId(makeAlert(7).id, SLACK.id);
    for (const name of [id, `<${id}@tocsin.example.com>`, `${id}@tocsin.example.com`]) {
      expect(await idsOf(name)).toEqual([makeAlert(7).id]);
    }
    expect(await idsOf(deliveryId(makeAlert(7).id, 'slack-3'))).toEqual([]);
    expect(await idsOf(`${id}0`)).toEqual([]);
  });

  test('with what each of its deliveries waits for', async () => {
    const { held, batches, ledger, trace } = setUp();
    const to = ['C1', 'C2', 'C3'].map((channel) => destinationOf('slack', channel));
    const [one = SLACK, two = SLACK] = to;
    const alert = makeAlert(1);
    await ledger.recordWaiting(to.map((destination) => ({ destination, alerts: [alert] })));
    await held.hold(one, [alert]);
    await batches.add(two, [alert]);
    const [found] = await trace('item-1');
    expect(
      Object.fromEntries((found?.deliveries ?? []).map((each) => [each.destination.label, each.waitsFor])),
    ).toEqual({ C1: 'approval', C2: 'turn', C3: undefined });
  });

  test('by its dead letter, after the ledger has forgotten it', async () => {
    const { bury, trace } = setUp();
    const alert = makeAlert(1);
    await bury(alert);
    for (const name of [alert.id, 'item-1', hashOf(1), deliveryId(alert.id, SLACK.id)]) {
      expect(await trace(name)).toMatchObject([
        {
          alert: { id: alert.id, itemId: 'item-1' },
          deliveries: [{ state: 'dead', isKept: true, destination: { label: 'C1' }, attempts: [{ message: 'gone' }] }],
        },
      ]);
    }
    expect(JSON.stringify(await trace('item-1'))).not.toContain('"address":"C1"');
  });
});
