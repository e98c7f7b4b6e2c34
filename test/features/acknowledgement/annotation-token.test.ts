/** Tokens of buttons and links: nobody can make one, and one is good for its own alerts at its own destination only. */
import { expect, test } from 'vitest';
import {
  isTokenOf,
  linkOf,
  looksLikeToken,
  readLink,
  tokenOf,
} from '../../../src/features/acknowledgement/annotation.ts';

const KEY = 'the key';
const NOW = Date.parse('2026-11-20T12:00:00Z');
const TOKEN = tokenOf(KEY, 'slack-1', ['a', 'b']);

test('a token is the same for the same alerts in any order, and fits into what Telegram carries', () => {
  expect(tokenOf(KEY, 'slack-1', ['b', 'a'])).toBe(TOKEN);
  expect(looksLikeToken(TOKEN)).toBe(true);
  expect(Buffer.byteLength(`a:${TOKEN}`)).toBeLessThanOrEqual(64);
});

test.each([
  ['another key', tokenOf('another', 'slack-1', ['a', 'b'])],
  ['another destination', tokenOf(KEY, 'slack-2', ['a', 'b'])],
  ['fewer alerts', tokenOf(KEY, 'slack-1', ['a'])],
  ['more alerts', tokenOf(KEY, 'slack-1', ['a', 'b', 'c'])],
  ['a longer one', `${TOKEN}A`],
  ['a shorter one', TOKEN.slice(1)],
  ['nothing', ''],
])('a token of %s is none', (_whose, token) => {
  expect(isTokenOf(TOKEN, KEY, 'slack-1', ['a', 'b'])).toBe(true);
  expect(isTokenOf(token, KEY, 'slack-1', ['a', 'b'])).toBe(false);
});

const link = linkOf(KEY, TOKEN, NOW + 1000);

test('a link is good until its time is over', () => {
  expect(readLink(KEY, link, NOW)).toEqual({ token: TOKEN });
  expect(readLink(KEY, link, NOW + 1000)).toBe('expired');
});

const [token = '', expires = '', signature = ''] = link.split('.');
const later = (Number.parseInt(expires, 36) + 1).toString(36);

test.each([
  ['with a later end', `${token}.${later}.${signature}`],
  ['with another token', `${tokenOf(KEY, 'slack-1', ['c'])}.${expires}.${signature}`],
  ['with another signature', `${token}.${expires}.${signature.split('').reverse().join('')}`],
  ['signed by another key', linkOf('another', TOKEN, NOW + 1000)],
  ['with something behind it', `${link}x`],
  ['of a button alone', TOKEN],
  ['of dots', '..'],
  ['that is empty', ''],
])('a link %s is none', (_which, text) => {
  expect(readLink(KEY, text, NOW)).toBeUndefined();
});
