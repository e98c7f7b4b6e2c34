/** The cookie of who signed in: signed, and for https only where people come so. */
import { expect, test } from 'vitest';
import { createAttempts, createSessions } from '../../../src/ops/page/session.ts';

const settings = { token: 'a-token-of-the-team', now: () => 1000 };

test('a cookie goes by https only, where it was given there', () => {
  const sessions = createSessions(settings.token, settings.now);
  expect(sessions.signIn(settings.token, true)).toMatch(/; Secure$/);
  expect(sessions.signIn(settings.token, false)).not.toContain('Secure');
  expect(sessions.signIn('', true)).toBeUndefined();
});

test('all daemons with the token take it, among others, and none that was changed', () => {
  const cookie = createSessions(settings.token, settings.now).signIn(settings.token, false)?.split(';')[0] ?? '';
  const other = createSessions(settings.token, settings.now);
  expect(other.of(`a=b; ${cookie}; c=d`)).toBeDefined();
  const [, value = ''] = cookie.split('=');
  const [expires = '', nonce, signature] = value.split('.');
  expect(other.of(`tocsin=${Number(expires) + 1}.${nonce}.${signature}`)).toBeUndefined();
  expect([undefined, '', 'tocsin=', 'tocsin=a.b.c', 'xtocsin=1'].map((header) => other.of(header))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('who guesses from many addresses is slowed down as well', () => {
  const attempts = createAttempts(() => 1000);
  for (let count = 0; count < 30; count += 1) {
    expect(attempts.mayTake(`10.0.0.${count}`)).toBe(true);
    attempts.count(`10.0.0.${count}`);
  }
  expect(attempts.mayTake('10.0.1.1')).toBe(false);
});
