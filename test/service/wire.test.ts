import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/alert.ts';
import { countOf, dateMs } from '../../src/service/fields.ts';
import { decodeConfirmation, decodeProtocol, decodeProtocolPage, decodeStats } from '../../src/service/protocols.ts';
import {
  type Decoded,
  decodeInspection,
  decodeNotification,
  decodePage,
  notificationId,
} from '../../src/service/wire.ts';

const itemOf = <T>(decoded: Decoded<T>): T => {
  if (!decoded.ok) throw new Error(`malformed: ${decoded.problem}`);
  return decoded.item;
};

const AT = Date.UTC(2026, 10, 20, 10, 7, 31, 2);

describe('dates', () => {
  test.each<[JsonValue, number]>([
    ['2026-11-20T10:07:31.002Z', AT],
    ['2026-11-20t10:07:31.002z', AT],
    ['2026-11-20T12:07:31.002+02:00', AT],
    ['2026-11-20T12:07:31.002+0200', AT],
    ['2026-11-20T12:07:31.002+02', AT],
    ['2026-11-20 04:37:31.002 -05:30', AT],
    ['2026-11-20 10:07:31,002', AT],
    ['2026-11-20T10:07:31.002', AT],
    ['2026-11-20T10:07:31.002999Z', AT],
    [' 2026-11-20T10:07:31.002Z ', AT],
    ['2026-11-20T10:07:31Z', AT - 2],
    ['2026-11-20T10:07Z', AT - 31_002],
    ['2026-11-20', Date.UTC(2026, 10, 20)],
    [AT, AT],
    [String(AT), AT],
    [AT / 1000, AT],
    [(AT - 2) / 1000, AT - 2],
    [String(AT / 1000), AT],
    [1, 1000],
  ])('%j', (value, ms) => {
    expect(dateMs(value)).toBe(ms);
  });

  test.each<JsonValue>([
    null,
    true,
    '',
    ' ',
    'yesterday',
    'May 1',
    '2026-13-01T00:00:00Z',
    '2026-11-20T25:00:00Z',
    '2026-11-20 and more',
    '0001-01-01T00:00:00Z',
    0,
    -5,
    1e15,
    [],
    {},
    '1e9',
    '-3',
  ])('%j is none', (value) => {
    expect(dateMs(value)).toBeUndefined();
  });

  test('whatever way a date is written, it is the same', () => {
    const instants = fc.integer({ min: Date.UTC(2001, 0), max: Date.UTC(2099, 0) });
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
    fc.assert(
      fc.property(instants, offsets, (ms, offset) => {
        const size = Math.abs(offset);
        const clock = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0')).join(':');
        const local = new Date(ms + offset * 60_000).toISOString().slice(0, -1);
        const seconds = Math.floor(ms / 1000);
        expect(dateMs(new Date(ms).toISOString())).toBe(ms);
        expect(dateMs(`${local}${offset < 0 ? '-' : '+'}${clock}`)).toBe(ms);
        expect([dateMs(ms), dateMs(String(ms)), dateMs(seconds)]).toEqual([ms, ms, seconds * 1000]);
      }),
    );
  });
});

test.each<[JsonValue, number | undefined]>([
  [0, 0],
  [7, 7],
  ['7', 7],
  [' 07 ', 7],
  [-1, undefined],
  [1.5, undefined],
  ['', undefined],
  ['1.5', undefined],
  ['one', undefined],
  [null, undefined],
  [1e300, undefined],
])('the count %j is %j', (value, count) => {
  expect(countOf(value)).toBe(count);
});

const INSPECTION = {
  _id: 'i-1',
  chainId: 1,
  txHash: '0xABCDEF',
  txTimestamp: '2026-11-20T10:07:30Z',
  protocol: 'Vault',
  assessment: 'critical',
  assets: [{ address: '0xB', descriptor: 'b' }, { address: '0xA' }],
  createdAt: '2026-11-20T10:07:31.002Z',
  updatedAt: 1_795_169_252,
  extra: { kept: [1] },
};

describe('inspections', () => {
  test('as documented, and all that is not documented kept in raw', () => {
    expect(itemOf(decodeInspection(INSPECTION, 'asked'))).toEqual({
      id: 'i-1',
      protocol: 'Vault',
      assessment: 'critical',
      txHash: '0xabcdef',
      dates: { createdAt: AT, updatedAt: 1_795_169_252_000, txTimestamp: AT - 1002 },
      raw: INSPECTION,
    });
  });

  test('with as little as an id and an assessment', () => {
    expect(itemOf(decodeInspection({ _id: 7, assessment: 'ok', createdAt: 'soon' }, 'asked'))).toEqual({
      id: '7',
      protocol: 'asked',
      assessment: 'ok',
      dates: {},
      raw: { _id: 7, assessment: 'ok', createdAt: 'soon' },
    });
  });

  test.each([
    ['critical', 'critical'],
    [' Critical\n', 'critical'],
    ['CRITICAL', 'critical'],
    ['suspecious', 'suspecious'],
    ['Suspicious', 'suspecious'],
    ['OK', 'ok'],
    ['Severe', 'Severe'],
  ])('the assessment %j is %j', (word, assessment) => {
    expect(itemOf(decodeInspection({ ...INSPECTION, assessment: word }, 'x')).assessment).toBe(assessment);
  });

  test.each<[string, JsonValue]>([
    ['not an object', null],
    ['not an object', 'text'],
    ['not an object', [INSPECTION]],
    ['neither _id nor txHash', { assessment: 'critical' }],
    ['neither _id nor txHash', { _id: ' ', txHash: null, assessment: 'critical' }],
    ['no assessment', { _id: 'a' }],
    ['no assessment', { _id: 'a', assessment: '' }],
    ['no assessment', { _id: 'a', assessment: { word: 'critical' } }],
  ])('%s: %j', (problem, raw) => {
    expect(decodeInspection(raw, 'asked')).toEqual({ ok: false, problem, raw });
  });

  describe('without an id of their own', () => {
    const { _id, ...nameless } = INSPECTION;
    const idOf = (changes: Record<string, JsonValue>) =>
      itemOf(decodeInspection({ ...nameless, ...changes }, 'asked')).id;

    test('are the same when judged anew, written differently, or with assets in another order', () => {
      const id = idOf({});
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(idOf({ assessment: 'ok', updatedAt: null, detections: {} })).toBe(id);
      expect(idOf({ txHash: '0xabcdef', chainId: '1', createdAt: AT })).toBe(id);
      expect(idOf({ assets: [{ address: '0xa' }, { address: '0xb' }] })).toBe(id);
    });

    test.each([
      { protocol: 'Other' },
      { chainId: 10 },
      { txHash: '0xabcdee' },
      { createdAt: '2026-11-20T10:07:31.003Z' },
      { createdAt: 'a date in words' },
      { assets: [{ address: '0xA' }] },
      { assets: null },
    ])('are others with %j', (changes) => {
      expect(idOf(changes)).not.toBe(idOf({}));
    });
  });
});

const NOTIFICATION = { message: 'Found: 0xABC', protocol: 'Vault', createdAt: '2026-11-20T10:07:31.002Z' };

describe('notifications', () => {
  test('as documented, and with an id in case there is one', () => {
    const plain = { message: 'Found: 0xABC', protocol: 'Vault', dates: { createdAt: AT }, raw: NOTIFICATION };
    expect(itemOf(decodeNotification(NOTIFICATION, ['Vault', 'B']))).toEqual(plain);
    expect(itemOf(decodeNotification({ ...NOTIFICATION, _id: 'n1' }, ['Vault'])).id).toBe('n1');
    expect(itemOf(decodeNotification({ ...NOTIFICATION, id: 5 }, ['Vault'])).id).toBe('5');
  });

  test('of no protocol belong to the only one that was asked for', () => {
    const { protocol, ...raw } = NOTIFICATION;
    expect(itemOf(decodeNotification(raw, [protocol])).protocol).toBe('Vault');
    expect(decodeNotification(raw, [protocol, 'B'])).toEqual({ ok: false, problem: 'no protocol', raw });
  });

  test.each<[string, JsonValue]>([
    ['not an object', 3],
    ['no message', { protocol: 'V' }],
    ['no message', { protocol: 'V', message: null }],
  ])('%s: %j', (problem, raw) => {
    expect(decodeNotification(raw, ['V'])).toEqual({ ok: false, problem, raw });
  });

  test('whose message is no text are told as JSON', () => {
    const raw = { ...NOTIFICATION, message: { text: 'x' } };
    expect(itemOf(decodeNotification(raw, [])).message).toBe('{"text":"x"}');
  });

  test('are told apart by protocol, time and message', () => {
    const idOf = (changes: object) => notificationId(itemOf(decodeNotification({ ...NOTIFICATION, ...changes }, [])));
    const id = idOf({});
    expect(idOf({ updatedAt: '2026-11-21', createdAt: AT })).toBe(id);
    for (const changes of [{ protocol: 'B' }, { message: 'Found' }, { createdAt: AT + 1 }, { createdAt: null }]) {
      expect(idOf(changes)).not.toBe(id);
    }
    expect(idOf({ _id: 'own' })).toBe('own');
  });
});

describe('pages', () => {
  const decode = decodePage((raw) => decodeInspection(raw, 'asked'));

  test('a malformed item is set aside and its neighbours stay', () => {
    const page = [INSPECTION, null, { _id: 'x' }, { ...INSPECTION, _id: 'i-2' }];
    expect(decode({ page, pageNumber: '2', total: '40' }, AT)).toEqual({
      ok: true,
      value: {
        items: [expect.objectContaining({ id: 'i-1' }), expect.objectContaining({ id: 'i-2' })],
        malformed: [
          { problem: 'not an object', raw: null },
          { problem: 'no assessment', raw: { _id: 'x' } },
        ],
        pageNumber: 2,
        total: 40,
        serverTime: AT,
      },
    });
  });

  test('null is an empty page, none at all or another thing is unreadable', () => {
    expect(decode({ page: null, pageNumber: -1, total: 'many' }, undefined)).toEqual({
      ok: true,
      value: { items: [], malformed: [] },
    });
    expect(decode({ total: 0 }, undefined)).toEqual({ ok: false, problem: 'it has no page' });
    for (const page of ['', 0, false, {}]) expect(decode({ page }, undefined).ok).toBe(false);
    expect(decode([{ page: [] }], undefined).ok).toBe(false);
  });

  test('no JSON makes a decoder throw', () => {
    const deep = fc.jsonValue({ maxDepth: 5 });
    const likely = fc.dictionary(
      fc.constantFrom(
        '_id',
        'id',
        'txHash',
        'protocol',
        'protocols',
        'assessment',
        'message',
        'page',
        'descriptor',
        'setttings',
        'settings',
        'notificationChannels',
        'triggers',
        'contacts',
        'createdAt',
        'assets',
        '__proto__',
      ),
      deep,
    );
    fc.assert(
      fc.property(fc.oneof(deep, likely, fc.array(likely)), (value) => {
        const json = JSON.parse(JSON.stringify(value)) as JsonValue;
        const wrapped = { page: [json, { protocols: json }, { descriptor: 'x', setttings: json }] };
        for (const answer of [json, wrapped, [wrapped]]) {
          decode(answer, undefined);
          decodePage((raw) => decodeNotification(raw, ['V']))(answer, undefined);
          decodeProtocolPage(answer, undefined);
          decodeStats(answer, undefined);
          decodeConfirmation(answer, undefined);
        }
      }),
    );
  });
});

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
