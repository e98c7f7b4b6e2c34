import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginningOf,
  cleanLine,
  cleanText,
  counted,
  countedInWords,
  escapeInvisible,
  firstFew,
  listText,
  namesText,
  shorten,
  shortenMiddle,
} from '../src/text.ts';
import { anyText } from './support/texts.ts';

describe('cleanText', () => {
  test.each([
    ['controls and escapes', 'a\u0000b\u0007c\u001b[31md\u007f\u009b', 'abc[31md'],
    ['direction', 'safe\u202egnp.exe\u2066x\u2069\u061c', 'safegnp.exex'],
    ['zero width', 'pass\u200bword\u200d\u2060\ufeff', 'password'],
    ['fillers and tags', 'a\u115f\u3164\uffa0\u{e0041}\u{e0100}\ufe0fb', 'ab'],
    ['lone surrogates', 'a\ud800b\udc00c\ud83e\udde8', 'abc\u{1f9e8}'],
    ['noncharacters and annotation', 'a\uffff\u{1fffe}\ufff9b', 'ab'],
    ['line ends of all kinds', 'a\r\nb\rc\u2028d\u2029e\u0085f\vg\fh', 'a\nb\nc\nd\ne\nf\ng\nh'],
    ['more than one blank line', 'a\n\n\nb\n \t\n  \n\nc', 'a\n\nb\n\nc'],
    ['marks piled up', `z${'\u0301'.repeat(50)}a`, `z${'\u0301'.repeat(4)}a`],
    ['space around', ' \n a \t b \n ', 'a \t b'],
  ])('removes %s', (_what, text, clean) => expect(cleanText(text)).toBe(clean));

  test.each(['naïve Ünïcödé', '漢字 かな', 'العربية', 'ภาษาไทย ที่นี่', 'हिन्दी', '🧨', 'tab\there', 'a\n\nb'])(
    'leaves %j alone',
    (text) => expect(cleanText(text)).toBe(text),
  );

  test('is done after once, for any text', () => {
    fc.assert(fc.property(anyText(), (text) => cleanText(cleanText(text)) === cleanText(text)));
  });

  test('leaves nothing that is invisible or ends a line elsewhere', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const clean = cleanText(text);
        expect(clean.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\u200b-\u200f\u2028-\u202e\ufeff]/u);
        expect(clean.isWellFormed()).toBe(true);
      }),
    );
  });

  test.each(['\n ', '\u0301', ' ', '\ud800', '\r', '\n\t'])('cleans a megabyte of %j', (unit) => {
    expect(cleanText(`x${unit.repeat(500_000)}x`)).toMatch(/^x(?:\s|\u0301)*x$/);
  });
});

describe('escapeInvisible', () => {
  test('shows what no eye sees, and leaves everything else alone', () => {
    expect(escapeInvisible('\u001b[2J\r\u0085\u007f\u202e\u2066\u2028\u{e0041}\u200b')).toBe(
      '\\u001b[2J\\u000d\\u0085\\u007f\\u202e\\u2066\\u2028\\udb40\\udc41\\u200b',
    );
    expect(escapeInvisible('a\n\tnaïve 漢字 العربية 🧨 \\u001b')).toBe('a\n\tnaïve 漢字 العربية 🧨 \\u001b');
  });

  test('makes no other JSON of any JSON', () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const json = escapeInvisible(JSON.stringify({ [text]: [text] }, null, 2));
        expect(json).not.toMatch(/(?!\n)\p{Cc}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ [text]: [text] })));
      }),
    );
  });
});

describe('cleanLine', () => {
  test('has one line and single spaces, for any text', () => {
    expect(cleanLine(' a\r\nBcc:  b\t c\u2028d ')).toBe('a Bcc: b c d');
    fc.assert(
      fc.property(anyText(), (text) => {
        expect(cleanLine(text)).not.toMatch(/[\r\n\t\v\f]| {2}|^ | $/);
      }),
    );
  });
});

describe('shorten', () => {
  test.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['ab cd', 4, 'ab…'],
    ['a🧨b', 3, 'a…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
    ['', 0, ''],
  ])('%j to %i is %j', (text, limit, short) => expect(shorten(text, limit)).toBe(short));

  test('keeps to the limit and to whole characters, for any text', () => {
    fc.assert(
      fc.property(anyText(), fc.nat(200), (text, limit) => {
        const short = shorten(cleanText(text), limit);
        expect(short.length).toBeLessThanOrEqual(limit);
        expect(short.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('shortenMiddle', () => {
  test.each([
    ['0x0123456789abcdef', '0x01…cdef'],
    ['0x01cdef', '0x01cdef'],
    ['0x01_cdef', '0x01_cdef'],
    ['', ''],
  ])('%j is %j', (text, short) => expect(shortenMiddle(text, { head: 4, tail: 4 })).toBe(short));
});

test('beginningOf keeps whole characters', () => {
  expect(beginningOf('a🧨b', 2)).toBe('a');
  expect(beginningOf('a🧨b', 3)).toBe('a🧨');
  expect(beginningOf('ab', 5)).toBe('ab');
});

test('a count has the noun in the right number', () => {
  expect([0, 1, 2].map((count) => counted(count, 'alert'))).toEqual(['0 alerts', '1 alert', '2 alerts']);
  expect([1, 2].map((count) => counted(count, 'entry', 'entries'))).toEqual(['1 entry', '2 entries']);
  expect([0, 1, 2].map((count) => countedInWords(count, 'alert'))).toEqual(['0 alerts', 'one alert', '2 alerts']);
});

test('firstFew gives the first few and says how much more there is', () => {
  expect(firstFew(['A', 'B', 'C'], 3)).toEqual(['A', 'B', 'C']);
  expect(firstFew(['A', 'B', 'C', 'D', 'E'], 3)).toEqual(['A', 'B', 'C', 'and 2 more']);
});

test('listText names the first few and counts the others', () => {
  expect(listText(['A', 'B', 'C'])).toBe('A, B, C');
  expect(listText(['A', 'B', 'C', 'D', 'E'])).toBe('A, B, C and 2 more');
  expect(namesText(['a\nb', 'c'], 1)).toBe('“a b” and 1 more');
});
