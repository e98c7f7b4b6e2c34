import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Alert, isAnnouncement, isSample } from '../../src/alert.ts';
import { DIGEST_MAX, FEW, incidentsOf, messagesOf, planOf } from '../../src/channels/incidents.ts';
import { atOnce, slice } from '../../src/chunks.ts';
import { deliveryId } from '../../src/item.ts';
import { destinationOf, inspectionAlert, notificationAlert } from '../support/alerts.ts';
import { anyAlerts, hashOf, oneIncident, storm, stormAlert } from '../support/parcels.ts';

const idsOf = (alerts: readonly Alert[]): string[] => alerts.map(({ itemId }) => itemId);

const shapeOf = (alerts: readonly Alert[]): string[] =>
  planOf(alerts).map(({ as, alerts: all }) => `${as} ${all.length}`);

describe('an incident', () => {
  test('is all inspections of one transaction, in the place of the first', () => {
    const [first, second, third] = [stormAlert(1), ...oneIncident()];
    expect(incidentsOf([second, first, third].flatMap((alert) => alert ?? [])).map(idsOf)).toEqual([
      ['incident0', 'incident1'],
      ['storm1'],
    ]);
  });

  const alike = (changes: Partial<Alert>): Alert =>
    inspectionAlert({ ...changes, item: { _id: 'b', ...changes.item } });

  test.each([
    ['another chain', alike({ item: { chainId: 1 } }), 2],
    ['the same chain, spelt as text', alike({ item: { chainId: '8453' } }), 1],
    ['another service', alike({ service: 'second' }), 1],
    ['another assessment', alike({ item: { assessment: 'suspecious' } }), 1],
    ['history', alike({ replay: true }), 2],
    ['a sample', alike({ type: 'test.sample' }), 2],
    ['a follow-up', alike({ followUp: { of: 'a', was: 'critical' } }), 2],
    ['a stored notification', notificationAlert('x', { txHash: String(inspectionAlert().txHash) }), 2],
  ])('with %s', (_what, other, incidents) => {
    expect(incidentsOf([inspectionAlert(), other])).toHaveLength(incidents);
  });

  test('needs a transaction', () => {
    const { txHash: _txHash, ...nameless } = inspectionAlert();
    expect(incidentsOf([nameless, { ...nameless, id: 'other' }])).toHaveLength(2);
    expect(
      incidentsOf([
        { ...nameless, txHash: '' },
        { ...nameless, txHash: '', id: 'other' },
      ]),
    ).toHaveLength(2);
  });
});

/** A sample is alone, and announcements are of one kind. */
const expectOneKind = (told: readonly Alert[]): void => {
  if (told.some(isSample)) expect(told).toHaveLength(1);
  if (told.some(isAnnouncement)) expect(new Set(told.map(({ type }) => type)).size).toBe(1);
};

describe('a parcel', () => {
  test('a few incidents are sent one by one, more of them as one digest', () => {
    expect(shapeOf(storm(FEW))).toEqual(storm(FEW).map(() => 'single 1'));
    expect(shapeOf(storm(FEW + 1))).toEqual([`digest ${FEW + 1}`]);
    expect(shapeOf([...storm(FEW - 1), ...oneIncident()])).toEqual([
      ...storm(FEW - 1).map(() => 'single 1'),
      'single 3',
    ]);
  });

  test('keeps samples and what Tocsin itself says out of the digest, and history apart from news', () => {
    const sample = inspectionAlert({ item: { _id: 'sample' }, type: 'test.sample' });
    const past = storm(20).map((alert) => ({ ...alert, id: `past ${alert.id}`, replay: true }));
    expect(shapeOf([...past, ...storm(2), sample])).toEqual(['single 1', 'single 1', 'single 1', 'digest 20']);
  });

  test('announcements of one kind are one message, after the news', () => {
    const announcement = (type: string, n: number): Alert =>
      notificationAlert(`${type} ${n}`, { id: `${type} ${n}`, type: `tocsin.${type}` });
    const broken = Array.from({ length: 130 }, (_, n) => announcement('destination.broken', n));
    const reports = [announcement('mute.ended', 1), announcement('mute.ended', 2)];
    const plan = planOf([...reports, ...broken, ...storm(30)]);
    expect(plan.map(({ as, alerts: [first], alerts: { length } }) => `${as} ${length} ${first?.type}`)).toEqual([
      'digest 30 inspection.critical',
      'single 100 tocsin.destination.broken',
      'single 30 tocsin.destination.broken',
      'single 2 tocsin.mute.ended',
    ]);
  });

  test('announcements about alerts are a message for each transaction; of too many they are one', () => {
    const about = (n: number, id = `news ${n}`): Alert =>
      notificationAlert('x', { id, type: 'tocsin.alert.acknowledged', below: `alert ${n}`, txHash: hashOf(n) });
    const { txHash: _none, ...nameless } = about(3);
    expect(shapeOf([about(1), about(2), about(1, 'again'), nameless])).toEqual(['single 2', 'single 1', 'single 1']);
    const many = Array.from({ length: FEW + 1 }, (_, n) => about(n));
    expect(shapeOf(many)).toEqual([`single ${FEW + 1}`]);
  });

  test('beyond what one digest holds becomes several of one size', () => {
    expect(shapeOf(storm(DIGEST_MAX))).toEqual([`digest ${DIGEST_MAX}`]);
    expect(shapeOf(storm(DIGEST_MAX + 2))).toEqual([`digest ${DIGEST_MAX / 2 + 1}`, `digest ${DIGEST_MAX / 2 + 1}`]);
  });

  test('may hold one incident that is larger than a digest', () => {
    const huge = Array.from({ length: DIGEST_MAX + 10 }, (_, n) => stormAlert(n, { item: { txHash: hashOf(0) } }));
    const plan = planOf([...huge, ...storm(10)]);
    expect(plan.flatMap(({ alerts }) => alerts)).toHaveLength(huge.length + 10);
    expect(Math.max(...plan.map(({ alerts }) => alerts.length))).toBeLessThanOrEqual(DIGEST_MAX);
  });

  test('of any sort: every alert is in exactly one message, no message is empty, none has two of an id', () => {
    const destination = destinationOf('email', 'a@x.example');
    const bodyOf = {
      single: (alerts: readonly Alert[]) => slice(() => idsOf(alerts)),
      digest: (alerts: readonly Alert[]) => slice(() => idsOf(alerts)),
    };
    fc.assert(
      fc.property(anyAlerts(60), (alerts) => {
        const messages = atOnce(messagesOf({ destination, alerts }, bodyOf));
        expect(messages.flatMap(({ body }) => body).toSorted()).toEqual(idsOf(alerts).toSorted());
        expect(messages.every(({ body }) => body.length > 0)).toBe(true);
        const planned = planOf(alerts).map(({ as }) => as === 'digest');
        expect(messages.map(({ isDigest }) => isDigest)).toEqual(planned);
        expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
        expect(atOnce(messagesOf({ destination, alerts }, bodyOf))).toEqual(messages);
        for (const { alerts: told } of messages) {
          expect(new Set(told.map(({ replay }) => replay)).size).toBe(1);
          expectOneKind(told);
          if (told.length === 1)
            expect(messages.map(({ id }) => id)).toContain(deliveryId(told[0]?.id ?? '', destination.id));
          // What was refused is sent again by itself, in a plainer format, as the same message.
          expect(planOf(told).map((telling) => telling.alerts)).toEqual([told]);
        }
        const news = planOf(alerts).filter(({ alerts: [first] }) => first && first.type !== 'test.sample');
        for (const replay of [true, false]) {
          const singles = news.filter(({ as, alerts: [first] }) => as === 'single' && first?.replay === replay);
          expect(singles.filter(({ alerts: [first] }) => first && !isAnnouncement(first)).length).toBeLessThanOrEqual(
            FEW,
          );
        }
      }),
    );
  });
});
