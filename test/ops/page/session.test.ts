/** The cookie of who signed in: signed, and for https only where people come so. */
import { expect, test } from 'vitest';
import { createSessions } from '../../../src/ops/page/session.ts';
import { endedIn } from './ended.ts';

const settings = { token: 'a-token-of-the-team', now: () => 1000 };

const ended = endedIn();

test('a cookie goes by https only, where it was given there', () => {
  const sessions = createSessions({ ...settings, ended });
  expect(sessions.signIn(settings.token, true)).toMatch(/; Secure$/);
  expect(sessions.signIn(settings.token, false)).not.toContain('Secure');
  expect(sessions.signIn('', true)).toBeUndefined();
});

test('all daemons with the token take it, among others, and none that was changed', async () => {
  const cookie =
    createSessions({ ...settings, ended })
      .signIn(settings.token, false)
      ?.split(';')[0] ?? '';
  const other = createSessions({ ...settings, ended });
  expect(await other.of(`a=b; ${cookie}; c=d`)).toEqual({ csrf: expect.any(String) });
  const [, value = ''] = cookie.split('=');
  const [expires = '', nonce, signature] = value.split('.');
  expect(await other.of(`tocsin=${Number(expires) + 1}.${nonce}.${signature}`)).toBeUndefined();
  for (const header of [undefined, '', 'tocsin=', 'tocsin=a.b.c', 'xtocsin=1']) {
    expect(await other.of(header)).toBeUndefined();
  }
});
