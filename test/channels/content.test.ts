import fc from 'fast-check';
import { expect, describe as suite, test } from 'vitest';
import type { JsonObject } from '../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../src/channels/chains.ts';
import { alertLink, type Content, describe, firedDetections } from '../../src/channels/content.ts';
import { cleanText } from '../../src/text.ts';
import { inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../support/alerts.ts';
import { anyJson, anyText } from '../support/texts.ts';

const SENT_AT = '2026-11-20T10:07:55.000Z';

const contentOf = (alert = inspectionAlert(), sentAt = SENT_AT): Content => describe(alert, WELL_KNOWN_CHAINS, sentAt);

const factsOf = (content: Content): Record<string, string> =>
  Object.fromEntries(content.facts.map(({ label, value }) => [label, value]));

suite('an inspection', () => {
  test('says what, where and how sure in its headline, and every fact once', () => {
    const content = contentOf();
    expect(content).toMatchObject({
      headline: 'CRITICAL: Lending Pool: flashLoan, drasticBalanceChange',
      title: 'CRITICAL: Lending Pool: flashLoan, drasticBalanceChange',
      severity: 'CRITICAL',
      protocol: 'Lending Pool',
    });
    expect(content).not.toHaveProperty('notice');
    expect(factsOf(content)).toEqual({
      Transaction: TX_HASH,
      Chain: 'Base (8453)',
      Origin: TX_ORIGIN,
      Method: 'liquidateCall',
      'Not fired': 'mixer',
      Assets: `Lending vault (0x${'ab'.repeat(20)})`,
      'Transaction time': '2026-11-20 10:07:12 UTC',
      Inspected: '2026-11-20 10:07:31 UTC (19 s after the transaction, 23 s before sending)',
      Sent: '2026-11-20 10:07:55 UTC (43 s after the transaction)',
      Inspection: '673d2f0a1b2c3d4e5f607182',
    });
  });

  test('links transaction and origin where the chain is known and the text has the shape of one', () => {
    const urls = (item: JsonObject) => contentOf(inspectionAlert({ item })).facts.flatMap(({ url }) => url ?? []);
    expect(urls({})).toEqual([`https://basescan.org/tx/${TX_HASH}`, `https://basescan.org/address/${TX_ORIGIN}`]);
    expect(urls({ chainId: '8453' })).toHaveLength(2);
    expect(urls({ chainId: 424_242 })).toEqual([]);
    expect(urls({ txHash: `${TX_HASH}/../evil`, txOrigin: 'javascript:alert(1)' })).toEqual([]);
    for (const chainId of ['constructor', '__proto__', 'toString']) expect(urls({ chainId })).toEqual([]);
    expect(alertLink(inspectionAlert({ item: { chainId: '__proto__' } }), WELL_KNOWN_CHAINS)).toBeUndefined();
  });

  test.each([
    ['suspecious', 'SUSPICIOUS'],
    ['ok', 'OK'],
    ['', 'UNKNOWN'],
    ['brand new', 'BRAND NEW'],
  ])('assessed %j is called %s', (assessment, severity) => {
    expect(contentOf(inspectionAlert({ item: { assessment } })).severity).toBe(severity);
  });

  test('lists several assets one by one as well', () => {
    const assets = [{ address: '0xa', descriptor: 'Vault' }, { address: '0xb' }, 'odd'];
    const fact = contentOf(inspectionAlert({ item: { assets } })).facts.find(({ label }) => label === 'Assets');
    expect(fact).toEqual({
      label: 'Assets',
      value: 'Vault (0xa), 0xb, unknown',
      items: ['Vault (0xa)', '0xb', 'unknown'],
    });
  });

  test.each([
    ['2026-11-20T10:07:12+02:00', '2026-11-20 08:07:12 UTC'],
    ['2026-11-20', '2026-11-20'],
    ['2026-99-20T10:07:12Z', '2026-99-20T10:07:12Z'],
    ['soon\nish', 'soon ish'],
    [null, 'unknown'],
    [1_763_633_232, '1763633232'],
  ])('time %j is shown as %j', (txTimestamp, shown) => {
    expect(factsOf(contentOf(inspectionAlert({ item: { txTimestamp } })))['Transaction time']).toBe(shown);
  });

  test.each([
    ['2026-11-20T10:07:12.999Z', '0 s'],
    ['2026-11-20T10:08:11.000Z', '59 s'],
    ['2026-11-20T10:09:12.000Z', '2 min'],
    ['2026-11-20T13:30:00.000Z', '3 h'],
    ['2026-11-23T10:07:12.000Z', '3 d'],
  ])('sent at %s is %s after the transaction', (sentAt, age) => {
    expect(factsOf(contentOf(inspectionAlert(), sentAt)).Sent).toContain(`(${age} after the transaction)`);
  });

  test('a clock that is behind makes no negative age', () => {
    expect(factsOf(contentOf(inspectionAlert(), '2026-11-20T10:00:00.000Z')).Sent).toBe('2026-11-20 10:00:00 UTC');
  });
});

suite('detections', () => {
  test('every status but notDetected counts, also one that nobody documented', () => {
    const detections = {
      a: { status: 'detected', message: 'm' },
      b: { status: 'notDetected', message: 'x' },
      c: { status: 'brandNew', message: 7 },
      d: 'odd',
      '': { status: 'detected', message: ' \n ' },
    };
    expect(firedDetections({ detections })).toEqual([
      { name: 'a', message: 'm' },
      { name: 'c', message: '' },
      { name: 'd', message: '' },
      { name: 'unnamed detector', message: '' },
    ]);
  });
});

suite('a stored notification', () => {
  test('is shown whole, and its first line is in the headline', () => {
    const content = contentOf(notificationAlert('Paused\r\nby the guardian'));
    expect(content).toMatchObject({
      headline: 'Notification: Lending Pool: Paused',
      title: 'Notification: Lending Pool',
      message: 'Paused\nby the guardian',
      detections: [],
    });
    expect(content.facts.map(({ label }) => label)).toEqual(['Stored', 'Sent', 'Notification']);
  });

  test('names its transaction where it has one', () => {
    const content = contentOf(notificationAlert('x', { txHash: TX_HASH }));
    expect(content.facts[0]).toEqual({ label: 'Transaction', value: TX_HASH });
  });
});

suite('what is no news', () => {
  test('is said in the first line and in a sentence', () => {
    expect(contentOf(inspectionAlert({ replay: true }))).toMatchObject({
      headline: 'CRITICAL (replay): Lending Pool: flashLoan, drasticBalanceChange',
      notice: expect.stringMatching(/^Replay/),
    });
    expect(contentOf(notificationAlert('x', { replay: true })).title).toBe('Notification (replay): Lending Pool');
    expect(contentOf(inspectionAlert({ type: 'test.sample', replay: true }))).toMatchObject({
      headline: 'TEST: Lending Pool: flashLoan, drasticBalanceChange',
      notice: 'This is a test. Nothing happened.',
    });
  });
});

suite('a follow-up', () => {
  const followUp = { of: 'first', was: 'critical', is: 'suspecious' };

  test('says in its first line what changed, in a sentence that it is one, and little else', () => {
    const content = contentOf(inspectionAlert({ type: 'inspection.downgraded', followUp }));
    expect(content).toMatchObject({
      headline: 'FOLLOW-UP: Lending Pool: now SUSPICIOUS (was CRITICAL)',
      severity: 'FOLLOW-UP',
      notice: expect.stringMatching(
        /^Follow-up to an alert you had: .* now assesses .* as suspicious. It was critical before.$/,
      ),
      detections: [],
    });
    expect(content.facts.map(({ label }) => label)).toEqual(['Transaction', 'Chain', 'Sent', 'Inspection']);
  });

  test('that comes by the fallback says so first', () => {
    const content = contentOf(inspectionAlert({ followUp, notice: 'Fallback: slack C1 did not take this.' }));
    expect(content.notice).toMatch(/^Fallback: slack C1 did not take this\. Follow-up to an alert you had: /);
  });

  test('says so as well where the inspection is gone', () => {
    const item = { chainId: null, txTimestamp: null };
    const content = contentOf(inspectionAlert({ item, followUp: { of: 'first', was: 'critical' } }));
    expect(content.headline).toBe('FOLLOW-UP: Lending Pool: no longer listed (was CRITICAL)');
    expect(content.notice).toContain('no longer lists this inspection');
  });

  test('trusts no word of the service', () => {
    const content = contentOf(inspectionAlert({ followUp: { of: 'first', was: 'x\u202ey\nz', is: '\u200b' } }));
    expect(content.headline).toBe('FOLLOW-UP: Lending Pool: now UNKNOWN (was XY Z)');
  });
});

suite('any item', () => {
  const strings = (value: unknown): string[] =>
    typeof value === 'string'
      ? [value]
      : typeof value === 'object' && value !== null
        ? Object.values(value).flatMap(strings)
        : [];

  test('is described, in clean text, with unique labels', () => {
    const fields = [
      '_id',
      'chainId',
      'txHash',
      'txTimestamp',
      'txOrigin',
      'assets',
      'invokedMethodName',
      'assessment',
      'detections',
      'createdAt',
      'message',
    ];
    const item = fc.record(Object.fromEntries(fields.map((field) => [field, fc.oneof(anyText(), anyJson())])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(item, anyText(), fc.boolean(), (fieldsOf, protocol, stored) => {
        const alert = {
          ...(stored ? notificationAlert('') : inspectionAlert()),
          item: fieldsOf as JsonObject,
          protocol,
        };
        const content = contentOf(alert);
        const labels = content.facts.map(({ label }) => label);
        expect(new Set(labels).size).toBe(labels.length);
        for (const text of strings(content)) expect(text).toBe(cleanText(text));
        expect(content.headline).not.toMatch(/[\r\n]/);
        expect(content.protocol).not.toBe('');
      }),
    );
  });
});
