import { describe, expect, test } from 'vitest';
import { keyboardOf, takesLink } from '../../../src/channels/telegram/lines.ts';

test.each([
  ['https://etherscan.io/tx/0x1', true],
  ['https://10.0.0.1:3000/d', true],
  ['https://[::1]/d', true],
  ['https://grafana/d', false],
  ['http://localhost:5100/', false],
  ['ftp://files.example/', false],
  ['nonsense', false],
])('Telegram takes a link to %s: %s', (url, taken) => expect(takesLink(url)).toBe(taken));

describe('a keyboard', () => {
  const links = ['a', 'b', 'c'].map((label) => ({ label, url: `https://${label}.example/` }));

  test('has two buttons in a row', () => {
    expect(keyboardOf(links)?.inline_keyboard.map((row) => row.map(({ text }) => text))).toEqual([['a', 'b'], ['c']]);
  });

  test('is none without a link that Telegram takes', () => {
    expect(keyboardOf([])).toBeUndefined();
    expect(keyboardOf([{ label: 'Board', url: 'https://grafana/' }])).toBeUndefined();
  });
});
