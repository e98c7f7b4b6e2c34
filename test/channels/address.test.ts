import { describe, expect, test } from 'vitest';
import { quoteContact, webAddress, webLabel } from '../../src/channels/address.ts';

describe('webAddress', () => {
  test.each([
    [' https://Hooks.Example.com/a?b=c#d ', 'https://hooks.example.com/a?b=c'],
    ['http://127.0.0.1:80', 'http://127.0.0.1/'],
  ])('%j is %j', (text, address) => expect(webAddress(text)).toBe(address));

  test.each(['', 'hooks.example.com', 'ftp://example.com/', 'javascript:alert(1)', 'https://', '#alerts'])(
    '%j is none',
    (text) => expect(webAddress(text)).toBeUndefined(),
  );
});

test('webLabel shows the host, differs for addresses of one host, and hides the rest', () => {
  const [first, second] = ['s3cr3t-1', 's3cr3t-2'].map((path) =>
    webLabel(`https://hooks.example.com:8443/${path}?k=1`),
  );
  expect(first).toMatch(/^hooks\.example\.com:8443 \([0-9a-f]{4}\)$/);
  expect(second).not.toBe(first);
});

describe('quoteContact', () => {
  test('shows a URL by its label only', () => {
    expect(quoteContact(' https://hooks.example.com/s3cr3t ')).toBe(webLabel('https://hooks.example.com/s3cr3t'));
  });

  test('is one short line', () => {
    expect(quoteContact('a\nb\u202e')).toBe('"a b"');
    expect(quoteContact('x'.repeat(100))).toBe(`"${'x'.repeat(59)}…"`);
  });

  test('hides what resembles a token', () => {
    expect(quoteContact('xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx')).not.toContain('abcdefghij');
  });
});
