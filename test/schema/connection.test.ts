import { expect, test } from 'vitest';
import { proxyUrl } from '../../src/schema/connection.ts';

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
