import { describe, expect, test } from 'vitest';
import { channelsOf, MOST_DESTINATIONS, type RouteSettings, routeAlert } from '../../../src/features/routes/routes.ts';
import type { ChannelEntry } from '../../../src/item.ts';
import { makeAlert } from '../../support/numbered.ts';

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

  test('the addresses of an entry are made out once, however many alerts it gets', () => {
    let asked = 0;
    const addressesOf: RouteSettings['addressesOf'] = (_kind, { contacts = [] }) => {
      asked += 1;
      return { addresses: contacts, problems: [] };
    };
    const same = settings({ addressesOf });
    const protocol = { channels: [{ name: 'email', contacts: ['a@example.com'] }], notifyOn: [] };
    const routes = [1, 2, 3].map((n) => routeAlert(makeAlert(n), protocol, same));
    expect(routes.flatMap(({ destinations }) => destinations)).toHaveLength(3);
    expect(asked).toBe(1);
    routeAlert(makeAlert(4), { channels: [{ name: 'email', contacts: ['b@example.com'] }], notifyOn: [] }, same);
    expect(asked).toBe(2);
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

  test('of more destinations than one protocol may have the first are used, and it says how many get nothing', () => {
    const contacts = Array.from({ length: MOST_DESTINATIONS + 7 }, (_, n) => `a${n}@example.com`);
    const { destinations, problems } = route([{ name: 'email', contacts }]);
    expect(destinations.map(({ address }) => address)).toEqual(contacts.slice(0, MOST_DESTINATIONS));
    expect(problems).toEqual(['5007 destinations: the last 7 get nothing, as 5000 are the most']);
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
