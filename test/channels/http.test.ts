/** The guarded POST against real servers: what it dials, what it reads, and what it makes of every way to fail. */
import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createGuardedPost, type GuardedPostOptions, retryAfterMs } from '../../src/channels/http.ts';
import type { Resolve } from '../../src/channels/resolver.ts';
import { DeliveryError } from '../../src/errors.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../support/tls.ts';
import { until } from '../support/until.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const LOOPBACK = ['127.0.0.1/32'];

const openPost = (options: Partial<GuardedPostOptions> = {}) => {
  const guarded = createGuardedPost({ allowHttp: true, allowNetworks: LOOPBACK, ...options });
  closers.push(guarded.close);
  const post = (url: string, signal: AbortSignal = AbortSignal.timeout(20_000), body = '{"a":1}') =>
    guarded.post({ url, headers: { 'content-type': 'application/json' }, body, signal });
  return { ...guarded, post };
};

const failureOf = async (sending: Promise<unknown>): Promise<DeliveryError> => {
  const error: unknown = await sending.catch((thrown: unknown) => thrown);
  if (!(error instanceof DeliveryError)) throw new Error(`it did not fail as it should: ${String(error)}`);
  return error;
};

const openReceiver = async (...accept: Parameters<typeof startHttpReceiver>) => {
  const receiver = await startHttpReceiver(...accept);
  closers.push(receiver.close);
  return receiver;
};

type Listening = { listen(port: number, host: string): unknown; address: Server['address']; close(): unknown };

const listen = async (server: Listening & NodeJS.EventEmitter, host = '127.0.0.1'): Promise<number> => {
  server.listen(0, host);
  await once(server, 'listening');
  closers.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

/** A server that says the given bytes to whoever connects and speaks, and then does with the socket what the test wants. */
const rawServer = async (says: string, then: (socket: Socket) => void = () => {}): Promise<string> => {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => socket.write(says, () => then(socket)));
  });
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${await listen(server)}/hook/s3cr3t?key=s3cr3t`;
};

const resolveTo =
  (...answers: string[][]): Resolve =>
  async () =>
    (answers.length > 1 ? answers.shift() : answers[0])?.map((address) => ({ address, family: 4 })) ?? [];

describe('what is dialled', () => {
  test('the address that was checked, under the name that was given', async () => {
    const receiver = await openReceiver();
    const { post } = openPost({ resolve: resolveTo(['127.0.0.1']) });
    const { port } = new URL(receiver.origin);
    expect((await post(`http://hooks.example:${port}/in?x=1`)).status).toBe(204);
    const [request] = receiver.arrived;
    expect(request).toMatchObject({ method: 'POST', path: '/in?x=1', body: '{"a":1}' });
    expect(request?.headers).toMatchObject({ host: `hooks.example:${port}`, 'content-length': '7' });
  });

  test('one lookup a connection, so that a second answer (rebinding) is never used unchecked', async () => {
    const receiver = await openReceiver(() => ({ status: 204, headers: { connection: 'close' } }));
    const { port } = new URL(receiver.origin);
    const asked: string[] = [];
    const answers = resolveTo(['127.0.0.1'], ['127.0.0.2']);
    const { post } = openPost({
      resolve: (host) => {
        asked.push(host);
        return answers(host);
      },
    });
    let touched = 0;
    const trap = createTcpServer((socket) => {
      touched += 1;
      socket.destroy();
    });
    trap.listen(Number(port), '127.0.0.2');
    await once(trap, 'listening');
    closers.push(() => trap.close());

    expect((await post(`http://rebind.example:${port}/`)).status).toBe(204);
    expect(asked).toEqual(['rebind.example']);
    const second = await failureOf(post(`http://rebind.example:${port}/`));
    expect(second).toMatchObject({ reason: 'destination-dead', code: 'blocked' });
    expect(asked).toHaveLength(2);
    expect(touched).toBe(0);
  });

  test('an answer with one bad address among good ones is refused whole', async () => {
    const receiver = await openReceiver();
    const { post } = openPost({ resolve: resolveTo(['127.0.0.1', '10.0.0.1']) });
    const error = await failureOf(post(`http://mixed.example:${new URL(receiver.origin).port}/`));
    expect(error.code).toBe('blocked');
    expect(receiver.arrived).toHaveLength(0);
  });

  test('an empty answer is a name that does not exist', async () => {
    const { post } = openPost({ resolve: resolveTo([]) });
    expect(await failureOf(post('https://empty.example/'))).toMatchObject({ reason: 'unavailable', code: 'ENOTFOUND' });
  });

  test('a host of the list may live anywhere', async () => {
    const receiver = await openReceiver();
    const { post } = openPost({ allowNetworks: ['inside.example'], resolve: resolveTo(['127.0.0.1']) });
    const { port } = new URL(receiver.origin);
    expect((await post(`http://inside.example:${port}/`)).status).toBe(204);
    expect((await failureOf(post(`http://outside.example:${port}/`))).code).toBe('blocked');
  });

  test('names are resolved where no resolver is given', async () => {
    const receiver = await openReceiver();
    const { post } = openPost({ allowNetworks: ['localhost', '127.0.0.1'] });
    expect((await post(receiver.origin.replace('127.0.0.1', 'localhost'))).status).toBe(204);
  });
});

describe('TLS', () => {
  const tlsServer = async () => {
    const seen: { names: string[]; protocols: string[][] } = { names: [], protocols: [] };
    const server = createTlsServer({
      cert: TEST_CERTIFICATE,
      key: TEST_KEY,
      ALPNCallback: ({ servername, protocols }) => {
        seen.names.push(servername);
        seen.protocols.push(protocols);
        return 'http/1.1';
      },
    });
    server.on('tlsClientError', () => {});
    server.on('secureConnection', (socket) => {
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'));
    });
    return { seen, port: await listen(server) };
  };

  const trustTestCertificate = () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, TEST_CERTIFICATE]);
    closers.push(() => setDefaultCACertificates(before));
  };

  test('a certificate that nobody vouches for is refused, and nothing was sent', async () => {
    const { port } = await tlsServer();
    const { post } = openPost({ resolve: resolveTo(['127.0.0.1']) });
    const error = await failureOf(post(`https://hooks.example:${port}/s3cr3t`));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT', maybeDelivered: false });
  });

  test('a trusted one is accepted for its own name only, over HTTP/1.1', async () => {
    trustTestCertificate();
    const { seen, port } = await tlsServer();
    const { post } = openPost({ resolve: resolveTo(['127.0.0.1']) });
    expect((await post(`https://hooks.example:${port}/in`)).status).toBe(202);
    expect(seen).toEqual({ names: ['hooks.example'], protocols: [['http/1.1']] });
    const other = await failureOf(post(`https://other.example:${port}/in`));
    expect(other).toMatchObject({ reason: 'unavailable', code: 'ERR_TLS_CERT_ALTNAME_INVALID', maybeDelivered: false });
  });

  test('a port that does not speak TLS', async () => {
    const receiver = await openReceiver();
    const { post } = openPost();
    const error = await failureOf(post(receiver.origin.replace('http:', 'https:')));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
    expect(receiver.arrived).toHaveLength(0);
  });
});

describe('connections', () => {
  const countingServer = async () => {
    const sockets = new Set<Socket>();
    let open = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    const server = createHttpServer((request, response) => {
      request.resume();
      waiting.push(() => void response.writeHead(204).end());
    });
    server.on('connection', (socket) => {
      sockets.add(socket);
      open += 1;
      most = Math.max(most, open);
      socket.on('close', () => {
        open -= 1;
      });
    });
    const origin = `http://127.0.0.1:${await listen(server)}`;
    closers.push(() => server.closeAllConnections());
    return { origin, sockets, waiting, most: () => most };
  };

  test('are kept between requests', async () => {
    const { origin, sockets, waiting } = await countingServer();
    const { post } = openPost();
    for (let index = 0; index < 10; index += 1) {
      const sending = post(origin);
      await until('the request arrived', () => waiting.length === 1);
      waiting.shift()?.();
      expect((await sending).status).toBe(204);
    }
    // A second one may open when a request follows in the very turn in which the first answer ended.
    expect(sockets.size).toBeLessThanOrEqual(2);
  });

  test('are bounded for one origin; what waits is sent later', async () => {
    const { origin, waiting, most } = await countingServer();
    const { post } = openPost({ connections: 2 });
    const sending = Promise.all(Array.from({ length: 6 }, () => post(origin)));
    for (let answered = 0; answered < 6; answered += 1) {
      await until('another request arrived', () => waiting.length > 0);
      waiting.shift()?.();
    }
    expect((await sending).map(({ status }) => status)).toEqual(Array(6).fill(204));
    expect(most()).toBe(2);
  });

  test('given up while it waits for one: it never goes out', async () => {
    const { origin, waiting } = await countingServer();
    const { post } = openPost({ connections: 1 });
    const first = post(origin);
    await until('the first request arrived', () => waiting.length === 1);
    const stop = new AbortController();
    const second = failureOf(post(origin, stop.signal));
    stop.abort();
    expect(await second).toMatchObject({ reason: 'unavailable', code: 'AbortError', maybeDelivered: false });
    waiting.shift()?.();
    expect((await first).status).toBe(204);
    const third = post(origin);
    await until('the third request arrived', () => waiting.length === 1);
    waiting.shift()?.();
    expect((await third).status).toBe(204);
    expect(waiting).toHaveLength(0);
  });

  test('closing ends what is under way; it may have arrived', async () => {
    const { origin, waiting } = await countingServer();
    const { post, close } = openPost();
    const sending = failureOf(post(origin));
    await until('the request arrived', () => waiting.length === 1);
    await close();
    expect(await sending).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
    expect(await failureOf(post(origin))).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
  });
});

describe('answers', () => {
  test('every status is an answer, and no redirect is followed', async () => {
    const elsewhere = await openReceiver();
    const receiver = await openReceiver();
    const { post } = openPost();
    for (const status of [200, 301, 302, 307, 308, 404, 500]) {
      receiver.script({ status, headers: { location: `${elsewhere.origin}/x`, 'X-Two': 'b' }, body: `body ${status}` });
      const answer = await post(receiver.origin);
      expect(answer).toMatchObject({ status, text: `body ${status}`, headers: { 'x-two': 'b' } });
    }
    expect(receiver.arrived).toHaveLength(7);
    expect(elsewhere.arrived).toHaveLength(0);
  });

  test('of a long text the first 16 KiB are kept', async () => {
    const receiver = await openReceiver(() => ({ status: 500, body: 'é'.repeat(2_000_000) }));
    const { status, text } = await openPost().post(receiver.origin);
    expect(status).toBe(500);
    expect(Buffer.byteLength(text)).toBe(16 * 1024);
    expect(text).toBe('é'.repeat(8 * 1024));
  });

  test('a text that never ends does not hold the sender', async () => {
    const url = await rawServer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', (socket) => {
      const pour = (): void => {
        if (!socket.destroyed) socket.write(`1000\r\n${'x'.repeat(4096)}\r\n`, pour);
      };
      pour();
    });
    const { status, text } = await openPost().post(url);
    expect({ status, length: text.length }).toEqual({ status: 200, length: 16 * 1024 });
  });

  test('once enough was read nobody waits for the rest', async () => {
    const url = await rawServer(`HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n${'x'.repeat(16 * 1024)}`);
    const { text } = await openPost().post(url, new AbortController().signal);
    expect(text).toHaveLength(16 * 1024);
  });

  test.each([
    ['breaks off', (socket: Socket) => socket.destroy()],
    ['stalls', () => {}],
  ])('a status counts although the text %s', async (_name, then) => {
    const url = await rawServer('HTTP/1.1 202 Accepted\r\ncontent-length: 1000\r\n\r\nsome', then);
    const answer = await openPost().post(url, AbortSignal.timeout(500));
    expect(answer).toMatchObject({ status: 202, text: 'some' });
  });

  test('interim answers are passed over', async () => {
    const url = await rawServer('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n');
    expect((await openPost().post(url)).status).toBe(201);
  });
});

describe('no answer', () => {
  const hidesThePath = (error: DeliveryError): void => {
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain('s3cr3t');
    expect(error.message).toContain('127.0.0.1');
  };

  test.each([
    ['nothing but a close', '', 'unavailable', 'UND_ERR_SOCKET'],
    ['half a status line', 'HTTP/1.1 20', 'unavailable', 'UND_ERR_SOCKET'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'unknown', 'HTTPParserError'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`, 'unknown', 'UND_ERR_HEADERS_OVERFLOW'],
  ])('%s: it may have arrived', async (_name, says, reason, code) => {
    const url = await rawServer(says, (socket) => socket.end());
    const error = await failureOf(openPost().post(url));
    expect(error).toMatchObject({ reason, code, maybeDelivered: true });
    hidesThePath(error);
  });

  test('a reset', async () => {
    const url = await rawServer('', (socket) => socket.resetAndDestroy());
    const error = await failureOf(openPost().post(url));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: true });
    hidesThePath(error);
  });

  test('a refused connection', async () => {
    const receiver = await startHttpReceiver();
    await receiver.close();
    const error = await failureOf(openPost().post(`${receiver.origin}/s3cr3t`));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'ECONNREFUSED', maybeDelivered: false });
    hidesThePath(error);
  });

  test('a deadline', async () => {
    const url = await rawServer('');
    const error = await failureOf(openPost().post(url, AbortSignal.timeout(200)));
    expect(error).toMatchObject({ reason: 'unavailable', code: 'TimeoutError', maybeDelivered: true });
    hidesThePath(error);
  });

  test('an abort, whatever its reason is', async () => {
    const url = await rawServer('');
    const stop = new AbortController();
    const sending = failureOf(openPost().post(url, stop.signal));
    setTimeout(() => stop.abort('a text, not an error'), 50);
    expect(await sending).toMatchObject({ reason: 'unavailable', code: 'AbortError' });
  });

  test('a server that accepts nobody: the connection has a deadline of its own', async () => {
    const { post } = openPost({ allowHttp: true, allowNetworks: ['192.0.2.0/24', '127.0.0.1'], connectTimeoutMs: 200 });
    const error = await failureOf(post('http://192.0.2.1/s3cr3t'));
    expect(error).toMatchObject({ reason: 'unavailable', maybeDelivered: false });
  });

  test('a header that cannot be sent', async () => {
    const receiver = await openReceiver();
    const guarded = createGuardedPost({ allowHttp: true, allowNetworks: LOOPBACK });
    closers.push(guarded.close);
    const request = { url: receiver.origin, body: '', signal: AbortSignal.timeout(5000) };
    const error = await failureOf(guarded.post({ ...request, headers: { 'x-broken': 'a\r\nb: c' } }));
    expect(error).toMatchObject({ reason: 'destination-dead', code: 'UND_ERR_INVALID_ARG', maybeDelivered: false });
    expect(receiver.arrived).toHaveLength(0);
  });
});

describe('retryAfterMs', () => {
  const now = Date.parse('2026-11-20T10:00:00.000Z');
  test.each([
    ['0', 0],
    ['7', 7000],
    ['1.5', 1500],
    [' 30 ', 30_000],
    ['3600', 3_600_000],
    ['86400', 3_600_000],
    ['99999999999999999999', 3_600_000],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['Sat, 21 Nov 2026 10:00:00 GMT', 3_600_000],
    ['Friday, 20-Nov-26 10:01:00 GMT', 60_000],
    ['Fri Nov 20 10:02:00 2026', 120_000],
    ['-5', undefined],
    ['soon', undefined],
    ['apples 5', undefined],
    ['', undefined],
    ['1e3', undefined],
    ['0x10', undefined],
    ['Fri, 99 Nov 2026 99:99:99 GMT', undefined],
    [undefined, undefined],
  ])('%j is %j', (header, waitMs) => {
    expect(retryAfterMs(header, now)).toBe(waitMs);
  });
});
