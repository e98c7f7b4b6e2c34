/** What a note below a message may hold: the name of whoever pressed is foreign text. */
import { describe, expect, test } from 'vitest';
import { telegramButtons } from '../../../src/channels/telegram/buttons.ts';
import { noteOf } from '../../../src/features/acknowledgement/words.ts';
import { parseTelegramHtml } from '../../../src/sandbox/receivers/telegram/html.ts';

const NAME = '@oncall_lead see https://evil.example/login #now /start <b>x</b>';
const AT = '2026-11-20T02:45:10Z';

/** All of it is acknowledged, or one alert of two; where it was pressed has a label that may be as bad as a name. */
const acknowledged = (by: string, of = 1) => ({
  ...{ token: 'A'.repeat(22), buttons: [] },
  ...noteOf([{ by, via: 'telegram', to: NAME, at: AT }], { of, nameOf: () => undefined }),
});
const ANN = acknowledged('Ann');
const plainNote = [
  { text: 'Acknowledged ' },
  { text: '02:45:10 UTC', at: Date.parse(AT) },
  { text: ' on Telegram ops' },
];
const PLAIN = { ...ANN, note: plainNote };
const PLAIN_HTML = `Acknowledged <tg-time unix="${Date.parse(AT) / 1000}" format="T">02:45:10 UTC</tg-time> on Telegram ops`;

describe.each([1, 2])('a name that Telegram would make clickable, where %i of it is acknowledged', (of) => {
  const annotation = acknowledged(NAME, of);

  test('stands in code where the message has markup', () => {
    const { text } = telegramButtons.put({ text: 'x', parse_mode: 'HTML' }, annotation);
    const parsed = parseTelegramHtml(text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    const covered = parsed.entities
      .filter(({ type }) => type === 'code' || type === 'pre')
      .map(({ offset, length }) => [offset, offset + length] as const);
    for (const word of ['oncall_lead', 'evil.example', '#now', '/start']) {
      for (const { index: at } of parsed.text.matchAll(new RegExp(word, 'g'))) {
        expect(
          covered.some(([from, to]) => from <= at && at + word.length <= to),
          word,
        ).toBe(true);
      }
    }
    expect(parsed.text).toContain('oncall_lead');
    const bold = parsed.entities.filter(({ type }) => type === 'bold');
    expect(bold.map(({ offset, length }) => parsed.text.slice(offset, offset + length))).not.toContain('x');
    expect(bold).toHaveLength(of === 1 ? bold.length : 0);
  });

  test('loses those words where it has none', () => {
    const { text } = telegramButtons.put({ text: 'x' }, annotation);
    expect(text).toMatch(/Acknowledged|is on 1 of 2 alerts/);
    expect(text).toContain('02:45:10 UTC');
    expect(text).not.toMatch(/oncall_lead|evil|[@#]|\/start/);
  });
});

// Of more than a hundred entities Telegram drops the last ones: those of the name, or of what stands below it.
test.each([
  [95, ''],
  [97, ''],
  [99, ''],
  [100, ''],
  [99, '<b>Title</b>\n'],
])('a name takes the mark of no word from a message with %i entities below %j', (count, title) => {
  const text = `${title}${Array.from({ length: count }, () => '<code>x</code>').join(' ')}`;
  const by = '@a.b1 @c.d2 e.io f.io';
  for (const total of [1, 2]) {
    const parsed = parseTelegramHtml(telegramButtons.put({ text, parse_mode: 'HTML' }, acknowledged(by, total)).text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    expect(parsed.lost).toEqual([]);
    expect(parsed.text).toMatch(total === 1 ? 'Acknowledged' : 'is on 1 of 2 alerts');
    const covered = parsed.entities
      .filter(({ type }) => type === 'code' || type === 'pre')
      .map(({ offset, length }) => [offset, offset + length] as const);
    for (const word of [...by.split(' '), 'evil.example', '#now']) {
      for (let at = parsed.text.indexOf(word); at >= 0; at = parsed.text.indexOf(word, at + 1)) {
        expect(
          covered.some(([from, to]) => from <= at && at + word.length <= to),
          word,
        ).toBe(true);
      }
    }
  }
});

test('a plain name stays as it is', () => {
  expect(telegramButtons.put({ text: 'x', parse_mode: 'HTML' }, PLAIN).text).toBe(
    `<b>👀 Ann is on it · </b>x\n\n${PLAIN_HTML}`,
  );
});

test.each([
  ['<b>🔴 CRITICAL · A · B</b>', '<b>👀 Ann is on it · </b><b>CRITICAL · A · B</b>'],
  ['<b>[staging] 🟠 HIGH · A</b>', '<b>[staging] </b><b>👀 Ann is on it · </b><b>HIGH · A</b>'],
  ['<b>🔴 CRITICAL · </b><code>a.io</code>', '<b>👀 Ann is on it · </b><b>CRITICAL · </b><code>a.io</code>'],
  ['<b>A template’s own title</b>', '<b>👀 Ann is on it · </b><b>A template’s own title</b>'],
])('who has it leads the title %s', (title, led) => {
  const { text } = telegramButtons.put({ text: `${title}\nsaid 🔴 CRITICAL`, parse_mode: 'HTML' }, PLAIN);
  expect(text).toBe(`${led}\n${PLAIN_HTML}\nsaid 🔴 CRITICAL`);
});

test('without markup, too; and nobody leads it where a part of it is acknowledged', () => {
  const text = '🔴 CRITICAL · A\n> said\n\nabout';
  expect(telegramButtons.put({ text }, PLAIN).text).toBe(
    '👀 Ann is on it · CRITICAL · A\nAcknowledged 02:45:10 UTC on Telegram ops\n> said\n\nabout',
  );
  const { lead: _lead, ...part } = PLAIN;
  expect(telegramButtons.put({ text }, part).text).toMatch(/^🔴 CRITICAL · A\nAcknowledged/);
});

test('a line that begins what ends further down is not parted', () => {
  const text = '<b>Title\nof two</b>\nabout';
  const { lead: _lead, ...part } = PLAIN;
  expect(telegramButtons.put({ text, parse_mode: 'HTML' }, part).text).toBe(`${text}\n\n${PLAIN_HTML}`);
});

test('where the text has no room for it, a button says who has it', () => {
  const put = telegramButtons.put({ text: `🔴 ${'x'.repeat(4080)}` }, PLAIN);
  expect(put.reply_markup?.inline_keyboard.flat().map(({ text }) => text)).toEqual(['👀 Ann is on it']);
});
