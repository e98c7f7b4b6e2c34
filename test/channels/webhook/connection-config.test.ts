import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  certificates,
  extraHeaders,
  isKeyOf,
  privateKey,
  proxyUrl,
} from '../../../src/channels/webhook/connection-config.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../../support/tls.ts';

const OTHER_KEY = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
const BROKEN = TEST_CERTIFICATE.replace('MIIB', 'AAAA');

test('certificates are taken in PEM, one or several, and only if every one can be read', () => {
  const takes = (pem: unknown): boolean => certificates().safeParse(pem).success;
  expect([TEST_CERTIFICATE, `# ours\n${TEST_CERTIFICATE}${TEST_CERTIFICATE}`].map(takes)).toEqual([true, true]);
  expect(['', 'x', TEST_KEY, BROKEN, TEST_CERTIFICATE + BROKEN, 7].map(takes)).toEqual(Array(6).fill(false));
});

test('a private key is taken without a passphrase, and kept secret', () => {
  expect(privateKey().parse(TEST_KEY).reveal()).toBe(TEST_KEY);
  const locked = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' },
  }).privateKey;
  for (const text of [locked, TEST_CERTIFICATE, 'x']) {
    const { error } = privateKey().safeParse(text);
    expect(error?.issues.map(({ message }) => message)).toEqual([
      `must be a private key in PEM without a passphrase; read it from a file with ${'$'}{file:PATH}`,
    ]);
  }
});

test('a key belongs to the first certificate, or not', () => {
  expect(isKeyOf(TEST_KEY, TEST_CERTIFICATE)).toBe(true);
  expect(isKeyOf(OTHER_KEY, TEST_CERTIFICATE)).toBe(false);
  expect(isKeyOf(TEST_KEY, BROKEN)).toBe(false);
  expect(isKeyOf('x', TEST_CERTIFICATE)).toBe(false);
});

test.each([
  ['http://proxy.example.com:3128', true],
  ['https://user:p%40ss@proxy.example.com', true],
  ['HTTP://proxy.example.com/', true],
  ['socks5://proxy.example.com', false],
  ['proxy.example.com:3128', false],
  ['http://proxy.example.com/path', false],
  ['http://proxy.example.com/?x=1', false],
  ['http://user:%zz@proxy.example.com', false],
  ['http://two words', false],
])('%s is a proxy: %j', (url, isProxy) => {
  const parsed = proxyUrl().safeParse(url);
  expect(parsed.success).toBe(isProxy);
  expect(parsed.data?.reveal()).toBe(isProxy ? url : undefined);
});

describe('extra headers', () => {
  const problemOf = (headers: object): string | undefined => {
    const issue = extraHeaders().safeParse(headers).error?.issues[0];
    return issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  };

  test('are lower-cased, with secret values', () => {
    const headers = extraHeaders().parse({ Authorization: 'Bearer a b', 'X-Api-Key': 'k' });
    expect(Object.entries(headers).map(([name, value]) => [name, value.reveal()])).toEqual([
      ['authorization', 'Bearer a b'],
      ['x-api-key', 'k'],
    ]);
    expect(JSON.stringify(headers)).not.toContain('Bearer');
  });

  test.each(['Webhook-Id', 'content-type', 'HOST', 'Transfer-Encoding', 'proxy-authorization', 'te'])(
    '%s is not to be set',
    (name) => expect(problemOf({ [name]: 'x' })).toMatch(/cannot be set here$/),
  );

  test.each<[object, RegExp]>([
    [{ 'two words': 'x' }, /must be a header's name/],
    [{ 'x-a': ' x' }, /must be printable ASCII on one line/],
    [{ 'x-a': 'x\r\nhost: y' }, /must be printable ASCII on one line/],
    [{ 'x-a': 'x', 'X-A': 'y' }, /must not name a header twice/],
  ])('%j is refused', (headers, rule) => expect(problemOf(headers)).toMatch(rule));
});
