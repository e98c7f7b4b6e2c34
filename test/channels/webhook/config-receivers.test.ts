import { expect, test } from 'vitest';
import { createReceiverFinder, receiverKey } from '../../../src/channels/webhook/config.ts';

test.each([
  ['Hooks.Example.com', 'hooks.example.com'],
  ['hooks.example.com:8443', 'hooks.example.com:8443'],
  ['[::1]:80', '[::1]:80'],
  ['https://hooks.example.com/a#b', 'https://hooks.example.com/a'],
])('%j is %j', (name, key) => expect(receiverKey(name)).toBe(key));

test.each(['', 'hooks.example.com/a', 'a b', 'user@hooks.example.com', 'ftp://hooks.example.com/'])(
  '%j names no receiver',
  (name) => expect(receiverKey(name)).toBeUndefined(),
);

test('a host means https and its own port; the URL wins over it, and names anything else', () => {
  const find = createReceiverFinder({
    'Hooks.example.com': 'host',
    'hooks.example.com:8443': 'port',
    'https://hooks.example.com:8443/a': 'url',
    'http://hooks.example.com/plain': 'plain',
    '[2001:DB8::1]': 'address',
  });
  expect(find('https://hooks.example.com:8443/a')).toBe('url');
  expect(find('https://hooks.example.com:8443/b')).toBe('port');
  expect(find('https://hooks.example.com/a')).toBe('host');
  expect(find('https://hooks.example.com:443/a')).toBe('host');
  expect(find('https://[2001:db8::1]/a')).toBe('address');
  expect(find('http://hooks.example.com/plain')).toBe('plain');
  for (const other of [
    'https://hooks.example.com:9999/a',
    'https://[2001:db8::1]:9999/a',
    'http://hooks.example.com/a',
    'http://hooks.example.com:443/a',
    'http://hooks.example.com:8443/a',
    'https://other.example.com/a',
  ])
    expect(find(other), other).toBeUndefined();
});
