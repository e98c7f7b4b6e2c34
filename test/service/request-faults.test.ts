import { getEventListeners, once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/until.ts';
import { clientOf, failureOf, KEY, listen, never, serve } from './harness.ts';

const GOOD = '{"page":[{"protocols":{"descriptor":"Vault"}}]}';

/** Does `fault` to the first request and answers all others. */
const faultyOnce = (fault: Parameters<typeof serve>[0]) => {
  let first = true;
  return serve((request, response) => {
    if (!first) return void response.end(GOOD);
    first = false;
    fault(request, response);
  });
};

const ask = (client: ReturnType<typeof clientOf>, signal = never) => client.listProtocols({}, signal);

/** The error of the first request; the second one must go well on the same client. */
const failOnce = async (origin: string, changes: Parameters<typeof clientOf>[1] = {}) => {
  const client = clientOf(origin, changes);
  const error = await failureOf(ask(client));
  if (client.heldForMs() === 0) expect((await ask(client)).items).toMatchObject([{ name: 'Vault' }]);
  return error;
};

test('a connection that is reset is unreachable', async () => {
  const error = await failOnce(await faultyOnce((request) => request.socket.resetAndDestroy()));
  expect(error).toMatchObject({ reason: 'unreachable', status: undefined });
  expect(error.message).toMatch(
    /^main: GET protocols: no answer(: the server drops the connection \(ECONNRESET\)| \(UND_ERR_SOCKET\))$/,
  );
});

test('a connection that ends in the middle of the body is unreachable', async () => {
  const origin = await faultyOnce((_, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"page":[', () => response.destroy());
  });
  expect((await failOnce(origin)).reason).toBe('unreachable');
});

test('chunks that end without the last one are unreachable, even if what came is whole JSON', async () => {
  const origin = await faultyOnce((_, response) => {
    response.write(GOOD, () => response.destroy());
  });
  expect((await failOnce(origin)).reason).toBe('unreachable');
});

test('a service that never answers is unreachable once the time is over', async () => {
  const error = await failOnce(await faultyOnce(() => {}), { timeout: 100 });
  expect(error.reason).toBe('unreachable');
  expect(error.message).toBe('main: GET protocols: no complete answer within 100 ms');
});

test('a body that trickles without end is held against the same deadline', async () => {
  const origin = await faultyOnce((_, response) => {
    const timer = setInterval(() => response.write(' '), 10);
    response.once('close', () => clearInterval(timer));
  });
  expect((await failOnce(origin, { timeout: 200 })).message).toContain('no complete answer within 200 ms');
});

test('a refusal whose body never ends is still that refusal', async () => {
  const origin = await faultyOnce((_, response) => {
    response.writeHead(503, { 'retry-after': '3' }).write('{"message":"overloaded"');
  });
  const error = await failOnce(origin, { timeout: 200 });
  expect(error).toMatchObject({ reason: 'failed', status: 503, retryAfterMs: 3000 });
});

test('a refusal without an end in size is read no further than its message needs', async () => {
  let written = 0;
  const origin = await faultyOnce((_, response) => {
    response.writeHead(500);
    const more = () => {
      written += 65_536;
      if (!response.destroyed) response.write('x'.repeat(65_536), () => setImmediate(more));
    };
    more();
  });
  const error = await failOnce(origin);
  expect(error.message).toMatch(/^main: GET protocols: 500: x+…$/);
  expect(written).toBeLessThan(20_000_000);
});

test.each([
  ['an empty body', '', '200 with an empty body'],
  ['nothing but spaces', ' \n ', '200 with an empty body'],
  ['truncated JSON', GOOD.slice(0, 30), '200 with no JSON object or array: {"page":[{'],
  ['a word', '"maintenance"', '200 with no JSON object or array: maintenance'],
  ['null', 'null', '200 with no JSON object or array: null'],
  ['a page of HTML', '<html><title>Log in</title></html>', '200 with no JSON object or array: Log in'],
  ['a list of other things', '[1]', '200, but it is not a list of objects with a page'],
  ['an object without a page', '{"total":3}', '200, but it has no page'],
  ['a page that is an object', '[{"page":{}}]', '200, but its page is not a list'],
  ['a page that is text', '{"page":"none"}', '200, but its page is not a list'],
])('%s is unreadable', async (_, body, message) => {
  const error = await failOnce(await faultyOnce((_request, response) => void response.end(body)));
  expect(error).toMatchObject({ reason: 'unreadable', status: 200 });
  expect(error.message).toContain(message);
});

test('inspections have to come as one object', async () => {
  const client = clientOf(await serve((_, response) => void response.end('[]')));
  const error = await failureOf(client.listInspections({ protocol: 'V' }, never));
  expect(error.message).toBe('main: GET inspections of "V": 200, but it is not an object with a page');
  await failureOf(client.settings('V', never));
  await failureOf(client.inspectionStats({ protocol: 'V' }, never));
});

test('204 has nothing to read', async () => {
  const error = await failOnce(await faultyOnce((_, response) => void response.writeHead(204).end()));
  expect(error).toMatchObject({ reason: 'unreadable', status: 204 });
});

test.each([
  ['announced', { 'content-length': '5000' }],
  ['chunked', { 'transfer-encoding': 'chunked' }],
])('an answer over the limit is not taken in (%s)', async (_, headers) => {
  const origin = await faultyOnce((_request, response) => {
    response.writeHead(200, headers).end('x'.repeat(5000));
  });
  const error = await failOnce(origin, { maxBodyBytes: 1000 });
  expect(error.reason).toBe('unreadable');
  expect(error.message).toBe('main: GET protocols: the answer is too large');
});

test('an answer of just the limit is taken in', async () => {
  const origin = await serve((_, response) => void response.end(GOOD));
  expect((await ask(clientOf(origin, { maxBodyBytes: Buffer.byteLength(GOOD) }))).items).toHaveLength(1);
});

const compressed = (encoding: string, bytes: Buffer) =>
  faultyOnce((_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(bytes));

test('an answer counts as it is when decompressed, however small it came', async () => {
  const bomb = brotliCompressSync(Buffer.alloc(50_000_000, ' '));
  expect(bomb.length).toBeLessThan(1000);
  const error = await failOnce(await compressed('br', bomb), { maxBodyBytes: 1_000_000 });
  expect(error).toMatchObject({ reason: 'unreadable', message: 'main: GET protocols: the answer is too large' });
  const size = Buffer.byteLength(GOOD);
  const client = clientOf(await compressed('gzip', gzipSync(GOOD)), { maxBodyBytes: size });
  expect((await ask(client)).items).toHaveLength(1);
});

test.each([
  ['gzip that breaks off', 'gzip', gzipSync(GOOD).subarray(0, 30), 'cannot be decompressed (Z_BUF_ERROR)'],
  ['gzip that is none', 'GZIP', Buffer.from(GOOD), 'cannot be decompressed (Z_DATA_ERROR)'],
  ['brotli that is none', 'br', Buffer.from(GOOD), 'cannot be decompressed (ERR__'],
  ['an encoding that nobody asked for', 'zstd', Buffer.from(GOOD), '200 in an encoding that is not known: zstd'],
])('%s is unreadable', async (_, encoding, bytes, message) => {
  const error = await failOnce(await compressed(encoding, bytes));
  expect(error.reason).toBe('unreadable');
  expect(error.message).toContain(message);
});

test('a compressed answer whose connection ends is unreachable', async () => {
  const origin = await faultyOnce((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '1000' });
    response.write(gzipSync(GOOD), () => response.destroy());
  });
  expect((await failOnce(origin)).reason).toBe('unreachable');
});

/** Whatever comes, `reply` is written to the raw connection. */
const serveRaw = async (reply: string): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.once('data', () => socket.end(reply));
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return await listen(server);
};

test.each([
  ['an answer that is not HTTP', `SSH-2.0 ${KEY}\r\n\r\n`, 'the answer is not HTTP'],
  ['a broken chunk', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n${KEY}`, 'the answer is not HTTP'],
  ['a head without end', `HTTP/1.1 200 OK\r\nx: ${KEY.repeat(10_000)}\r\n\r\n`, "the answer's headers are too large"],
])('%s is unreadable, and what it quotes is kept out', async (_, reply, message) => {
  const error = await failureOf(ask(clientOf(await serveRaw(reply))));
  expect(error.reason).toBe('unreadable');
  expect(error.message).toContain(message);
});

test('a port where nobody listens is unreachable', async () => {
  const server = createServer();
  const origin = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  const error = await failureOf(ask(clientOf(origin)));
  expect(error.message).toBe('main: GET protocols: no answer: the server refuses connections (ECONNREFUSED)');
});

test('a certificate that nobody vouches for, or none at all, is unreachable', async () => {
  const origin = await serve((_, response) => void response.end(GOOD));
  const error = await failureOf(ask(clientOf(origin.replace('http:', 'https:'))));
  expect(error.reason).toBe('unreachable');
});

test('the caller ends a request that waits for an answer', async () => {
  const controller = new AbortController();
  const origin = await faultyOnce(() => controller.abort(new Error(`because of ${KEY}`)));
  const client = clientOf(origin);
  const error = await failureOf(ask(client, controller.signal));
  expect(error.reason).toBe('aborted');
  expect(error.message).toBe('main: GET protocols: stopped by the caller');
  expect((await ask(client)).items).toHaveLength(1);
});

test.each([200, 500])('the caller ends a request in the middle of the body of a %i', async (status) => {
  const controller = new AbortController();
  const origin = await faultyOnce((_, response) => {
    response.writeHead(status).write('{"page":[', () => setTimeout(() => controller.abort(), 50));
  });
  expect((await failureOf(ask(clientOf(origin), controller.signal))).reason).toBe('aborted');
});

test('a signal that is over already sends nothing', async () => {
  let requests = 0;
  const origin = await serve((_, response) => {
    requests += 1;
    response.end(GOOD);
  });
  const client = clientOf(origin);
  expect((await failureOf(ask(client, AbortSignal.abort()))).reason).toBe('aborted');
  await ask(client);
  expect(requests).toBe(1);
});

test('a request leaves nothing behind on the signal of its caller', async () => {
  const origin = await serve((_, response) => void response.end(GOOD));
  const { signal } = new AbortController();
  await ask(clientOf(origin), signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('connections are kept and bounded; what waits for one waits within its own deadline', async () => {
  const sockets = new Set<unknown>();
  const open: (() => void)[] = [];
  const origin = await serve((request, response) => {
    sockets.add(request.socket);
    open.push(() => response.end(GOOD));
  });
  const client = clientOf(origin, { connections: 2, timeout: 5000 });
  const calls = Array.from({ length: 6 }, () => ask(client));
  for (let answered = 0; answered < calls.length; answered += 1) (await until('a request', () => open.shift()))();
  await Promise.all(calls);
  expect(sockets.size).toBe(2);
});

test('a closed client lets what is in flight end, and refuses the rest', async () => {
  const open: (() => void)[] = [];
  const client = clientOf(await serve((_, response) => void open.push(() => response.end(GOOD))));
  const inFlight = ask(client);
  const finish = await until('the request to arrive', () => open.shift());
  const closed = Promise.all([client.close(), client.close()]);
  const late = await failureOf(ask(client));
  expect(late.reason).toBe('aborted');
  expect(late.message).toBe('main: GET protocols: the client is closed');
  finish();
  expect((await inFlight).items).toHaveLength(1);
  await closed;
});

test('a client whose requests hang is closed once their time is over', async () => {
  const origin = await serve(() => {});
  const client = clientOf(origin, { timeout: 150 });
  const hanging = failureOf(ask(client));
  await client.close();
  expect((await hanging).reason).toBe('unreachable');
});

test('many requests at once get each its own answer', async () => {
  const origin = await serve((request, response) => {
    const name = decodeURIComponent((request.url ?? '').split('/')[1] ?? '');
    response.end(JSON.stringify({ detectors: [name] }));
  });
  const client = clientOf(origin, { connections: 4 });
  const names = Array.from({ length: 100 }, (_, n) => `Protocol ${n}`);
  const answers = await Promise.all(names.map((name) => client.settings(name, never)));
  expect(answers.map(({ detectors }) => detectors)).toEqual(names.map((name) => [name]));
});

test('a server of HTTP/1.1 hears the client go when a request is ended', async () => {
  const controller = new AbortController();
  let gone: Promise<unknown> = Promise.resolve();
  const origin = await serve((request) => {
    gone = once(request.socket, 'close');
    controller.abort();
  });
  expect(await failureOf(ask(clientOf(origin), controller.signal))).toMatchObject({ reason: 'aborted' });
  await gone;
});
