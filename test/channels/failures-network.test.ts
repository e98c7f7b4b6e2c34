import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { networkCodeOf, networkFailure, stoppedWaiting } from '../../src/channels/failures.ts';

const coded = (code: string): Error => Object.assign(new Error(`at https://hooks.example/s3cr3t: ${code}`), { code });

describe('networkFailure', () => {
  test.each([
    ['ECONNREFUSED', 'unavailable', false],
    ['ENOTFOUND', 'unavailable', false],
    ['EAI_AGAIN', 'unavailable', false],
    ['ETIMEOUT', 'unavailable', false],
    ['DNS_BUSY', 'unavailable', false],
    ['UND_ERR_CONNECT_TIMEOUT', 'unavailable', false],
    ['CERT_HAS_EXPIRED', 'unavailable', false],
    ['ECONNRESET', 'unavailable', true],
    ['UND_ERR_SOCKET', 'unavailable', true],
    ['UND_ERR_HEADERS_TIMEOUT', 'unavailable', true],
    ['UND_ERR_HEADERS_OVERFLOW', 'unknown', true],
    ['ERR_INVALID_URL', 'destination-dead', false],
    ['UND_ERR_DESTROYED', 'unavailable', false],
  ])('%s is %s', (code, reason, maybeDelivered) => {
    expect(networkFailure(coded(code), 'hooks.example')).toMatchObject({ reason, code, maybeDelivered });
  });

  test('a caller who knows whether it was sent knows better', () => {
    expect(networkFailure(coded('ECONNRESET'), 'hooks.example', false).maybeDelivered).toBe(false);
    expect(networkFailure(coded('UND_ERR_DESTROYED'), 'hooks.example', true).maybeDelivered).toBe(true);
  });

  test.each([
    ['a cause', new TypeError('fetch failed', { cause: coded('EPIPE') }), 'EPIPE'],
    ['several addresses', new AggregateError([coded('EHOSTUNREACH'), coded('ECONNREFUSED')]), 'EHOSTUNREACH'],
    [
      'the original',
      Object.assign(new Error('x'), { code: 'slack_webapi_request_error', original: coded('EAI_AGAIN') }),
      'EAI_AGAIN',
    ],
    ['a timeout', new DOMException('late', 'TimeoutError'), 'TimeoutError'],
    ['an abort', new DOMException('stop', 'AbortError'), 'AbortError'],
  ])('finds the code in %s', (_name, error, code) => {
    expect(networkCodeOf(error)).toBe(code);
  });

  test.each([[undefined], [null], ['text'], [42], [{}], [new Error('odd')], [coded('constructor')], [coded('EODD')]])(
    'what nobody documented is unknown: %j',
    (error) => {
      const failure = networkFailure(error, 'hooks.example');
      expect(failure).toMatchObject({ reason: 'unknown', code: 'unknown', maybeDelivered: true });
    },
  );

  test('an error that wraps itself ends the search', () => {
    const loop: { cause?: unknown } = {};
    loop.cause = loop;
    expect(networkCodeOf(loop)).toBeUndefined();
  });

  test('names the peer, the code and where it was thrown, but nothing that the original quotes', () => {
    for (const code of ['ECONNRESET', 'EODD']) {
      const failure = networkFailure(new Error('s3cr3t', { cause: coded(code) }), 'hooks.example');
      expect(failure.message).toMatch(/^hooks\.example /);
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain('s3cr3t');
    }
    expect(inspect(networkFailure(new Error('x'), 'hooks.example').cause)).toContain('network.test.ts');
  });
});

test('stoppedWaiting distinguishes a deadline from a stop', async () => {
  const late = AbortSignal.timeout(1);
  await new Promise((resolve) => late.addEventListener('abort', resolve));
  expect(stoppedWaiting(late, 'h', true)).toMatchObject({
    reason: 'unavailable',
    code: 'TimeoutError',
    maybeDelivered: true,
  });
  const stopped = AbortSignal.abort();
  expect(stoppedWaiting(stopped, 'h', false)).toMatchObject({
    reason: 'unavailable',
    code: 'AbortError',
    maybeDelivered: false,
  });
});
