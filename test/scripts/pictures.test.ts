/** docs/messages.md shows every kind of message; the pictures themselves need Chromium, which `make pictures` drives. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { FOLDER, fileOf, indexText, LOCK_SCREENS, withIndex } from '../../scripts/pictures/index-text.ts';
import { PLAYS } from '../../scripts/pictures/live.ts';
import { shrinkPng } from '../../scripts/pictures/png.ts';
import { SURFACES } from '../../scripts/pictures/surfaces.ts';
import { type WordCounts, wordsOf } from '../../scripts/pictures/words.ts';
import { WORDS, WORDS_BEFORE } from '../../scripts/pictures.ts';
import { SCENES } from '../../src/features/preview/scenes.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const counts = (file: string): WordCounts => JSON.parse(read(file)) as WordCounts;

test('each kind of message has its pictures; if not, run `make pictures`', () => {
  const files = [...PLAYS, ...SCENES].flatMap(({ group }) => SURFACES.map((surface) => fileOf(group, surface)));
  expect([LOCK_SCREENS, ...files].filter((file) => !existsSync(join(ROOT, FOLDER, file)))).toEqual([]);
});

test('the document is as `make pictures` writes it', () => {
  const document = read('docs/messages.md');
  expect(withIndex(document, indexText(counts(WORDS_BEFORE), counts(WORDS)))).toBe(document);
});

test('words are counted, signs are not', () => {
  expect(wordsOf('🔴 CRITICAL · Pool A – 90% of 0x5033…5ccb')).toBe(6);
});

const chunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
};

test('a picture keeps its size and its colours', () => {
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
  // The second row is written as its difference from the first.
  const rows = Buffer.from([0, 255, 0, 0, 0, 0, 255, 2, 0, 0, 0, 0, 0, 0]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const small = shrinkPng(
    Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]),
  );
  expect(small.subarray(16, 26)).toEqual(Buffer.from([0, 0, 0, 2, 0, 0, 0, 2, 8, 3]));
  const palette = small.subarray(small.indexOf('PLTE') + 4, small.indexOf('PLTE') + 10);
  expect(palette).toEqual(Buffer.from([255, 0, 0, 0, 0, 255]));
});
