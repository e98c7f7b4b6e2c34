/** Any text at all, and text made of what parsers trip over. */
import fc from 'fast-check';
import { HOSTILE_TEXTS } from './hostile.ts';

const FRAGMENTS = [
  '<',
  '>',
  '&',
  '"',
  "'",
  '/',
  '\\',
  ';',
  '#',
  '@',
  '$',
  '.',
  ':',
  '-',
  '_',
  '*',
  '`',
  '~',
  '|',
  '[',
  ']',
  '(',
  ')',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\u0000',
  '\u001b',
  '\u00a0',
  '\u0301',
  '\u200b',
  '\u202e',
  '\u2028',
  '\ufeff',
  '\ud83e',
  '🧨',
  '<b>',
  '</b>',
  '<a href="',
  '</a>',
  '<!--',
  '-->',
  '<![CDATA[',
  '</style>',
  '&lt',
  '&#0;',
  '&#x3c;',
  '&amp;amp;',
  'https://evil.example/x',
  'evil.example',
  '127.0.0.1',
  'tg://resolve',
  '@oncall',
  '#tag',
  '/start',
  '$USDC',
  '+4917012345678',
  'Bcc: other@evil.example',
  'Content-Type: text/html',
  '\r\n.\r\n',
  '=?utf-8?q?x?=',
  '=0D=0A',
  'word',
  '0x5d1c9a',
  '12,400',
];

const fragments = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength, size: 'max' }).map((parts) => parts.join(''));

const SURROGATES = { first: 0xd800, count: 0x800 };

/** The same as fast-check's `binary`, without a table of every character, which takes each process a second to build. */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (n) => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count),
  (value) => {
    const point = typeof value === 'string' && [...value].length === 1 ? (value.codePointAt(0) ?? -1) : -1;
    const n = point < SURROGATES.first ? point : point - SURROGATES.count;
    if (n < 0 || (point >= SURROGATES.first && n < SURROGATES.first)) throw new Error('no character');
    return n;
  },
);

/** With lone surrogates, too. */
const codePoints = (max: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0, max }), { maxLength: 40 }).map((points) => String.fromCodePoint(...points));

/** Any code points, lone surrogates, known attacks, and heaps of syntax up to thousands of characters. */
export const anyText = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    codePoints(0x10ffff),
    codePoints(0xffff),
    codePoints(0x2ff),
    fc.constantFrom(...HOSTILE_TEXTS),
    fragments(30),
    fragments(1500),
  );

/** A JSON value of any shape, as a service might come to send in any field. */
export const anyJson = (): fc.Arbitrary<fc.JsonValue> => fc.jsonValue({ maxDepth: 3 });
