/** A real HTTP server of a test's own, which records what arrives and answers by script. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** `hang` never answers; `reset` takes the whole request and drops the connection. */
export type HttpStep = Answer | 'hang' | 'reset';

export interface Arrived {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface HttpReceiver {
  /** `http://127.0.0.1:PORT`, with a certificate `https:` */
  origin: string;
  /** Every whole request, also the refused. */
  arrived: Arrived[];
  /** Those that `accept` answered with a 2xx; what the script answers is never accepted. */
  accepted: Arrived[];
  /** What the next requests meet, in this order; after that `accept` answers. */
  script(...steps: HttpStep[]): void;
  close(): Promise<void>;
}

const read = async (request: IncomingMessage): Promise<Arrived> => ({
  method: request.method ?? '',
  path: request.url ?? '',
  headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
  body: await text(request),
});

export const startHttpReceiver = async (
  accept: (arrived: Arrived) => Answer | Promise<Answer> = () => ({ status: 204 }),
  certificate?: ServerOptions,
): Promise<HttpReceiver> => {
  const steps: HttpStep[] = [];
  const arrived: Arrived[] = [];
  const accepted: Arrived[] = [];

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message = await read(request);
    arrived.push(message);
    const step = steps.shift();
    if (step === 'hang') return;
    if (step === 'reset') return void request.socket.resetAndDestroy();
    const { status, headers, body } = step ?? (await accept(message));
    if (step === undefined && status >= 200 && status < 300) accepted.push(message);
    response.writeHead(status, headers).end(body);
  };

  // A sender that went away in the middle of its request is nothing to answer.
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response).catch(() => response.destroy());
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http${certificate === undefined ? '' : 's'}://127.0.0.1:${port}`,
    arrived,
    accepted,
    script: (...more) => void steps.push(...more),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
