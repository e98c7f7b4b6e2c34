/** Text from outside is escaped, and of a long one as much is shown as there is room for. */
import { expect, test } from 'vitest';
import { escapeDiscord, fitted } from '../../../../src/channels/webhook/formats/discord-text.ts';

test.each(['*', '_a', '@here ', 'plain ', '<#>:`', '- ', '🔥*'])('a text of %j is cut where the room ends', (part) => {
  const text = part.repeat(1000).trim();
  const shown = fitted(text, 300);
  expect(shown.length).toBeLessThanOrEqual(300);
  // The longest character, or the space before the ellipsis, may have found no room.
  expect(shown.length).toBeGreaterThan(290);
  expect(shown).toMatch(/…$/);
  expect(shown).toBe(escapeDiscord(shown.replaceAll('\\', '')));
});

test.each([
  ['*bold*', 8, '\\*bold\\*'],
  ['*bold*', 7, '\\*bol…'],
  ['*', 1, ''],
  ['x', 0, ''],
  ['x', -5, ''],
])('%j in %i', (text, limit, shown) => expect(fitted(text, limit)).toBe(shown));
