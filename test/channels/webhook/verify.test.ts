import { createSecretKey } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { signatureBy, signatures, signingKey } from '../../../src/channels/webhook/signature.ts';
import { type Received, verifyWebhook } from '../../../src/channels/webhook/verify.ts';

const NOW = 1_732_097_251_000;
const secretOf = (fill: string): string => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
const SECRETS = { 'channels.webhook.secret': secretOf('a'), 'an older one': secretOf('b') };
const [ID, TIMESTAMP, BODY] = ['msg_1', String(NOW / 1000), '{"a": 1}'];

const received = (changes: Partial<Received> = {}): Received => ({
  id: ID,
  timestamp: TIMESTAMP,
  signature: signatures([signingKey(secretOf('a'))], { id: ID, timestamp: TIMESTAMP, body: BODY }),
  body: Buffer.from(BODY),
  ...changes,
});

const verify = (changes: Partial<Received> = {}, now = NOW) =>
  verifyWebhook(received(changes), { secrets: SECRETS, now, toleranceMs: 300_000 });
const detailOf = (name: string, ...args: Parameters<typeof verify>): [boolean, string] | undefined => {
  const found = verify(...args).find(({ check }) => check === name);
  return found && [found.ok, found.detail];
};

test('what arrived as it was sent passes every check, and names the secret', () => {
  expect(verify()).toEqual([
    { check: 'headers', ok: true, detail: 'all three are there' },
    { check: 'timestamp', ok: true, detail: 'just now, the tolerance is 5m' },
    { check: 'signature', ok: true, detail: 'made with channels.webhook.secret' },
  ]);
});

test('without its headers nothing else is checked', () => {
  const { id: _id, signature: _signature, ...rest } = received();
  expect(verifyWebhook(rest, { secrets: SECRETS, now: NOW, toleranceMs: 1 })).toEqual([
    { check: 'headers', ok: false, detail: 'missing: webhook-id, webhook-signature' },
  ]);
  expect(verify({ id: 'a.b' })).toEqual([{ check: 'headers', ok: false, detail: 'webhook-id has a dot in it' }]);
});

describe('the timestamp', () => {
  test.each([
    [String(NOW), 'is in milliseconds; seconds are due'],
    ['soon', 'is not a number of seconds'],
    ['-5', 'is not a number of seconds'],
  ])('%s %s', (timestamp, detail) => expect(detailOf('timestamp', { timestamp })).toEqual([false, detail]));

  test.each([
    [300_000, true, '5m old'],
    [-300_000, true, '5m in the future'],
    [300_001, false, '5m old'],
    [-3_600_000 * 30, false, '30h in the future'],
    [86_400_000 * 12, false, '12d old'],
  ])('%d ms later: %j, %s', (laterMs, isOk, difference) => {
    const [ok, detail] = detailOf('timestamp', {}, NOW + laterMs) ?? [];
    expect(ok).toBe(isOk);
    expect(detail?.startsWith(`${difference}, `)).toBe(true);
  });

  test('that is too old does not hide a signature that is right', () => {
    expect(verify({}, NOW + 86_400_000).map(({ ok }) => ok)).toEqual([true, false, true]);
  });
});

describe('the signature', () => {
  const signed = (body: string | Buffer) =>
    signatures([signingKey(secretOf('a'))], { id: ID, timestamp: TIMESTAMP, body });

  test('may be one of several, made with one of several secrets', () => {
    const both = signatures([secretOf('b'), secretOf('a')].map(signingKey), {
      id: ID,
      timestamp: TIMESTAMP,
      body: BODY,
    });
    expect(detailOf('signature', { signature: `v1a,x ${both}` })).toEqual([
      true,
      'made with channels.webhook.secret and an older one',
    ]);
  });

  test('of another form is none', () => {
    for (const signature of ['abc', 'v1,abc', signed(BODY).replace('v1,', 'v2,')]) {
      expect(detailOf('signature', { signature })).toEqual([
        false,
        'none is of the form v1, and the base64 of 32 bytes',
      ]);
    }
  });

  test.each<[string, Partial<Received>]>([
    [
      'made with this secret, but the body got a line break at its end, as editors and shells add it',
      { body: Buffer.from(`${BODY}\r\n`) },
    ],
    [
      'made with this secret, but the body was parsed and rewritten, by a proxy or the framework: verify the bytes as they came',
      { signature: signed('{"a":1}') },
    ],
    [
      'made with this secret, but the line breaks of the body were changed',
      { signature: signed('{\n"a": 1}'), body: Buffer.from('{\r\n"a": 1}') },
    ],
    [
      'made with this secret, but the body got a byte order mark at its beginning, as some editors add it',
      { body: Buffer.from(`\ufeff${BODY}`) },
    ],
    [
      'made with this secret, but the body was parsed and rewritten with its keys in another order: verify the bytes as they came',
      { signature: signed('{"type":"x","data":{"b":1}}'), body: Buffer.from('{"data": {"b": 1}, "type": "x"}') },
    ],
    [
      "made with the secret's text: the key is what the base64 after whsec_ decodes to",
      { signature: signatureBy(createSecretKey(secretOf('a'), 'utf8'), { id: ID, timestamp: TIMESTAMP, body: BODY }) },
    ],
    ['made with another secret, or the body, which is no JSON, was cut or changed', { body: Buffer.from('{"a": ') }],
    [
      'made with another secret, or a value was changed: a signature does not tell which; the body is at least not rewritten',
      { body: Buffer.from('{"a":2}') },
    ],
    ['made with another secret, or the id, the timestamp or the body was changed', { id: 'msg_2' }],
  ])('%s', (detail, changes) => expect(detailOf('signature', changes)).toEqual([false, detail]));

  test('another secret that is known is named', () => {
    const signature = signatureBy(createSecretKey(Buffer.from('c'.repeat(32))), {
      id: ID,
      timestamp: TIMESTAMP,
      body: BODY,
    });
    const others = { 'the secret of another receiver': `whsec_${Buffer.from('c'.repeat(32)).toString('base64')}` };
    const checks = verifyWebhook(
      { id: ID, timestamp: TIMESTAMP, signature, body: Buffer.from(BODY) },
      { secrets: SECRETS, others, now: Number(TIMESTAMP) * 1000, toleranceMs: 1000 },
    );
    expect(checks.at(-1)).toEqual({
      check: 'signature',
      ok: false,
      detail: 'made with the secret of another receiver, not with the secret of this receiver',
    });
  });

  test('no check repeats a secret', () => {
    const text = JSON.stringify([verify(), verify({ id: 'msg_2' }), verify({ body: Buffer.from(secretOf('a')) })]);
    expect(text).not.toContain('whsec_YWFh');
  });
});
