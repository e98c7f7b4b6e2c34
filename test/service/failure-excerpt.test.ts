import { expect, test } from 'vitest';
import { EXCERPT_SOURCE_LIMIT, excerptOf } from '../../src/service/failure.ts';

test.each([
  ['{"message":"no such protocol"}', 'no such protocol'],
  ['{"error":{"detail":"no such protocol"}}', 'no such protocol'],
  ['{"errors":[{"code":7},{"reason":"no such protocol"}]}', 'no such protocol'],
  ['{"message":" ","title":"no such protocol"}', 'no such protocol'],
  ['{"message":null,"code":7}', '{"message":null,"code":7}'],
  ['{"a":{"message":"not where a message stands"}}', '{"a":{"message":"not where a message stands"}}'],
  ['"just\\ntext"', 'just text'],
  ['<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>', '502 Bad Gateway'],
  ['<h1 class="x">Down</h1>for <b>now</b>', 'Down'],
  ['<p>no <b>title</b></p>', 'no title'],
  ['plain\r\ntext', 'plain text'],
  ['', ''],
])('%j says %j', (body, excerpt) => {
  expect(excerptOf(body)).toBe(excerpt);
});

test('a message that is buried too deep is not searched for', () => {
  const deep = (levels: number): string =>
    JSON.stringify(Array.from({ length: levels }).reduce<object>((inner) => ({ error: inner }), { message: 'found' }));
  expect(excerptOf(deep(3))).toBe('found');
  expect(excerptOf(deep(9))).toBe(deep(9));
});

test('only the beginning of a large body is searched', () => {
  expect(excerptOf('x'.repeat(EXCERPT_SOURCE_LIMIT + 5000))).toHaveLength(EXCERPT_SOURCE_LIMIT);
});

test('an own key is a message, an inherited one is not', () => {
  expect(excerptOf('{"__proto__":{"message":"no"}}')).toBe('{"__proto__":{"message":"no"}}');
});
