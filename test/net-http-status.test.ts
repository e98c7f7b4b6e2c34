/** A status with the words that tell an operator whose fault it is. */
import { expect, test } from 'vitest';
import { statusText } from '../src/net.ts';

test('what is the fault of a server is said in words, and what is not stands alone', () => {
  expect(statusText(503)).toBe('503 (it is overloaded or down for a while)');
  expect(statusText(504)).toBe('504 (the server behind it took too long)');
  expect(statusText(404)).toBe('404');
});
