/** A plain HTTP server: bodies read whole, every socket gone after `stop`. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createLifecycle, type Lifecycle, type Opened } from './lifecycle.ts';

export interface Exchange {
  method: string;
  /** As it came, still percent-encoded. */
  path: string;
  /** Without the question mark, as it came. */
  query: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
  response: ServerResponse;
}

export interface ListenOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free one, kept over restarts. */
  port?: number;
}

const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** Undefined where it is too long; the rest is read all the same, or the client would never see our answer. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
  }
  return bytes > BODY_LIMIT_BYTES ? undefined : Buffer.concat(chunks);
};

/** What a connection becomes that asks for another protocol. */
type Upgrade = (request: IncomingMessage, socket: Duplex) => void;

const open = (server: Server, port: number, host: string): Promise<Opened> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const address = server.address();
      const close = (): Promise<void> =>
        new Promise((closed) => {
          server.close(() => closed());
          server.closeAllConnections();
        });
      resolve({ port: typeof address === 'object' && address ? address.port : port, close });
    });
  });

/** A bound host as a URL on this machine names it. */
export const urlHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
};

/** Ends a connection as a crashed peer would, with a TCP reset. */
export const resetConnection = (response: ServerResponse): void => {
  response.socket?.resetAndDestroy();
};

const handleWith =
  (handle: (exchange: Exchange) => void | Promise<void>) =>
  async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const body = await readBody(request);
      if (!body) {
        response.writeHead(413, { connection: 'close' }).end();
        return;
      }
      const [path = '/', ...query] = (request.url ?? '/').split('?');
      const { method = 'GET', headers } = request;
      await handle({ method, path, query: query.join('?'), headers, body, response });
    } catch (error) {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain' }).end(`sandbox: ${String(error)}`);
    }
  };

/** Errors of `start` are those of `listen`, such as EADDRINUSE. `stop` ends every connection at once. */
export const createHttpListener = (
  { host = '127.0.0.1', port = 0 }: ListenOptions,
  handle: (exchange: Exchange) => void | Promise<void>,
  upgrade?: Upgrade,
): Lifecycle => {
  const onRequest = handleWith(handle);
  return createLifecycle(port, (keptPort) => {
    const server = createServer((request, response) => void onRequest(request, response));
    if (upgrade) server.on('upgrade', (request: IncomingMessage, socket: Duplex) => upgrade(request, socket));
    return open(server, keptPort, host);
  });
};
