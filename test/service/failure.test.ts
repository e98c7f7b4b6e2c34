import { errors } from 'undici';
import { expect, test } from 'vitest';
import { startDeadline } from '../../src/net.ts';
import { createSecret } from '../../src/secret.ts';
import { classify, createFailer, type RequestLabel } from '../../src/service/failure.ts';

const KEY = 'a/b"c key';
const failer = createFailer('main', createSecret(KEY));
const LABEL: RequestLabel = { method: 'GET', endpoint: 'inspections' };

test('an error says what was asked of which service, and what came back', () => {
  const error = failer({ ...LABEL, protocol: 'Vault' })('limited', '429: slow down', {
    status: 429,
    retryAfterMs: 5000,
  });
  expect(error).toMatchObject({ name: 'ServiceError', reason: 'limited', status: 429, retryAfterMs: 5000 });
  expect(error.message).toBe('main: GET inspections of "Vault": 429: slow down');
});

test('it is one short line, whatever the protocol is called and the answer says', () => {
  const { message } = failer({ ...LABEL, protocol: `a\n${'b'.repeat(500)}` })('failed', `x\r\n${'y'.repeat(5000)}`);
  expect(message).not.toMatch(/[\r\n]/);
  expect(message.length).toBeLessThanOrEqual(200);
  expect(message).toMatch(/^main: GET inspections of "a b+…": x y+…$/);
});

test.each([KEY, JSON.stringify(KEY), JSON.stringify(KEY).replaceAll('/', '\\/'), encodeURIComponent(KEY)])(
  'the key is not in it where the answer quotes it as %s',
  (quoted) => {
    const { message } = failer(LABEL)('unauthorized', `401: not valid: ${quoted}.`);
    expect(message).toMatch(/^main: GET inspections: 401: not valid: /);
    expect(message).not.toMatch(/key|b.{0,3}c/);
  },
);

const coded = (code: string): Error => Object.assign(new Error('http://user:pass@host failed'), { code });

test.each([
  [new errors.ClientClosedError(), 'aborted', 'the client is closed'],
  [new errors.ClientDestroyedError(), 'aborted', 'the client is closed'],
  [coded('Z_DATA_ERROR'), 'unreadable', 'the answer cannot be decompressed (Z_DATA_ERROR)'],
  [new errors.HeadersOverflowError(), 'unreadable', "the answer's headers are too large"],
  [
    Object.assign(new errors.HTTPParserError('bad'), { code: 'HPE_INVALID_VERSION' }),
    'unreadable',
    'the answer is not HTTP (HPE_INVALID_VERSION)',
  ],
  [coded('ECONNREFUSED'), 'unreachable', 'no answer: the server refuses connections (ECONNREFUSED)'],
  [new TypeError('fetch failed'), 'unreachable', 'no answer (TypeError)'],
  ['thrown', 'unreachable', 'no answer (unknown)'],
])('%s is %s', (error, reason, text) => {
  const deadline = startDeadline(new AbortController().signal, 60_000);
  expect(classify(error, deadline, 60_000)).toEqual([reason, text]);
  deadline.end();
});

test('who ended the request counts more than what it failed with', async () => {
  const caller = new AbortController();
  const aborted = startDeadline(caller.signal, 60_000);
  caller.abort();
  expect(classify(coded('ECONNRESET'), aborted, 60_000)).toEqual(['aborted', 'stopped by the caller']);
  aborted.end();
  const expired = startDeadline(new AbortController().signal, 1);
  await new Promise((resolve) => expired.signal.addEventListener('abort', resolve, { once: true }));
  expect(classify(coded('ECONNRESET'), expired, 1)).toEqual(['unreachable', 'no complete answer within 1 ms']);
  expired.end();
});
