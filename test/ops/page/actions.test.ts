/** Who may change something on the page, over real HTTP: the cookie, the forms, and what is refused. */
import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { createHealth } from '../../../src/ops/health.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import type { PageActions } from '../../../src/ops/page/actions.ts';
import { createPages, type PagesDependencies } from '../../../src/ops/page/pages.ts';
import { createOpsServer, type OpsServer } from '../../../src/ops/server.ts';
import { until } from '../../support/until.ts';
import { REPORT } from '../report.ts';
import { endedIn } from './ended.ts';

const TOKEN = 'a-token-of-the-team';

const servers: OpsServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const FORM = 'application/x-www-form-urlencoded';

const open = async (changes: Partial<PagesDependencies> = {}) => {
  const done: string[] = [];
  const warnings: object[] = [];
  let now = Date.now();
  const planOf = (name: string, isAsked: boolean) => async (fields: URLSearchParams, user?: string) => {
    if (fields.get('id') === 'gone') throw new UsageError('it is <gone>');
    const run = async () => {
      if (fields.get('id') === 'broken') throw new Error('redis at 10.0.0.7 refused');
      done.push(`${name} ${fields.get('id')}${user === undefined ? '' : ` by ${user}`}`);
      return { text: `done <${name}>`, alert: 'a1' };
    };
    return { question: `Do ${name}?`, text: 'It sends.', label: 'Do it', isAsked, run };
  };
  const actions: PageActions = { retry: planOf('retry', false), mute: planOf('mute', true) };
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const shared = {
    status: async () => REPORT,
    health: createHealth({ now: Date.now }),
    own: () => [],
    log,
    now: () => now,
  };
  const pages = createPages({ ...shared, token: TOKEN, ended: endedIn(), wrongTokenMs: 1, actions, ...changes });
  const server = createOpsServer({ ...shared, listen: '127.0.0.1:0', metrics: createMetrics({ version: '1' }), pages });
  servers.push(server);
  const { url } = await server.start();
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': FORM, origin: url, ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  const signIn = async () => {
    const response = await post('/sign-in', { token: TOKEN });
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? expect.unreachable();
    const page = await (await fetch(url, { headers: { cookie } })).text();
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? expect.unreachable();
    return {
      cookie,
      csrf,
      act: (name: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
        post(`/actions/${name}`, { csrf, ...fields }, { cookie, ...headers }),
    };
  };
  const passes = (ms: number): void => {
    now += ms;
  };
  return { url, post, signIn, done, warnings, passes };
};

describe('signing in', () => {
  test('with the token gives a cookie that no script and no other site gets', async () => {
    const { post, url } = await open();
    const response = await post('/sign-in', { token: TOKEN });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    expect(response.headers.get('set-cookie')).toMatch(
      /^tocsin=\S+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    expect(response.headers.get('set-cookie')).not.toContain(TOKEN);
    expect(await (await fetch(`${url}/sign-in`)).text()).toContain('type="password"');
  });

  test('with another token gives none, and is logged without it', async () => {
    const { post, warnings } = await open();
    const wrong = 'another-token-of-16';
    const response = await post('/sign-in', { token: wrong });
    expect([response.status, response.headers.get('set-cookie')]).toEqual([403, null]);
    expect(await response.text()).toContain('That is not the token.');
    expect(warnings).toEqual([{ from: '127.0.0.1', times: 1 }]);
    expect(JSON.stringify(warnings)).not.toContain(wrong);
  });

  test('works at once, however many guess, also from the same address; who guesses waits, and few at once', async () => {
    const { url, post } = await open({ wrongTokenMs: 3_600_000 });
    let [answered, closed] = [0, 0];
    for (let count = 0; count < 60; count += 1) {
      const body = `token=wrong-token-of-the-guesser-${count}`;
      const headers = { origin: url, 'content-type': FORM, 'content-length': body.length };
      const guess = request(`${url}/sign-in`, { method: 'POST', headers, localAddress: `127.0.0.${1 + (count % 4)}` });
      guess.once('response', (response) => {
        answered += 1;
        response.resume();
      });
      guess.once('error', () => {
        closed += 1;
      });
      guess.end(body);
    }
    await until('most of them were let go', () => answered + closed >= 50);
    expect((await post('/sign-in', { token: TOKEN })).status).toBe(303);
    expect([answered, closed]).toEqual([0, 50]);
  });

  test('ends after hours, by signing out, and with another token', async () => {
    const { signIn, url, passes, post } = await open();
    const { cookie, act } = await signIn();
    const isSignedIn = async (at: string) =>
      (await (await fetch(at, { headers: { cookie } })).text()).includes('Sign out');
    const other = await open({ token: 'the-token-of-another-team' });
    expect([await isSignedIn(url), await isSignedIn(other.url)]).toEqual([true, false]);
    const out = await act('sign-out', {});
    expect([out.status, out.headers.get('set-cookie')]).toEqual([303, expect.stringContaining('Max-Age=0')]);
    expect(await isSignedIn(url)).toBe(false);
    const later = (await post('/sign-in', { token: TOKEN })).headers.get('set-cookie')?.split(';')[0] ?? '';
    passes(12 * 3_600_000 + 1);
    expect(await (await fetch(url, { headers: { cookie: later } })).text()).not.toContain('Sign out');
  });
});

describe('a session that was ended', () => {
  const isSignedIn = async (at: string, cookie: string): Promise<boolean> =>
    (await (await fetch(at, { headers: { cookie } })).text()).includes('Sign out');

  test('is ended on every daemon, and after a restart', async () => {
    const kept = new Set<string>();
    const [one, other] = [await open({ ended: endedIn(kept) }), await open({ ended: endedIn(kept) })];
    const { cookie, csrf, act } = await one.signIn();
    expect(await isSignedIn(other.url, cookie)).toBe(true);
    await act('sign-out', {});
    const restarted = await open({ ended: endedIn(kept) });
    for (const { url, post, done } of [one, other, restarted]) {
      expect(await isSignedIn(url, cookie)).toBe(false);
      expect(await isSignedIn(url, `${cookie}.x`)).toBe(false);
      expect((await post('/actions/retry', { id: 'm1', confirm: 'yes', csrf }, { cookie })).status).toBe(403);
      expect(done).toEqual([]);
    }
    // What is kept gives nobody a session.
    expect([...kept].join()).not.toContain(cookie.split('.').at(-1));
  });

  test('may be any while it cannot be asked: nobody is signed in then, and the page is there', async () => {
    const silent = { add: () => Promise.reject(new Error('away')), has: () => Promise.reject(new Error('away')) };
    const kept = new Set<string>();
    const { signIn } = await open({ ended: endedIn(kept) });
    const { cookie, csrf } = await signIn();
    const { url, post, done } = await open({ ended: silent });
    expect(await isSignedIn(url, cookie)).toBe(false);
    expect((await fetch(url, { headers: { cookie } })).status).toBe(200);
    for (const path of ['/actions/retry', '/actions/sign-out']) {
      expect((await post(path, { id: 'm1', confirm: 'yes', csrf }, { cookie })).status).toBe(503);
    }
    expect(done).toEqual([]);
    expect((await post('/sign-in', { token: TOKEN })).status).toBe(303);
  });
});

describe('an action', () => {
  test('is asked once more before it sends, and then done', async () => {
    const { signIn, done } = await open();
    const { act } = await signIn();
    const question = await (await act('retry', { id: 'm1' })).text();
    expect(question).toContain('Do retry?');
    expect(question).toContain('name="confirm" value="yes"');
    expect(done).toEqual([]);
    const answer = await act('retry', { id: 'm1', confirm: 'yes' });
    expect([answer.status, done]).toEqual([200, ['retry m1']]);
    expect(await answer.text()).toMatch(/done &lt;retry&gt;[\s\S]*href="\/\?tx=a1"/);
  });

  test('that its own form asked enough is done at once', async () => {
    const { signIn, done } = await open();
    const { act } = await signIn();
    expect((await act('mute', { id: 'x' })).status).toBe(200);
    expect(done).toEqual(['mute x']);
  });

  test('is refused without a session, without its form, and from elsewhere', async () => {
    const { signIn, post, done, url } = await open();
    const { act, cookie, csrf } = await signIn();
    const sure = { id: 'm1', confirm: 'yes' };
    const refused = [
      await post('/actions/retry', { ...sure, csrf }),
      await post('/actions/retry', { ...sure, csrf }, { cookie: `${cookie}x` }),
      await post('/actions/retry', sure, { cookie }),
      await act('retry', { ...sure, csrf: 'guessed' }),
      await act('retry', sure, { origin: 'https://evil.example' }),
      await act('retry', sure, { origin: 'null' }),
      await act('retry', sure, { 'sec-fetch-site': 'same-site' }),
      await fetch(`${url}/actions/retry`, {
        method: 'POST',
        headers: { cookie, 'content-type': FORM },
        body: new URLSearchParams({ ...sure, csrf }),
      }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    expect((await act('retry', sure, { 'content-type': 'text/plain' })).status).toBe(400);
    expect((await act('retry', { ...sure, more: 'x'.repeat(20_000) })).status).toBe(400);
    expect((await fetch(`${url}/actions/retry`, { headers: { cookie } })).status).toBe(404);
    expect(done).toEqual([]);
    expect((await act('retry', sure, { 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test('that cannot be done says why; what failed is in the log only', async () => {
    const { signIn, warnings } = await open();
    const { act } = await signIn();
    const gone = await act('retry', { id: 'gone', confirm: 'yes' });
    expect([gone.status, await gone.text()]).toEqual([400, expect.stringContaining('it is &lt;gone&gt;')]);
    const broken = await act('retry', { id: 'broken', confirm: 'yes' });
    const text = await broken.text();
    expect([broken.status, text.includes('10.0.0.7')]).toEqual([503, false]);
    expect(warnings).toMatchObject([{ action: 'retry' }]);
    expect((await act('nonsense', {})).status).toBe(404);
    expect((await act('toString', {})).status).toBe(404);
  });
});

describe('a trusted proxy', () => {
  const trustedProxy = { networks: ['10.0.0.0/8', '127.0.0.1'], header: 'X-Forwarded-User' };
  const ana = { 'x-forwarded-user': 'ana@example.com' };
  const sure = { id: 'm1', confirm: 'yes' };
  const csrfOf = async (url: string, headers: Record<string, string>): Promise<string | undefined> =>
    /name="csrf" value="([^"]+)"/.exec(await (await fetch(`${url}/mute`, { headers })).text())?.[1];

  test('says who it is: no sign-in, and what is done has that name', async () => {
    const { url, post, done } = await open({ trustedProxy });
    const page = await (await fetch(url, { headers: ana })).text();
    expect(page).toContain('ana@example.com');
    expect(page).not.toMatch(/Sign (?:in|out)/);
    expect(await (await fetch(`${url}/mute`, { headers: ana })).text()).not.toContain('name="author"');
    const csrf = (await csrfOf(url, ana)) ?? '';
    expect((await post('/actions/retry', { ...sure, csrf }, ana)).status).toBe(200);
    expect(done).toEqual(['retry m1 by ana@example.com']);
  });

  test('is believed only where it connects from', async () => {
    const { url, post, done } = await open({ trustedProxy: { ...trustedProxy, networks: ['10.0.0.0/8', '::1'] } });
    expect(await csrfOf(url, ana)).toBeUndefined();
    expect((await post('/actions/retry', sure, ana)).status).toBe(403);
    expect(done).toEqual([]);
  });

  test.each([
    ['no name', {}],
    ['an empty one', { 'x-forwarded-user': ' ' }],
    ['one too long', { 'x-forwarded-user': 'x'.repeat(201) }],
    ['a list, as of a proxy that passes on what it was sent,', { 'x-forwarded-user': 'evil, ana@example.com' }],
    ['another header', { 'remote-user': 'ana@example.com' }],
  ])('with %s signs nobody in', async (_, headers) => {
    const { url } = await open({ trustedProxy });
    expect(await csrfOf(url, headers)).toBeUndefined();
  });

  test('that passes on a header beside its own signs nobody in', async () => {
    const { url } = await open({ trustedProxy });
    const { hostname, port } = new URL(url);
    const answered = Promise.withResolvers<number | undefined>();
    const twice = ['X-Forwarded-User', 'mallory', 'X-Forwarded-User', 'ana@example.com', 'Host', `${hostname}:${port}`];
    request({ hostname, port, path: '/mute', headers: twice }, (response) => {
      response.resume();
      answered.resolve(response.statusCode);
    }).end();
    expect(await answered.promise).toBe(403);
  });

  test('protects no form by itself: each needs its token, of that person, and our page', async () => {
    const { url, post, done } = await open({ trustedProxy });
    const csrf = (await csrfOf(url, ana)) ?? '';
    const bob = { 'x-forwarded-user': 'bob@example.com' };
    const refused = [
      await post('/actions/retry', sure, ana),
      await post('/actions/retry', { ...sure, csrf }, bob),
      await post('/actions/retry', { ...sure, csrf }),
      await post('/actions/retry', { ...sure, csrf }, { ...ana, origin: 'https://evil.example' }),
      await post('/actions/retry', { ...sure, csrf }, { ...ana, 'sec-fetch-site': 'cross-site' }),
    ];
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
    expect(done).toEqual([]);
  });

  test('a name that is markup is shown as text', async () => {
    const { url } = await open({ trustedProxy });
    const page = await (await fetch(url, { headers: { 'x-forwarded-user': '<b>ana</b>' } })).text();
    expect(page).toContain('&lt;b&gt;ana&lt;/b&gt;');
  });

  test('leaves the token to those who come without it', async () => {
    const { signIn, done } = await open({ trustedProxy });
    const { act } = await signIn();
    expect((await act('retry', sure)).status).toBe(200);
    expect(done).toEqual(['retry m1']);
  });
});

test('without a token in the config nobody may do anything', async () => {
  const { url, signIn: _, post } = await open();
  expect(await (await fetch(url)).text()).toContain('href="/sign-in"');
  const readOnly = createPages({
    status: async () => REPORT,
    own: () => [],
    log: { warn: () => {} },
    now: Date.now,
  });
  const shared = {
    health: createHealth({ now: Date.now }),
    own: () => [],
    metrics: createMetrics({ version: '1' }),
    log: { warn: () => {} },
    now: Date.now,
  };
  const server = createOpsServer({ ...shared, listen: '127.0.0.1:0', status: async () => REPORT, pages: readOnly });
  servers.push(server);
  const { url: reading } = await server.start();
  expect(await (await fetch(reading)).text()).not.toContain('/sign-in');
  for (const path of ['/sign-in', '/actions/retry', '/mute']) {
    expect((await fetch(`${reading}${path}`, { method: 'POST', headers: { origin: reading } })).status).toBe(404);
    expect((await fetch(`${reading}${path}`)).status).toBe(404);
  }
  expect((await post('/actions/retry', {})).status).toBe(403);
});
