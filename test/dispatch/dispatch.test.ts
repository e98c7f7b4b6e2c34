import { describe, expect, test } from 'vitest';
import type { Alert, ChannelEntry, Destination, Parcel } from '../../src/alert.ts';
import { createDispatch } from '../../src/dispatch/dispatch.ts';
import { toParcels } from '../../src/dispatch/parcels.ts';
import { channelsOf, type RouteSettings, routeAlert } from '../../src/features/routes/rules.ts';
import { destinationOf as makeDestination } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

const settings = (changes: Partial<RouteSettings> = {}): RouteSettings => ({
  triggers: 'ignore',
  overrides: {},
  configured: new Set(['email', 'slack', 'webhook']),
  addressesOf: (_kind, { contacts = [], url }) => ({
    addresses: [...contacts, ...(url === undefined ? [] : [url])],
    problems: contacts.length === 0 && url === undefined ? ['nothing to send to'] : [],
  }),
  labelOf: (_kind, address) => address,
  ...changes,
});

const route = (channels: ChannelEntry[], changes: Partial<RouteSettings> = {}, notifyOn: string[] = []) =>
  routeAlert(makeAlert(1), { channels, notifyOn }, settings(changes));

describe('routes', () => {
  test('every address of every entry is a destination, each once', () => {
    const { destinations, problems } = route([
      { name: 'email', contacts: ['a@example.com', 'b@example.com'] },
      { name: 'email', contacts: ['a@example.com'] },
      { name: 'webhook', url: 'https://hooks.example.com/x' },
    ]);
    expect(destinations.map(({ kind, address }) => `${kind} ${address}`)).toEqual([
      'email a@example.com',
      'email b@example.com',
      'webhook https://hooks.example.com/x',
    ]);
    expect(problems).toEqual([]);
  });

  test('what leads nowhere is named: empty entries, kinds that are not set up, kinds nobody knows', () => {
    const { destinations, problems } = route([
      { name: 'slack' },
      { name: 'telegram', contacts: ['1'] },
      { name: 'pager', contacts: ['1'] },
    ]);
    expect(destinations).toEqual([]);
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).toMatch(/nothing to send to[\s\S]*telegram[\s\S]*pager/);
  });

  test('an override replaces the channels of the service, extra ones come besides', () => {
    const own = { channels: [{ name: 'email', contacts: ['own@example.com'] }] };
    const names = (overrides: RouteSettings['overrides']) =>
      channelsOf('Lending Pool', own, overrides).flatMap(({ contacts }) => contacts);
    const other = [{ name: 'email', contacts: ['other@example.com'] }];
    expect(names({})).toEqual(['own@example.com']);
    expect(names({ 'Lending Pool': { channels: other } })).toEqual(['other@example.com']);
    expect(names({ 'Lending Pool': { extraChannels: other } })).toEqual(['own@example.com', 'other@example.com']);
    expect(channelsOf('constructor', own, {})).toEqual(own.channels);
  });

  test('honoured triggers send only what they ask for, and never hold a stored notification back', () => {
    const channels = [{ name: 'email', contacts: ['a@example.com'] }];
    expect(route(channels, { triggers: 'honour' })).toMatchObject({ destinations: [], skipped: 'trigger' });
    expect(route(channels, { triggers: 'honour' }, ['critical']).destinations).toHaveLength(1);
    const notification = makeAlert(2, { source: 'notifications', type: 'notification.created' });
    const routes = routeAlert(notification, { channels, notifyOn: [] }, settings({ triggers: 'honour' }));
    expect(routes.destinations).toHaveLength(1);
  });
});

describe('dispatch', () => {
  const a = makeDestination('email', 'a@example.com');
  const b = makeDestination('slack', 'C1');

  test('a parcel is one destination: twenty alerts for a program, what makes one digest for people; none is lost', () => {
    const hook = makeDestination('webhook', 'https://hooks.example.com/x');
    const alerts = Array.from({ length: 45 }, (_, n) => makeAlert(n));
    const parcels = toParcels(alerts.map((alert, n) => ({ alert, destinations: n % 2 ? [hook] : [hook, b] })));
    const of = (destination: Destination) => parcels.filter((parcel) => parcel.destination.id === destination.id);
    expect(of(hook).map((parcel) => parcel.alerts.length)).toEqual([20, 20, 5]);
    expect(of(b).map((parcel) => parcel.alerts.length)).toEqual([23]);
    const many = toParcels(Array.from({ length: 1200 }, (_, n) => ({ alert: makeAlert(n), destinations: [b] })));
    expect(many.map((parcel) => parcel.alerts.length)).toEqual([500, 500, 200]);
  });

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
});
