import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/alert.ts';
import { decodeConfirmation, decodeProtocolPage, decodeStats } from '../../src/service/protocols.ts';
import { decodeInspection, decodeNotification, decodePage, notificationId } from '../../src/service/wire.ts';
import { itemOf } from './harness.ts';

const AT = Date.UTC(2026, 10, 20, 10, 7, 31, 2);

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

    test('are the same when judged again, written differently, or with assets in another order', () => {
      const id = idOf({});
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(idOf({ assessment: 'ok', updatedAt: null, detections: {} })).toBe(id);
      expect(idOf({ txHash: '0xabcdef', chainId: '1', createdAt: AT })).toBe(id);
      expect(idOf({ assets: [{ address: '0xa' }, { address: '0xb' }] })).toBe(id);
    });

    test('differ by dates that cannot be read', () => {
      expect(idOf({ createdAt: 'one day' })).not.toBe(idOf({ createdAt: 'another day' }));
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

  test('whose message is no text show it as JSON', () => {
    const raw = { ...NOTIFICATION, message: { text: 'x' } };
    expect(itemOf(decodeNotification(raw, [])).message).toBe('{"text":"x"}');
  });

  test('differ by protocol, time and message', () => {
    const idOf = (changes: object) => notificationId(itemOf(decodeNotification({ ...NOTIFICATION, ...changes }, [])));
    const id = idOf({});
    expect(idOf({ updatedAt: '2026-11-21', createdAt: AT })).toBe(id);
    for (const changes of [{ protocol: 'B' }, { message: 'Found' }, { createdAt: AT + 1 }, { createdAt: null }]) {
      expect(idOf(changes)).not.toBe(id);
    }
    // Who writes it may give it the id of one that people had.
    const own = { _id: 'own' };
    expect(idOf({ ...own, createdAt: '2026-11-21T10:00:00.000Z' })).toBe(idOf(own));
    expect(idOf({ ...own, message: 'All of it is gone' })).not.toBe(idOf(own));
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
    for (const answer of [{}, { total: 3 }, { pageNumber: 1, total: 3 }, { message: 'failed' }])
      expect(decode(answer, undefined)).toEqual({ ok: false, problem: 'it has no page' });
    for (const page of ['', 0, false, {}]) expect(decode({ page }, undefined).ok).toBe(false);
    expect(decode([{ page: [] }], undefined).ok).toBe(false);
  });

  test('an empty page may leave its list out, the first one only where it says that there is nothing', () => {
    const later = decodePage((raw) => decodeInspection(raw, 'asked'), true);
    for (const answer of [{ total: 0 }, { pageNumber: 1 }, { pageNumber: 1, total: '0' }]) {
      expect(decode(answer, undefined)).toMatchObject({ ok: true, value: { items: [] } });
      expect(decodeProtocolPage([answer], undefined)).toMatchObject({ ok: true, value: { items: [] } });
    }
    for (const answer of [{}, { pageNumber: 3 }, { pageNumber: 3, total: 250 }]) {
      expect(later(answer, undefined)).toMatchObject({ ok: true, value: { items: [] } });
      expect(decodeProtocolPage([answer], undefined, true)).toMatchObject({ ok: true, value: { items: [] } });
    }
    for (const answer of [{ message: 'failed' }, { page: {} }]) expect(later(answer, undefined).ok).toBe(false);
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
