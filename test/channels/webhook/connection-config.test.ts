import { describe, expect, test } from 'vitest';
import { extraHeaders, proxyUrl } from '../../../src/channels/webhook/connection-config.ts';

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
