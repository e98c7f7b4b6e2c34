import { expect, test } from 'vitest';
import {
  type Block,
  blocksToHtml,
  blocksToPlain,
  entitiesIn,
  type Line,
  toHtml,
  toPlain,
  withoutTimes,
} from '../../../src/channels/telegram/lines.ts';

test('markup is written around escaped text', () => {
  const line: Line = [{ text: 'a<b', mark: 'b' }, { text: ' & ' }, { text: '"x"', href: 'https://x.example/?a="b"&c' }];
  expect(toHtml([line])).toBe(
    '<b>a&lt;b</b> &amp; <a href="https://x.example/?a=&quot;b&quot;&amp;c">&quot;x&quot;</a>',
  );
  expect(toPlain([line])).toBe('a<b & "x"');
});

const quote: Block = { lines: [[{ text: 'said', mark: 'b' }], [{ text: '<b>' }]], as: 'quote' };

test('blocks are written below each other, as a quote or folded; one without lines is not there', () => {
  const blocks: Block[] = [{ lines: [[{ text: 'a' }]] }, quote, { lines: [] }, { ...quote, as: 'folded' }];
  expect(blocksToHtml(blocks)).toBe(
    'a\n<blockquote><b>said</b>\n&lt;b&gt;</blockquote>\n<blockquote expandable><b>said</b>\n&lt;b&gt;</blockquote>',
  );
  expect(blocksToPlain(blocks)).toBe('a\nsaid\n<b>\nsaid\n<b>');
});

test('a time has its text for those who do not know it, and can be left out', () => {
  const line: Line = [{ text: '10:07:12 UTC', time: { unix: 1_763_633_232, format: 'T' } }, { text: ' <tg-time>' }];
  const html = toHtml([line]);
  expect(html).toBe('<tg-time unix="1763633232" format="T">10:07:12 UTC</tg-time> &lt;tg-time&gt;');
  expect(withoutTimes(html)).toBe('10:07:12 UTC &lt;tg-time&gt;');
  expect(entitiesIn([line])).toBe(1);
});
