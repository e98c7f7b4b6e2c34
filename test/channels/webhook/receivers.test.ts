import { expect, test } from 'vitest';
import { createReceiverFinder, receiverKey } from '../../../src/channels/webhook/receivers.ts';

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

test('the URL wins over host and port, and these over the host', () => {
  const find = createReceiverFinder({
    'Hooks.example.com': 'host',
    'hooks.example.com:8443': 'port',
    'https://hooks.example.com:8443/a': 'url',
  });
  expect(find('https://hooks.example.com:8443/a')).toBe('url');
  expect(find('https://hooks.example.com:8443/b')).toBe('port');
  expect(find('https://hooks.example.com/a')).toBe('host');
  expect(find('https://other.example.com/a')).toBeUndefined();
});
