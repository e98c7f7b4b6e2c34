import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { Condition } from '../../src/condition.ts';
import { UsageError } from '../../src/errors.ts';
import { createHealth } from '../../src/ops/health.ts';
import { cannotListen } from '../../src/ops/listener.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createPages } from '../../src/ops/page/pages.ts';
import { createOpsServer, type OpsServer, type OpsServerSettings } from '../../src/ops/server.ts';
import type { StatusReport } from '../../src/ops/status.ts';
import { oneAtATime } from '../../src/waiting.ts';
import { until } from '../support/until.ts';
import { REPORT } from './report.ts';

const servers: OpsServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

const open = async (
  status: () => Promise<StatusReport> = async () => REPORT,
  listen = '127.0.0.1:0',
  more: Partial<OpsServerSettings> = {},
) => {
  const health = createHealth({ now: Date.now });
  const metrics = createMetrics({ version: '1.2.3' });
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const ask = oneAtATime(status);
  const own: Condition[] = [];
  const pages = createPages({ status: ask, own: () => own, log, now: Date.now });
  const server = createOpsServer({ listen, health, metrics, status: ask, pages, log, now: Date.now, ...more });
  servers.push(server);
  const { url } = await server.start();
  return {
    url,
    health,
    own,
    metrics,
    warnings,
    server,
    get: (path: string, init?: RequestInit) => fetch(`${url}${path}`, init),
  };
};

describe('/livez and /readyz', () => {
  test('answer with the named checks, 200 or 503', async () => {
    const { get, health } = await open();
    health.watchLoop('poll', 60_000);
    health.expect('redis', { provenWithinMs: 60_000 });
    const live = await get('/livez');
    expect([live.status, await live.json()]).toMatchObject([200, { status: 'ok', loops: [{ name: 'poll' }] }]);
    const unready = await get('/readyz');
    expect([unready.status, await unready.json()]).toMatchObject([
      503,
      { status: 'not ready', checks: [{ name: 'redis', status: 'unknown' }] },
    ]);
    health.prove('redis');
    expect((await get('/readyz')).status).toBe(200);
    health.watchLoop('poll', -1);
    expect((await get('/livez')).status).toBe(503);
  });
});

describe('/metrics', () => {
  test('is the Prometheus text of this daemon', async () => {
    const { get, metrics } = await open();
    metrics.redisUp.set(1);
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toMatch(/^tocsin_redis_up 1$/m);
  });
});

describe('the status', () => {
  test('is a page, and the same as JSON', async () => {
    const { get } = await open();
    const page = await get('/?from=a-bookmark');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain('Lending Pool');
    expect(await (await get('/status.json')).json()).toEqual(REPORT);
  });

  test('as JSON moves no cursor of a terminal, and says the same', async () => {
    const report = { ...REPORT, problems: ['Vault\u009b2J\u202e\u{e0041}'] };
    const { get } = await open(async () => report);
    const text = await (await get('/status.json')).text();
    expect(text).toContain('Vault\\u009b2J\\u202e\\udb40\\udc41');
    expect(JSON.parse(text)).toEqual(report);
  });

  test('is 503 while it cannot be had, and the reason is in the log, not in the answer', async () => {
    const { get, warnings } = await open(() => Promise.reject(new Error('redis at 10.0.0.7 refused')));
    const response = await get('/status.json');
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('not available now: see /readyz and the log\n');
    const page = await get('/');
    expect(page.status).toBe(503);
    const text = await page.text();
    expect(text).toContain('Redis does not answer');
    expect(text).not.toContain('10.0.0.7');
    const err = new Error('redis at 10.0.0.7 refused');
    expect(warnings).toEqual([
      { err, path: '/status.json' },
      { err, path: '/' },
    ]);
  });

  test('shows what was known before, while it cannot be had, and since when', async () => {
    let isAway = false;
    const { get, own } = await open(
      () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(REPORT)),
      '127.0.0.1:0',
      {
        now: () => Date.now() + (isAway ? 60_000 : 0),
      },
    );
    expect((await get('/')).status).toBe(200);
    isAway = true;
    const since = new Date().toISOString();
    own.push({ name: 'redis', of: '', what: 'Redis does not answer', since });
    own.push({ name: 'channel', of: 'slack', what: 'slack does not work', why: 'invalid_auth', since });
    await until('what was made before is not fresh any more', async () => (await get('/')).status === 503);
    const text = await (await get('/')).text();
    expect(text).toContain('2 things need a look');
    expect(text).toMatch(/Redis does not answer <span class="age">for/);
    expect(text).toContain('slack does not work: invalid_auth');
    expect(text).toContain('To do: fix it under channels');
    expect(text).toContain('Lending Pool');
  });

  test('is not waited for without end, asked for once, and the rest answers meanwhile', async () => {
    let asked = 0;
    const { get } = await open(() => {
      asked += 1;
      return new Promise(() => {});
    });
    const pages = [get('/'), get('/'), get('/status.json')];
    expect((await get('/livez')).status).toBe(200);
    for (const page of pages) expect((await page).status).toBe(503);
    expect(asked).toBe(1);
  });

  test('is asked for again by everybody who comes after', async () => {
    let asked = 0;
    const { get } = await open(async () => {
      asked += 1;
      return { ...REPORT, version: `1.0.${asked}` };
    });
    await get('/');
    expect(await (await get('/status.json')).json()).toMatchObject({ version: '1.0.2' });
  });
});

describe('every answer', () => {
  test.each(['/', '/livez', '/metrics', '/nowhere'])('of %s may not be kept, framed or guessed at', async (path) => {
    const { get } = await open();
    const { headers } = await get(path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
  });

  test('allows exactly the style and the script of the page', async () => {
    const { get } = await open();
    const page = await get('/');
    const text = await page.text();
    for (const tag of ['style', 'script']) {
      const [, content = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(text) ?? [];
      const hash = createHash('sha256').update(content).digest('base64');
      expect(page.headers.get('content-security-policy')).toContain(`${tag}-src 'sha256-${hash}'`);
    }
  });

  test.each(['/', '/livez', '/metrics'])('of %s to HEAD is the same without its body', async (path) => {
    const { get } = await open();
    const response = await get(path, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(10);
    expect(await response.text()).toBe('');
  });

  test('is 404 for what is not there, 405 for what may not be done', async () => {
    const { get } = await open();
    for (const path of ['/nowhere', '/livez/', '/constructor', '/%2e%2e/etc/passwd']) {
      expect((await get(path)).status, path).toBe(404);
    }
    const refused = await get('/metrics', { method: 'DELETE' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

/** As a client that names its target as it likes; `fetch` does not let it. */
const statusFor = async (url: string, host: string): Promise<number | undefined> => {
  const asked = request(`${url}/status.json`, { headers: { host } }).end();
  const [response] = await once(asked, 'response');
  response.resume();
  return response.statusCode;
};

describe('the Host header', () => {
  test('that names another site is refused, as a browser sends it after DNS rebinding', async () => {
    const { url, warnings } = await open();
    expect(await statusFor(url, 'rebound.example.com:9464')).toBe(421);
    expect(await statusFor(url, 'rebound.example.com')).toBe(421);
    expect(warnings).toEqual([{ host: 'rebound.example.com:9464', times: 1 }]);
    expect(await statusFor(url, 'localhost')).toBe(200);
  });

  test('may be left out by a client of HTTP/1.0, which no browser is', async () => {
    const { url } = await open();
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8');
    socket.write('GET /livez HTTP/1.0\r\n\r\n');
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 (200|503) /);
  });
});

describe('connections', () => {
  const opened = async (url: string): Promise<Socket> => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  };

  test('beyond the bound are closed and logged, the oldest first', async () => {
    const { url, get, warnings } = await open(undefined, undefined, { limits: { connections: 2 } });
    const [one, two] = [await opened(url), await opened(url)];
    expect((await get('/livez')).status).toBe(200);
    await once(one.resume(), 'close');
    expect(warnings).toEqual([{ connections: 2, from: '127.0.0.1', times: 1 }]);
    expect(two.destroyed).toBe(false);
  });

  test('that do not say in time what they want are closed', async () => {
    const { url } = await open(undefined, undefined, { limits: { headersMs: 50 } });
    const silent = await opened(url);
    const slow = await opened(url);
    slow.write('GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    await Promise.all([silent, slow].map((socket) => once(socket.resume(), 'close')));
  });
});

describe('the address', () => {
  test('that is taken is named with its setting', async () => {
    const { url } = await open();
    const failed = await open(undefined, new URL(url).host).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UsageError);
    expect(String(failed)).toMatch(
      /ops\.listen: cannot listen on 127\.0\.0\.1:\d+: the port is in use by another program: end that one, or choose another port/,
    );
  });

  test('that needs more rights says what to do', () => {
    const error = Object.assign(new Error('listen EACCES'), { code: 'EACCES' });
    expect(cannotListen('ops.listen', '127.0.0.1:80', error).message).toBe(
      'ops.listen: cannot listen on 127.0.0.1:80: the port needs more rights than this program has: choose one above 1023',
    );
  });

  test.each(['9464', '127.0.0.1', '127.0.0.1:99999', '::1:9464'])('%s is none', async (listen) => {
    await expect(open(undefined, listen)).rejects.toThrow(/ops\.listen must be HOST:PORT/);
  });

  test('may be IPv6', async () => {
    const { url, get } = await open(undefined, '[::1]:0');
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await get('/livez')).status).toBe(200);
  });
});

describe('stopping', () => {
  test('waits for nobody who keeps a connection open', async () => {
    const { url, server } = await open();
    const idle = connect(Number(new URL(url).port), '127.0.0.1');
    const closed = new Promise((resolve) => idle.once('close', resolve));
    await new Promise((resolve) => idle.once('connect', resolve));
    await server.stop();
    await server.stop();
    await closed;
    await expect(fetch(url)).rejects.toThrow();
  });

  test('is legal before the start', async () => {
    const { server } = await open();
    await server.stop();
    const health = createHealth({ now: Date.now });
    const metrics = createMetrics({ version: '1' });
    const never = createOpsServer({
      listen: '127.0.0.1:0',
      health,
      metrics,
      status: async () => REPORT,
      log: { warn: () => {} },
      now: Date.now,
    });
    await never.stop();
  });
});
