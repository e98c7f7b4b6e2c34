/** One address that the daemon serves HTTP on, with bounds on how many connections there are and how long each may take. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { UsageError } from '../errors.ts';
import { createRareWarning } from '../rarely.ts';
import { createConnections } from './connections.ts';

/** As Node wants it; no host is every interface: `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, `:9464`. */
export const parseListen = (key: string, listen: string): { host?: string; port: number } => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) throw new UsageError(`${key} must be HOST:PORT (got '${listen}')`);
  const host = bracketed ?? plain;
  return host ? { host, port } : { port };
};

const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another program: end that one, or choose another port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'the port needs more rights than this program has: choose one above 1023',
  ENOTFOUND: 'no such host',
};

/** `key`: what says where to listen. */
export const cannotListen = (key: string, listen: string, error: NodeJS.ErrnoException): UsageError => {
  const { code = 'unknown error' } = error;
  return new UsageError(`${key}: cannot listen on ${listen}: ${REFUSALS[code] ?? code}`, { cause: error });
};

/** An import of it would load all that Node's `fetch` needs as well: 14 MB, and a tenth of a second. */
const { createServer } = process.getBuiltinModule('node:http');

export interface ListenerLimits {
  /** Open at once; for a new one an old one is closed. Default 100. */
  connections: number;
  /** Of these, from one address: a proxy has one for all behind it, whose connections give way to each other. Default 50. */
  fromOne: number;
  /** A connection says within this time what it wants, or is closed. Default 5000. */
  headersMs: number;
  /** An answer is read within this time. Default 60,000. */
  answerMs: number;
}

const LIMITS: ListenerLimits = { connections: 100, fromOne: 50, headersMs: 5000, answerMs: 60_000 };

/** A connection on which nothing moves is closed. */
const IDLE_MS = 15_000;
/** How often Node looks for connections that are late. */
const LOOK_FOR_LATE_MS = 1000;

interface ListenerSettings {
  /** Of the config, for errors. */
  key: string;
  /** `host:port`; port 0 takes a free one, no host every interface. */
  listen: string;
  limits: Partial<ListenerLimits> | undefined;
  handle(request: IncomingMessage, response: ServerResponse): void;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

const openServer = ({ limits, handle, log, now }: ListenerSettings): Server => {
  const { connections: most, fromOne: mostOfOne, headersMs, answerMs } = { ...LIMITS, ...limits };
  const warn = createRareWarning({ log, now, text: 'closed a connection: too many are open' });
  const onClosed = (from: string): void => warn({ from, connections: most });
  const connections = createConnections({ most, mostOfOne, answerMs, onClosed });
  const server = createServer(
    {
      headersTimeout: headersMs,
      // A body is a small form.
      requestTimeout: 2 * headersMs,
      connectionsCheckingInterval: Math.min(headersMs, LOOK_FOR_LATE_MS),
    },
    (request, response) => {
      if (connections.ask(request, response)) handle(request, response);
    },
  );
  server.setTimeout(IDLE_MS);
  return server.on('connection', connections.admit);
};

export const createListener = (settings: ListenerSettings) => {
  const { key, listen } = settings;
  let server: Server | undefined;

  return {
    /** Gives its URL. Throws a `UsageError` where the address cannot be had. */
    start: async (): Promise<string> => {
      const address = parseListen(key, listen);
      const listening = Promise.withResolvers<void>();
      server = openServer(settings);
      server.once('error', listening.reject).listen(address, listening.resolve);
      await listening.promise.catch((error: NodeJS.ErrnoException) => {
        throw cannotListen(key, listen, error);
      });
      const bound = server.address();
      if (bound === null || typeof bound === 'string') throw new Error(`${key} has no address`);
      return `http://${isIPv6(bound.address) ? `[${bound.address}]` : bound.address}:${bound.port}`;
    },
    /** Legal before `start`; may be called again. */
    stop: async (): Promise<void> => {
      if (server?.listening !== true) return;
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
};
