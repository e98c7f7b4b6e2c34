/** What a note below a message may hold: the name of whoever pressed is foreign text. */
import { describe, expect, test } from 'vitest';
import { telegramButtons } from '../../../src/channels/telegram/buttons.ts';
import { acknowledgedText } from '../../../src/features/acknowledgement/words.ts';
import { parseTelegramHtml } from '../../../src/sandbox/receivers/telegram/html.ts';

const NAME = '@oncall_lead see https://evil.example/login #now /start <b>x</b>';
const note = acknowledgedText({ by: NAME, at: '2026-11-20T02:45:10Z' });
const annotation = { token: 'A'.repeat(22), buttons: [], note };

describe('a name that Telegram would make clickable', () => {
  test('stands in code where the message has markup', () => {
    const { text } = telegramButtons.put({ text: 'x', parse_mode: 'HTML' }, annotation);
    const parsed = parseTelegramHtml(text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    const covered = parsed.entities
      .filter(({ type }) => type === 'code')
      .map(({ offset, length }) => parsed.text.slice(offset, offset + length));
    for (const word of ['oncall_lead', 'evil.example', '#now', '/start']) {
      if (parsed.text.includes(word))
        expect(
          covered.some((some) => some.includes(word)),
          word,
        ).toBe(true);
    }
    expect(parsed.text).toContain('oncall_lead');
    expect(parsed.entities.map(({ type }) => type)).not.toContain('bold');
  });

  test('loses those words where it has none', () => {
    const { text } = telegramButtons.put({ text: 'x' }, annotation);
    expect(text).toContain('Acknowledged by');
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
  const noted = { ...annotation, note: acknowledgedText({ by, at: '2026-11-20T02:45:10Z' }) };
  const parsed = parseTelegramHtml(telegramButtons.put({ text, parse_mode: 'HTML' }, noted).text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  expect(parsed.lost).toEqual([]);
  expect(parsed.text).toContain('Acknowledged by');
  const covered = parsed.entities.map(({ offset, length }) => [offset, offset + length] as const);
  for (const word of by.split(' ')) {
    const at = parsed.text.indexOf(word);
    expect(at < 0 || covered.some(([from, to]) => from <= at && at + word.length <= to), word).toBe(true);
  }
});

test('a plain name stays as it is', () => {
  const plain = { ...annotation, note: acknowledgedText({ by: 'Ann', at: '2026-11-20T02:45:10Z' }) };
  expect(telegramButtons.put({ text: 'x', parse_mode: 'HTML' }, plain).text).toBe(`x\n\n${plain.note}`);
});

test.each([
  ['<b>Title</b>\n<blockquote>said</blockquote>\n\nabout', 'HTML' as const],
  ['Title\n> said\n\nabout', undefined],
])('who has it stands right below the title of %j', (text, parse_mode) => {
  const mine = acknowledgedText({ by: 'Ann', at: '2026-11-20T02:45:10Z' });
  const body = { text, ...(parse_mode === undefined ? {} : { parse_mode }) };
  const lines = telegramButtons.put(body, { ...annotation, note: mine }).text.split('\n');
  expect(lines[1]).toBe(mine);
  expect([lines[0], ...lines.slice(2)].join('\n')).toBe(text);
});

test('a line that begins what ends further down is not parted', () => {
  const text = '<b>Title\nof two</b>\nabout';
  const mine = acknowledgedText({ by: 'Ann', at: '2026-11-20T02:45:10Z' });
  expect(telegramButtons.put({ text, parse_mode: 'HTML' }, { ...annotation, note: mine }).text).toBe(
    `${text}\n\n${mine}`,
  );
});
