import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { certificates, isKeyOf, privateKey } from '../../src/schema/connection.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/tls.ts';

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
