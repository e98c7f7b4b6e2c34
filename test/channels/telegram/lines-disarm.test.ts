import { describe, expect, test } from 'vitest';
import { disarm, disarmEach, entitiesIn, type Line } from '../../../src/channels/telegram/lines.ts';

const linesOf = (...texts: string[]): Line[] => texts.map((text) => [{ text }]);

describe('disarm', () => {
  test.each(['@name', '#tag', '/start', '$USD', '+4930123', 'example.com', '10.0.0.1', 'a@b.example'])(
    'makes %j code, which Telegram does not link',
    (word) => {
      expect(disarm(linesOf(`see ${word} now`), 9)).toEqual([
        [{ text: 'see ' }, { text: word, mark: 'code' }, { text: ' now' }],
      ]);
    },
  );

  test.each([
    ['said “slack.com answered', '“', 'slack.com'],
    ['said (@name) and', '(', '@name'],
    ['said "example.com/a_(b).", then', '"', 'example.com/a_(b'],
    ['said ‹#tag›', '‹', '#tag'],
  ])('in %j the code begins and ends at the word', (text, before, word) => {
    const [line = []] = disarm(linesOf(text), 9);
    expect(line.slice(0, 2)).toEqual([{ text: `said ${before}` }, { text: word, mark: 'code' }]);
    expect(line.map((piece) => piece.text).join('')).toBe(text);
  });

  test.each(['“It is done.”', '1.5', '61.5 %', 'a. b', 'and/or', 'v1.2.3'])('leaves %j alone', (text) =>
    expect(disarm(linesOf(text), 9)).toEqual(linesOf(text)),
  );

  test('makes one block of what would need too many entities', () => {
    const lines = linesOf('@a @b', '@c');
    expect(disarm(lines, 3).flat().length).toBe(4);
    expect(disarm(lines, 2)).toEqual([[{ text: '@a @b\n@c', mark: 'pre' }]]);
    expect(entitiesIn(disarmEach(linesOf('@a @b @c @d', 'plain'), 9))).toBe(1);
  });
});
