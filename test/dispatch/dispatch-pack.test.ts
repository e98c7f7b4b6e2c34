import { expect, test } from 'vitest';
import type { Destination } from '../../src/alert.ts';
import { enqueue, pack, record } from '../../src/dispatch/dispatch.ts';
import { toParcels } from '../../src/dispatch/parcels.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { MAIL, routed, runOf, SLACK } from './stages.ts';

test('a parcel is one destination: 25 alerts for a program, what makes one digest for people; none is lost', () => {
  const hook = destinationOf('webhook', 'https://hooks.example.com/x');
  const alerts = Array.from({ length: 45 }, (_, n) => makeAlert(n));
  const parcels = toParcels(alerts.map((alert, n) => ({ alert, destinations: n % 2 ? [hook] : [hook, SLACK] })));
  const of = (destination: Destination) => parcels.filter((parcel) => parcel.destination.id === destination.id);
  expect(of(hook).map((parcel) => parcel.alerts.length)).toEqual([25, 20]);
  expect(of(SLACK).map((parcel) => parcel.alerts.length)).toEqual([23]);
  const many = toParcels(Array.from({ length: 1200 }, (_, n) => ({ alert: makeAlert(n), destinations: [SLACK] })));
  expect(many.map((parcel) => parcel.alerts.length)).toEqual([500, 500, 200]);
});

test('alerts that wait are in parcels of their own', async () => {
  const waiting = { ...routed(3, MAIL), delayMs: 3000 };
  const { groups } = await pack(runOf(routed(1, MAIL), waiting, routed(2, MAIL)), {});
  expect(groups).toEqual([
    { parcels: [{ destination: MAIL, alerts: [makeAlert(1), makeAlert(2)] }] },
    { parcels: [{ destination: MAIL, alerts: [makeAlert(3)] }], delayMs: 3000 },
  ]);
});

test('all parcels are recorded in one go, and enqueued with their delay and the nonce', async () => {
  const recorded: number[] = [];
  const queued: unknown[] = [];
  const packed = await pack(
    { ...runOf(routed(1, MAIL), { ...routed(2, SLACK), delayMs: 3000 }), nonce: 'audit 1' },
    {},
  );
  await record(packed, { recordWaiting: async (parcels) => void recorded.push(parcels.length) });
  await enqueue(packed, {
    enqueue: async ([parcel], nonce, delayMs) => void queued.push([parcel?.destination.kind, nonce, delayMs]),
  });
  expect(recorded).toEqual([2]);
  expect(queued).toEqual([
    ['email', 'audit 1', undefined],
    ['slack', 'audit 1', 3000],
  ]);
});
