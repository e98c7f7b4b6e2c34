/** Which markup Telegram shows, and which it drops without a word. */
import { describe, expect, test } from 'vitest';
import { parseTelegramHtml } from '../../../../src/sandbox/receivers/telegram/html.ts';

const parse = (html: string) => {
  const parsed = parseTelegramHtml(html);
  if ('problem' in parsed) throw new Error(parsed.problem);
  const typesOf = (entities: readonly { type: string }[]): string => entities.map(({ type }) => type).join();
  return { ...parsed, kept: typesOf(parsed.entities), dropped: typesOf(parsed.lost) };
};

const problemOf = (html: string): string | undefined => {
  const parsed = parseTelegramHtml(html);
  return 'problem' in parsed ? parsed.problem : undefined;
};

describe('quotes', () => {
  test('may be expandable, and have links, code, dates and styles in them', () => {
    const html =
      '<blockquote expandable><b>tx</b> <code>0x1</code> <a href="https://x.example/">x</a> <tg-time unix="1">t</tg-time></blockquote>';
    expect(parse(html)).toMatchObject({
      kept: 'expandable_blockquote,bold,code,text_link,date_time',
      dropped: '',
      text: 'tx 0x1 x t',
    });
    expect(parse('<blockquote>a</blockquote>').kept).toBe('blockquote');
    expect(parse('<blockquote expandable="">a</blockquote>').kept).toBe('expandable_blockquote');
  });

  test('are not nested', () => {
    expect(parse('<blockquote>a<blockquote expandable>b</blockquote></blockquote>')).toMatchObject({
      kept: 'blockquote',
      dropped: 'expandable_blockquote',
    });
  });
});

describe('nesting', () => {
  test.each([
    ['<b>a <i>b</i></b>', 'bold,italic', ''],
    ['<b><a href="https://x.example/">a</a></b>', 'text_link,bold', ''],
    ['<a href="https://x.example/"><b>a</b> b</a>', 'text_link,bold', ''],
    ['<b>a <code>b</code></b>', 'code', 'bold'],
    ['<code>a <b>b</b></code>', 'code', 'bold'],
    ['<b><tg-time unix="1" format="t">a</tg-time></b>', 'date_time', 'bold'],
    ['<a href="https://x.example/"><code>a</code></a>', 'code', 'text_link'],
    ['<a href="https://x.example/">a <code>b</code></a>', 'text_link', 'code'],
    ['<code>a</code><b>b</b>', 'code,bold', ''],
    ['<b></b><code></code>a', '', ''],
  ])('%s keeps %s and drops %s', (html, kept, dropped) => {
    expect(parse(html)).toMatchObject({ kept, dropped });
  });

  test('of more than a hundred the last are dropped', () => {
    const { entities, lost } = parse('<b>a</b> '.repeat(101));
    expect([entities.length, lost]).toEqual([100, [{ type: 'bold', offset: 200, length: 1 }]]);
  });
});

describe('links', () => {
  test.each(['https://x.example/a', 'http://127.0.0.1:1/', 'tg://user?id=1', 'http://[::1]/', 'x.example'])(
    '%s is one',
    (url) =>
      expect(parse(`<a href="${url}">a</a>`).entities).toEqual([{ type: 'text_link', offset: 0, length: 1, url }]),
  );

  test.each(['https://localhost/a', 'javascript:1', 'ftp://x.example/a', 'runbook'])('%s is none', (url) => {
    expect(parse(`<a href="${url}">a</a>`)).toMatchObject({ kept: '', dropped: 'a' });
  });

  test('without an address the text is one', () => {
    expect(parse('<a>https://x.example/</a>').entities).toMatchObject([{ url: 'https://x.example/' }]);
  });
});

describe('dates', () => {
  test('have a time and a format', () => {
    expect(parse('<tg-time unix="1790000000" format="wDT">now</tg-time>').entities).toEqual([
      { type: 'date_time', offset: 0, length: 3, unixTime: 1_790_000_000, format: 'wDT' },
    ]);
    expect(parse('<tg-time unix="1790000000">now</tg-time>').entities).toMatchObject([{ format: '' }]);
  });

  test('without a time are text', () => {
    expect(parse('<tg-time unix="0" format="t">now</tg-time>')).toMatchObject({ kept: '', dropped: 'tg-time' });
    expect(parse('<tg-time unix="1790000000000">now</tg-time>')).toMatchObject({ dropped: 'tg-time' });
  });

  test.each(['z', 'rt', 'HH:mm'])('of the format %s are refused', (format) => {
    expect(problemOf(`<tg-time unix="1" format="${format}">now</tg-time>`)).toBe('Invalid date format used');
  });
});

describe('code', () => {
  test('in a language is one entity', () => {
    expect(parse('<pre><code class="language-json">{}</code></pre>').entities).toEqual([
      { type: 'pre', offset: 0, length: 2, language: 'json' },
    ]);
  });
});

test.each([
  ['<a href=https://x.example/>a</a>', 'Unexpected end of name token at byte offset 0'],
  ['<b ="x">a</b>', 'Empty attribute name in the tag "b" at byte offset 0'],
  ['<blockquote /expandable>a</blockquote>', 'Empty attribute name in the tag "blockquote" at byte offset 0'],
])('%s is refused', (html, problem) => {
  expect(problemOf(html)).toBe(problem);
});
