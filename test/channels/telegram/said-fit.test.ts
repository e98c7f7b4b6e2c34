import { describe, expect, test } from 'vitest';
import { type Line, lengthOf, toPlain } from '../../../src/channels/telegram/lines.ts';
import { cutLine, fitLines } from '../../../src/channels/telegram/said.ts';

const linesOf = (...texts: string[]): Line[] => texts.map((text) => [{ text }]);

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

test('cutLine shortens the last piece, and drops it where that is not enough', () => {
  const line: Line = [{ text: 'Origin: ' }, { text: 'a'.repeat(9), mark: 'code' }, { text: ' (not an admin)' }];
  expect(toPlain([cutLine(line, 25)])).toBe('Origin: aaaaaaaaa (not a…');
  expect(toPlain([cutLine(line, 14)])).toBe('Origin: aaaaa…');
  expect(cutLine(line, 3)).toEqual([{ text: 'Or…' }]);
  expect(cutLine(line, 0)).toEqual([]);
});
