import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/alert.ts';
import { decodeProtocol, decodeProtocolPage, decodeStats } from '../../src/service/protocols.ts';
import { itemOf } from './harness.ts';

const PROTOCOL = {
  protocolId: 'p-1',
  descriptor: 'Vault',
  setttings: {
    triggers: { critical: { detectionsGroup: [['mixer', 'flashLoan'], ['newContract']], actions: ['notification'] } },
    notificationChannels: [{ name: 'slack', contacts: ['C1', 'C2'] }],
    tracking: true,
  },
};

describe('protocols', () => {
  const decoded = {
    id: 'p-1',
    name: 'Vault',
    channels: [{ name: 'slack', contacts: ['C1', 'C2'] }],
    triggers: { critical: { detectionsGroup: [['mixer', 'flashLoan'], ['newContract']], actions: ['notification'] } },
    tracking: true,
  };

  test('wrapped or bare, with the settings in either spelling', () => {
    expect(itemOf(decodeProtocol({ protocols: PROTOCOL }))).toEqual({ ...decoded, raw: PROTOCOL });
    expect(itemOf(decodeProtocol(PROTOCOL))).toEqual({ ...decoded, raw: PROTOCOL });
    const { setttings, ...rest } = PROTOCOL;
    expect(itemOf(decodeProtocol({ ...rest, settings: setttings }))).toMatchObject(decoded);
  });

  test.each<JsonValue>([{}, { setttings: null }, { setttings: { notificationChannels: null, triggers: null } }])(
    'without channels or triggers: %j',
    (rest) => {
      const raw = { descriptor: 'Bare', ...(rest as object) };
      expect(itemOf(decodeProtocol(raw))).toEqual({ name: 'Bare', channels: [], triggers: {}, raw });
    },
  );

  test.each<[JsonValue, object]>([
    [
      { name: 'pager', contacts: ['x'] },
      { name: 'pager', contacts: ['x'] },
    ],
    [{ name: ' Slack ', contacts: null, url: null }, { name: 'slack' }],
    [
      { name: 'telegram', contacts: [-100123, ' ', null, '@a'] },
      { name: 'telegram', contacts: ['-100123', '" "', '@a'] },
    ],
    [
      { name: 'email', contacts: 'a@b.example' },
      { name: 'email', contacts: ['a@b.example'] },
    ],
    [
      { name: 'email', contacts: [{ to: 1 }] },
      { name: 'email', contacts: ['{"to":1}'] },
    ],
    [
      { name: 'webhook', url: 'https://x.example' },
      { name: 'webhook', url: 'https://x.example' },
    ],
    [{ url: 'https://x.example' }, { name: '', url: 'https://x.example' }],
    ['email', { name: 'email' }],
    [{ name: { kind: 'email' } }, { name: '' }],
  ])('the channel %j is never lost', (channel, entry) => {
    const settings = (notificationChannels: JsonValue) => ({ descriptor: 'V', setttings: { notificationChannels } });
    expect(itemOf(decodeProtocol(settings([channel]))).channels).toEqual([entry]);
    expect(itemOf(decodeProtocol(settings(channel))).channels).toEqual([entry]);
  });

  test('a trigger keeps its severity, whatever else it lacks', () => {
    const triggers = { ' Critical': { actions: 'notification' }, other: null };
    expect(itemOf(decodeProtocol({ descriptor: 'V', setttings: { triggers } })).triggers).toEqual({
      critical: { detectionsGroup: [], actions: ['notification'] },
      other: { detectionsGroup: [], actions: [] },
    });
  });

  test('without a name it is malformed', () => {
    expect(decodeProtocol({ protocols: { protocolId: 'p' } })).toMatchObject({ ok: false, problem: 'no descriptor' });
    expect(decodeProtocol({ protocols: null })).toMatchObject({ ok: false, problem: 'no descriptor' });
    expect(decodeProtocol(7)).toEqual({ ok: false, problem: 'not an object', raw: 7 });
  });

  test('the listing is one wrapper, a list of it, or a list of several', () => {
    const names = (json: JsonValue) => {
      const reading = decodeProtocolPage(json, undefined);
      if (!reading.ok) return reading.problem;
      return [reading.value.items.map(({ name }) => name), reading.value.pageNumber, reading.value.total];
    };
    const wrapper = (name: string, pageNumber: number) => ({ page: [{ descriptor: name }], pageNumber, total: 8 });
    expect(names(wrapper('A', 1))).toEqual([['A'], 1, 8]);
    expect(names([wrapper('A', 1)])).toEqual([['A'], 1, 8]);
    expect(names([wrapper('A', 0), wrapper('B', 0), { page: null }])).toEqual([['A', 'B'], 0, 8]);
    expect(names([])).toEqual([[], undefined, undefined]);
    expect(names([wrapper('A', 1), {}])).toBe('it has no page');
    expect(names([{ descriptor: 'A' }])).toBe('it has no page');
  });
});

test('statistics are read from numbers and digits, in either spelling', () => {
  const raw = { page: '1', critical: 2, suspecious: '3', total: -1 };
  expect(decodeStats(raw, undefined)).toEqual({ ok: true, value: { page: 1, critical: 2, suspicious: 3, raw } });
  expect(decodeStats({}, undefined)).toEqual({ ok: true, value: { raw: {} } });
});
