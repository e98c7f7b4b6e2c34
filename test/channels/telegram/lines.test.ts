import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  disarm,
  disarmEach,
  entitiesIn,
  fitLines,
  type Line,
  lengthOf,
  splitLines,
  toHtml,
  toPlain,
} from '../../../src/channels/telegram/lines.ts';

const linesOf = (...texts: string[]): Line[] => texts.map((text) => [{ text }]);

test('markup is written around escaped text', () => {
  const line: Line = [{ text: 'a<b', mark: 'b' }, { text: ' & ' }, { text: '"x"', href: 'https://x.example/?a="b"&c' }];
  expect(toHtml([line])).toBe(
    '<b>a&lt;b</b> &amp; <a href="https://x.example/?a=&quot;b&quot;&amp;c">&quot;x&quot;</a>',
  );
  expect(toPlain([line])).toBe('a<b & "x"');
});

describe('disarm', () => {
  test.each(['@name', '#tag', '/start', '$USD', '+4930123', 'example.com', '10.0.0.1', 'a@b.example'])(
    'makes %j code, which Telegram does not link',
    (word) => {
      expect(disarm(linesOf(`see ${word} now`), 9)).toEqual([
        [{ text: 'see ' }, { text: word, mark: 'code' }, { text: ' now' }],
      ]);
    },
  );

  test.each(['1.5', '61.5 %', 'a. b', 'and/or', 'v1.2.3'])('leaves %j alone', (text) =>
    expect(disarm(linesOf(text), 9)).toEqual(linesOf(text)),
  );

  test('makes one block of what would need too many entities', () => {
    const lines = linesOf('@a @b', '@c');
    expect(disarm(lines, 3).flat().length).toBe(4);
    expect(disarm(lines, 2)).toEqual([[{ text: '@a @b\n@c', mark: 'pre' }]]);
    expect(entitiesIn(disarmEach(linesOf('@a @b @c @d', 'plain'), 9))).toBe(1);
  });
});

describe('fitLines', () => {
  test('changes nothing that fits', () => {
    expect(fitLines(linesOf('a', 'b'), 4)).toEqual(linesOf('a', 'b'));
  });

  test('keeps to the limit and says how much is left out', () => {
    const fitted = fitLines(linesOf('a'.repeat(100), 'b'.repeat(5000)), 400);
    expect(lengthOf(fitted)).toBeLessThanOrEqual(400);
    expect(toPlain(fitted)).toMatch(/^a{100}\nb+…\n\[4,\d{3} characters left out\]$/);
  });
});

test('splitLines loses nothing but spaces, and keeps every part within the limit', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[ab ]{0,60}$/)), fc.integer({ min: 5, max: 40 }), (texts, limit) => {
      const parts = splitLines(linesOf(...texts), limit);
      for (const part of parts) expect(lengthOf(part)).toBeLessThanOrEqual(limit);
      const words = (text: string): string => text.replace(/\s/g, '');
      expect(words(toPlain(parts.flat()))).toBe(words(texts.join('')));
    }),
  );
});
