/** Nobody can hold the server shut: attacks over real sockets, with the bounds that a daemon has. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createHealth } from '../../src/ops/health.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { createPages } from '../../src/ops/page/pages.ts';
import { createOpsServer, type OpsServerSettings } from '../../src/ops/server.ts';
import { until } from '../support/until.ts';
import { REPORT } from './report.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const open = async (more: Partial<OpsServerSettings> = {}) => {
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const shared = { status: async () => REPORT, log, now: Date.now };
  const pages = createPages({ ...shared, own: () => [] });
  const metrics = createMetrics({ version: '1' });
  const health = createHealth({ now: Date.now });
  const server = createOpsServer({ ...shared, listen: '127.0.0.1:0', health, metrics, pages, ...more });
  ends.push(server.stop);
  const { url, probesUrl } = await server.start();
  return { url, probesUrl, warnings };
};

interface Attacker {
  /** Still open. */
  sockets: Set<Socket>;
  /** One more, that sends this. */
  add(text: string, from?: string): Promise<Socket>;
}

const attack = (url: string): Attacker => {
  const sockets = new Set<Socket>();
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  const add = async (text: string, from = '127.0.0.1'): Promise<Socket> => {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host: host.replace(/[[\]]/g, ''), port: Number(port), localAddress: from });
    sockets.add(socket.resume());
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    await once(socket, 'connect');
    socket.write(text);
    return socket;
  };
  return { sockets, add };
};

/** A probe: a connection of its own for each question. The status; undefined: the connection was closed. */
const probe = (url: string, path = '/livez', localAddress?: string): Promise<number | undefined> =>
  new Promise((resolve) => {
    const asked = request(`${url}${path}`, {
      agent: new Agent({ keepAlive: false }),
      ...(localAddress && { localAddress }),
    });
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.once('error', () => resolve(undefined)).end();
  });

const probes = async (url: string, count: number): Promise<number> => {
  let answered = 0;
  for (let index = 0; index < count; index += 1) if ((await probe(url)) === 200) answered += 1;
  return answered;
};

const HALF = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ';
const HALF_BODY = `POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900\r\n\r\ntoken=`;
const ASK = 'GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

/** More than the buffers of a connection hold. */
const BODY = Buffer.alloc(8_000_000);
const LARGE: OpsServerSettings['pages'] = {
  answer: ({ path }) =>
    path === '/large' ? Promise.resolve({ code: 200, type: 'text/plain', body: BODY }) : undefined,
  stream: () => false,
};

describe('a probe is answered', () => {
  test.each([
    ['half-sent requests', HALF],
    ['half-sent bodies', HALF_BODY],
    ['nothing', ''],
  ])('each time, while its own address holds 130 connections with %s, and goes on', async (_, text) => {
    const { url, warnings } = await open();
    const { sockets, add } = attack(url);
    for (let count = 0; count < 130; count += 1) await add(text);
    let isOver = false;
    const going = (async () => {
      while (!isOver) await add(text).catch(() => {});
    })();
    expect(await probes(url, 45)).toBe(45);
    isOver = true;
    await going;
    await until('it has no more than its share', () => sockets.size <= 50);
    expect(warnings).toMatchObject([{ from: '127.0.0.1', connections: 100 }]);
  });

  test('while 1,000 connections come at once, from one address and from many', async () => {
    const { url } = await open();
    const { sockets, add } = attack(url);
    const from = (index: number): string => (index % 2 === 0 ? '127.0.0.1' : `127.0.0.${2 + (index % 20)}`);
    const coming = Array.from({ length: 1000 }, (_, index) => add(HALF, from(index)).catch(() => {}));
    expect(await probes(url, 20)).toBe(20);
    await Promise.all(coming);
    expect(await probes(url, 20)).toBe(20);
    await until('no more than the bound are open', () => sockets.size <= 100);
  });

  test('while 130 have asked for something large, and read nothing of it', async () => {
    const { url, warnings } = await open({ pages: LARGE });
    const { add } = attack(url);
    for (let count = 0; count < 130; count += 1) (await add(ASK)).pause();
    expect(await probes(url, 20)).toBe(20);
    expect(warnings).toMatchObject([{ from: '127.0.0.1' }]);
  });

  test('while every place is taken by requests that take long', async () => {
    const { url } = await open({ status: () => new Promise(() => {}) });
    const { add } = attack(url);
    for (let count = 0; count < 120; count += 1) {
      await add('GET /status.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', `127.0.0.${2 + (count % 4)}`);
    }
    expect(await probes(url, 20)).toBe(20);
  });
});

describe('who does not attack', () => {
  test('keeps a connection that another address would need', async () => {
    const { url } = await open();
    const { add } = attack(url);
    const ours = await add(HALF, '127.0.0.9');
    let isClosed = false;
    ours.once('close', () => {
      isClosed = true;
    });
    for (let count = 0; count < 300; count += 1) await add(HALF, `127.0.0.${2 + (count % 3)}`);
    expect(await probes(url, 5)).toBe(5);
    expect(isClosed).toBe(false);
    ours.write('x\r\n\r\n');
    expect(String(await once(ours, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('goes on to see the page renew itself', async () => {
    const { url } = await open();
    const { add } = attack(url);
    const viewer = await add('GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    expect(String(await once(viewer, 'data'))).toContain('text/event-stream');
    for (let count = 0; count < 200; count += 1) await add(HALF);
    expect(await probes(url, 5)).toBe(5);
    expect(viewer.destroyed).toBe(false);
  });
});

describe('a connection is closed', () => {
  /** As slowly as it can, but never silent for long. */
  const drip = (socket: Socket): void => {
    const timer = setInterval(() => socket.write('x'), 10);
    ends.push(() => clearInterval(timer));
  };

  test.each([
    ['headers', HALF],
    ['a body', HALF_BODY],
  ])('that sends %s byte by byte', async (_, text) => {
    const { url } = await open({ limits: { headersMs: 50 } });
    const { sockets, add } = attack(url);
    drip(await add(text));
    await until('it is closed', () => sockets.size === 0);
  });

  test('that reads a little of an answer now and then', async () => {
    const { url } = await open({ pages: LARGE, limits: { answerMs: 100 } });
    const { sockets, add } = attack(url);
    const slow = await add(ASK);
    slow.pause();
    const timer = setInterval(() => slow.read(100), 10);
    ends.push(() => clearInterval(timer));
    await until('the server has closed it', () => slow.resume() && sockets.size === 0);
  });

  test('that asks for more before it was answered: a few kilobytes would ask for thousands of pages', async () => {
    let made = 0;
    const status = async () => {
      made += 1;
      return REPORT;
    };
    const { url } = await open({ status });
    const { sockets, add } = attack(url);
    await add('GET /status.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(1000));
    await until('it is closed', () => sockets.size === 0);
    expect(made).toBeLessThan(3);
  });

  test('only where there are too many: others stay as long as they say something', async () => {
    const { url, warnings } = await open();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    ends.push(() => agent.destroy());
    for (let count = 0; count < 3; count += 1) {
      const [response] = await once(request(`${url}/livez`, { agent }).end(), 'response');
      expect(response.statusCode).toBe(200);
      await once(response.resume(), 'end');
    }
    expect(warnings).toEqual([]);
  });
});

describe('ops.probes', () => {
  test('answers probes and nothing else', async () => {
    const { probesUrl = '' } = await open({ probes: '127.0.0.1:0' });
    expect([await probe(probesUrl), await probe(probesUrl, '/readyz')]).toEqual([200, 200]);
    for (const path of ['/', '/metrics', '/status.json', '/events', '/sign-in', '/acknowledge/x']) {
      expect([path, await probe(probesUrl, path)]).toEqual([path, 404]);
    }
  });

  test('has places of its own', async () => {
    const { url, probesUrl = '' } = await open({ probes: '127.0.0.1:0', limits: { connections: 2, fromOne: 2 } });
    const { sockets, add } = attack(url);
    for (let count = 0; count < 2; count += 1) await add(HALF);
    expect(await probes(probesUrl, 5)).toBe(5);
    expect(sockets.size).toBe(2);
  });

  test('that is taken is named with its setting', async () => {
    const { url } = await open();
    await expect(open({ probes: new URL(url).host })).rejects.toThrow(
      /ops\.probes: cannot listen on 127\.0\.0\.1:\d+: the port is in use by another program/,
    );
  });
});
