import { createHmac, hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { webhookConfig } from '../../../src/channels/webhook/config.ts';
import { createSecretFinder, deriveSecret, REMEMBERED_MAX } from '../../../src/channels/webhook/receiver-settings.ts';
import { isSigningSecret } from '../../../src/channels/webhook/signature.ts';

const secretOf = (fill: string): string => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;
const FIRST = 'https://hooks.example/a';
const SECOND = 'https://hooks.example/b?key=1';

const finderOf = (config: object) => createSecretFinder(webhookConfig.parse(config), (secret) => secret);

/** HKDF-SHA256 (RFC 5869) of one block, written out: without a salt the key of the first step is 32 zeros. */
const hkdf = (key: Buffer, info: string): Buffer => {
  const extracted = createHmac('sha256', Buffer.alloc(32)).update(key).digest();
  return createHmac('sha256', extracted).update(info).update(Buffer.of(1)).digest();
};

test.each([FIRST, SECOND, `${FIRST}?${'q'.repeat(5000)}`])('a secret is derived by HKDF over the URL: %.40s', (url) => {
  const derived = deriveSecret(secretOf('a'), url);
  const expected = hkdf(Buffer.alloc(32, 'a'), `tocsin webhook secret ${hash('sha256', url)}`);
  expect(derived).toBe(`whsec_${expected.toString('base64')}`);
  expect(isSigningSecret(derived)).toBe(true);
});

test('by default the common secret signs for every address without one of its own', () => {
  const find = finderOf({ secret: secretOf('a'), secrets: { 'hooks.example': secretOf('b') } });
  expect(find(FIRST)).toEqual([secretOf('b')]);
  expect(find('https://other.example/')).toEqual([secretOf('a')]);
  expect(finderOf({})(FIRST)).toEqual([]);
});

test('derived, each URL has its own, two while the common secret is rotated; what a receiver was given stays', () => {
  const secrets = { [SECOND]: secretOf('c') };
  const find = finderOf({ secret: [secretOf('n'), secretOf('o')], secrets, deriveSecrets: true });
  expect(find(FIRST)).toEqual([deriveSecret(secretOf('n'), FIRST), deriveSecret(secretOf('o'), FIRST)]);
  expect(find(SECOND)).toEqual([secretOf('c')]);
  const all = new Set([...find(FIRST), ...find(`${FIRST}?`), ...find('https://other.example/a')]);
  expect(all.size).toBe(6);
});

test('what was derived is remembered, of the latest addresses only', () => {
  const made: string[] = [];
  const find = createSecretFinder(webhookConfig.parse({ secret: secretOf('a'), deriveSecrets: true }), (secret) => {
    made.push(secret);
    return secret;
  });
  made.length = 0;
  const first = find(FIRST);
  expect(find(FIRST)).toBe(first);
  expect(made).toHaveLength(1);
  for (let index = 1; index < REMEMBERED_MAX; index += 1) find(`${FIRST}/${index}`);
  expect(find(FIRST)).toBe(first);
  find(`${FIRST}/one-more`);
  expect(find(FIRST)).toBe(first);
  expect(made).toHaveLength(REMEMBERED_MAX + 1);
  find(`${FIRST}/1`);
  expect(made).toHaveLength(REMEMBERED_MAX + 2);
});
