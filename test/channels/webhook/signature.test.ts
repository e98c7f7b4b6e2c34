import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSigningSecret, signatures, signingKey } from '../../../src/channels/webhook/signature.ts';

const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

test.each([
  [secretOf(23), false],
  [secretOf(24), true],
  [secretOf(64), true],
  [secretOf(65), false],
  [secretOf(32).replace('whsec_', ''), false],
  [`${secretOf(32)} `, false],
])('%j may sign: %j', (secret, may) => expect(isSigningSecret(secret)).toBe(may));

test('a signature is the HMAC of id, timestamp and body, one for each secret in their order', () => {
  const signed = { id: 'msg_1', timestamp: '1732097251', body: '{"a":1}' };
  const expected = [24, 32].map((bytes) => {
    const hmac = createHmac('sha256', Buffer.alloc(bytes, 7));
    return `v1,${hmac.update('msg_1.1732097251.{"a":1}').digest('base64')}`;
  });
  expect(signatures([secretOf(24), secretOf(32)].map(signingKey), signed)).toBe(expected.join(' '));
  expect(signatures([], signed)).toBe('');
});
