/** The endpoints for operators: liveness, readiness, metrics and the status page. Read-only. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { UsageError } from '../errors.ts';
import { oneAtATime, withinTime } from './asking.ts';
import type { Health, HealthReport } from './health.ts';
import type { Metrics } from './metrics.ts';
import { renderPage } from './page.ts';
import { PAGE_POLICY } from './page-style.ts';
import type { StatusReport } from './status.ts';

export interface OpsServerSettings {
  /** `host:port`; port 0 takes a free one, no host every interface. */
  listen: string;
  health: Pick<Health, 'live' | 'ready'>;
  metrics: Pick<Metrics, 'registry' | 'text'>;
  status(): Promise<StatusReport>;
  log: Pick<Logger, 'warn'>;
}

export interface OpsServer {
  /** Throws a `UsageError` where the address cannot be had. */
  start(): Promise<{ url: string }>;
  /** Legal before `start`; may be called again. */
  stop(): Promise<void>;
}

interface Answer {
  code: number;
  type: string;
  body: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

/** The status comes from Redis, where commands wait while it is away; a request to this server does not wait so long. */
const STATUS_TIMEOUT_MS = 3000;

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': PAGE_POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

const PATHS = '/, /livez, /readyz, /metrics or /status.json';

const healthAnswer = (report: HealthReport): Answer => ({
  code: report.status === 'ok' ? 200 : 503,
  type: JSON_TYPE,
  body: `${JSON.stringify(report, null, 2)}\n`,
});

/** `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, `:9464`. */
const addressOf = (listen: string): { host?: string; port: number } => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits);
  if (!(port <= 65_535)) throw new UsageError(`ops.listen must be HOST:PORT (got '${listen}')`);
  const host = bracketed ?? plain;
  return host ? { host, port } : { port };
};

const REFUSALS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another program',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'the port needs more rights than this program has',
  ENOTFOUND: 'no such host',
};

const cannotListen = (listen: string, error: NodeJS.ErrnoException): UsageError => {
  const { code = 'unknown error' } = error;
  return new UsageError(`ops.listen: cannot listen on ${listen}: ${REFUSALS[code] ?? code}`, { cause: error });
};

type Pages = Readonly<Record<string, () => Promise<Answer> | Answer>>;

const pagesOf = ({ health, metrics }: OpsServerSettings, ask: OpsServerSettings['status']): Pages => ({
  '/livez': () => healthAnswer(health.live()),
  '/readyz': () => healthAnswer(health.ready()),
  '/metrics': async () => ({ code: 200, type: metrics.registry.contentType, body: await metrics.text() }),
  '/status.json': async () => {
    const report = await withinTime(ask(), STATUS_TIMEOUT_MS);
    return { code: 200, type: JSON_TYPE, body: `${JSON.stringify(report, null, 2)}\n` };
  },
  '/': async () => ({ code: 200, type: HTML_TYPE, body: renderPage(await withinTime(ask(), STATUS_TIMEOUT_MS)) }),
});

const answerTo = async (pages: Pages, { method, url = '/' }: IncomingMessage): Promise<Answer> => {
  const path = url.split('?', 1)[0] ?? '/';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return { code: 404, type: TEXT_TYPE, body: `not found: try ${PATHS}\n` };
  if (method !== 'GET' && method !== 'HEAD') return { code: 405, type: TEXT_TYPE, body: 'only GET and HEAD\n' };
  return page();
};

/** Serves the pages; a page that cannot be made is a 503, said in the log and never a stack trace to the asker. */
export const createOpsServer = (settings: OpsServerSettings): OpsServer => {
  const { listen, log } = settings;
  const pages = pagesOf(settings, oneAtATime(settings.status));

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { code, type, body } = await answerTo(pages, request).catch((error: unknown): Answer => {
      log.warn({ err: error, path: request.url }, 'an ops page cannot be shown');
      return { code: 503, type: TEXT_TYPE, body: 'not available now: see /readyz and the log\n' };
    });
    const allow = code === 405 ? { allow: 'GET, HEAD' } : {};
    response.writeHead(code, { ...HEADERS, ...allow, 'content-type': type, 'content-length': Buffer.byteLength(body) });
    response.end(request.method === 'HEAD' ? undefined : body);
  };

  const server = createServer((request, response) => void handle(request, response));

  return {
    start: async () => {
      const listening = Promise.withResolvers<void>();
      server.once('error', listening.reject).listen(addressOf(listen), listening.resolve);
      await listening.promise.catch((error: NodeJS.ErrnoException) => {
        throw cannotListen(listen, error);
      });
      const bound = server.address();
      if (bound === null || typeof bound === 'string') throw new Error('the ops server has no address');
      const { address, port } = bound;
      return { url: `http://${isIPv6(address) ? `[${address}]` : address}:${port}` };
    },
    stop: async () => {
      if (!server.listening) return;
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
};
