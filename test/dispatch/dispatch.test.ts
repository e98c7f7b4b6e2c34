import { describe, expect, test } from 'vitest';
import type { Alert, Parcel } from '../../src/alert.ts';
import { createDispatch } from '../../src/dispatch/dispatch.ts';
import { destinationOf as makeDestination } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

describe('dispatch', () => {
  const a = makeDestination('email', 'a@example.com');
  const b = makeDestination('slack', 'C1');

  test('the ledger expects before the queue holds, and an alert without a destination is ended, not dropped', async () => {
    const order: string[] = [];
    const unroutable: [Alert, readonly string[]][] = [];
    const queued: Parcel[] = [];
    const { dispatch } = createDispatch({
      routesOf: async ({ itemId }) =>
        itemId === 'item-1' ? { destinations: [a, b], problems: [] } : { destinations: [], problems: ['no way'] },
      recordWaiting: async () => {
        order.push('record');
      },
      enqueue: async (parcels) => {
        order.push('enqueue');
        queued.push(...parcels);
      },
      onUnroutable: async (alert, problems) => {
        unroutable.push([alert, problems]);
      },
    });
    await dispatch([makeAlert(1), makeAlert(2)]);
    expect(order).toEqual(['record', 'enqueue']);
    expect(queued.map(({ destination, alerts }) => [destination.id, alerts.length])).toEqual([
      [a.id, 1],
      [b.id, 1],
    ]);
    expect(unroutable).toEqual([[makeAlert(2), ['no way']]]);
  });

  test('goes only where no other alert covers it, and is not unroutable where one covers it everywhere', async () => {
    const queued: Parcel[] = [];
    const { dispatch } = createDispatch({
      routesOf: async () => ({ destinations: [a, b], problems: [] }),
      uncoveredAt: async ({ itemId }, destinations) => (itemId === 'item-1' ? [] : destinations.slice(1)),
      recordWaiting: async () => {},
      enqueue: async (parcels) => void queued.push(...parcels),
      onUnroutable: () => Promise.reject(new Error('it is unroutable')),
    });
    await dispatch([makeAlert(1), makeAlert(2)]);
    expect(queued).toEqual([{ destination: b, alerts: [makeAlert(2)] }]);
  });

  test('a follow-up with known destinations is suppressed, recorded and enqueued, not routed', async () => {
    const order: string[] = [];
    const note = (what: string) => async () => void order.push(what);
    const { dispatchRouted } = createDispatch({
      withContext: () => Promise.reject(new Error('enriched')),
      routesOf: () => Promise.reject(new Error('routed')),
      onUnroutable: () => Promise.reject(new Error('unroutable')),
      uncoveredAt: () => Promise.reject(new Error('correlated')),
      filter: async (alerts) => {
        order.push(`filter ${alerts.map(({ mutedAt }) => [...(mutedAt ?? [])].join()).join()}`);
        return alerts;
      },
      setDeadline: () => Promise.reject(new Error('deadline set')),
      recordWaiting: note('record'),
      enqueue: note('enqueue'),
    });
    const mutedAt = new Set([a.id]);
    expect(await dispatchRouted([{ alert: makeAlert(1), destinations: [a, b], mutedAt }])).toBe(2);
    expect(order).toEqual([`filter ${a.id}`, 'record', 'enqueue']);
  });
});
