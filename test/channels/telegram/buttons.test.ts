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

test('a plain name stays as it is', () => {
  const plain = { ...annotation, note: acknowledgedText({ by: 'Ann', at: '2026-11-20T02:45:10Z' }) };
  expect(telegramButtons.put({ text: 'x', parse_mode: 'HTML' }, plain).text).toBe(`x\n\n${plain.note}`);
});
