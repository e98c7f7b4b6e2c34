/** The endpoints for operators: liveness, readiness, metrics, the status as JSON, and the pages for people. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { UsageError } from '../errors.ts';
import { createRareWarning } from '../rarely.ts';
import { escapeInvisible } from '../text.ts';
import { oneAtATime, withinTime } from '../waiting.ts';
import { type Answer, type Asked, askedOf, ONLY_READ, type OpsPages, send, TEXT_TYPE } from './answer.ts';
import { type Health, type HealthReport, withAges } from './health.ts';
import type { Metrics } from './metrics.ts';
import type { StatusReport } from './status.ts';

/** `ops.listen` as Node wants it; no host is every interface: `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`, `:9464`. */
const parseListen = (listen: string): { host?: string; port: number } => {
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

interface HostCheckSettings {
  /** What is listened on; none is every interface. */
  host?: string | undefined;
  publicUrl?: string | undefined;
  /** This machine's name. */
  ownHost: string;
}

/** No public name ends so: nobody can register one and point it here. Kubernetes' names are among them. */
const PRIVATE_SUFFIX = /\.(?:svc|local|internal|home\.arpa)$/;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

/** Lower case, without port, brackets and the dot of the root; undefined where it is no host. */
const nameOf = (header: string): string | undefined => {
  const [, bracketed, plain] = /^(?:\[([^\]]+)\]|([\w.-]+))(?::\d*)?$/.exec(header) ?? [];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  return plain?.toLowerCase().replace(/\.$/, '');
};

/**
 * Which `Host` a request may name. A web page whose name was made to resolve to our address (DNS rebinding) may read our
 * answers in its visitor's browser; the browser then names that page's host. An address is always right, as no browser takes one from a foreign name: probes of containers and Kubernetes name the
 * pod's. Beyond loopback others on the network ask, by names that only their network knows.
 */
export const createHostCheck = ({ host, publicUrl, ownHost }: HostCheckSettings) => {
  const named = [host, publicUrl === undefined ? undefined : URL.parse(publicUrl)?.hostname];
  const isOpen = host === undefined || !LOOPBACK.test(host);
  const known = new Set([...named, ...(isOpen ? [ownHost] : [])].map((name) => name?.toLowerCase()));
  const isLocal = (name: string): boolean => !name.includes('.') || PRIVATE_SUFFIX.test(name);

  /** A request without a host comes from a simple probe: every browser sends one. */
  return (header: string | undefined): boolean => {
    if (!header) return true;
    const name = nameOf(header);
    if (name === undefined) return false;
    const isLoopbackName = name === 'localhost' || name.endsWith('.localhost');
    return isIP(name) > 0 || isLoopbackName || known.has(name) || (isOpen && isLocal(name));
  };
};

/** An import of it would load all that Node's `fetch` needs as well: 14 MB, and a tenth of a second. */
const { createServer } = process.getBuiltinModule('node:http');

export interface OpsServerSettings {
  /** `host:port`; port 0 takes a free one, no host every interface. */
  listen: string;
  /** Where people reach the server through a proxy: its host may be asked for as well. */
  publicUrl?: string;
  health: Pick<Health, 'live' | 'ready'>;
  metrics: Pick<Metrics, 'registry' | 'text'>;
  status(): Promise<StatusReport>;
  /** What people see. Default: nothing. */
  pages?: OpsPages;
  log: Pick<Logger, 'warn'>;
  now(): number;
  limits?: Partial<OpsLimits>;
}

interface OpsLimits {
  /** Open at once; more are closed as they come. Default 100. */
  connections: number;
  /** A connection says within this time what it wants, or is closed. Default 5000. */
  headersMs: number;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The status comes from Redis, where commands wait while it is away; a request to this server does not wait so long. */
const STATUS_TIMEOUT_MS = 3000;

/** What a name in the DNS can have, and its port. */
const LONGEST_HOST = 260;

const LIMITS: OpsLimits = { connections: 100, headersMs: 5000 };

/** A connection on which nothing moves is closed: one who reads no answer keeps no place. */
const IDLE_MS = 15_000;
/** How often Node looks for connections that are late. */
const LOOK_FOR_LATE_MS = 1000;

const PATHS = '/, /livez, /readyz, /metrics or /status.json';

/** Read on a terminal, too. */
const jsonAnswer = (code: number, report: object): Answer => ({
  code,
  type: JSON_TYPE,
  body: escapeInvisible(`${JSON.stringify(report, null, 2)}\n`),
});

const healthAnswer = (report: HealthReport, now: number): Answer =>
  jsonAnswer(report.status === 'ok' ? 200 : 503, withAges(report, now));

type Endpoints = Readonly<Record<string, () => Promise<Answer> | Answer>>;

const endpointsOf = ({ health, metrics, now }: OpsServerSettings, ask: OpsServerSettings['status']): Endpoints => ({
  '/livez': () => healthAnswer(health.live(), now()),
  '/readyz': () => healthAnswer(health.ready(), now()),
  '/metrics': async () => ({ code: 200, type: metrics.registry.contentType, body: await metrics.text() }),
  '/status.json': async () => jsonAnswer(200, await withinTime(ask(), STATUS_TIMEOUT_MS)),
});

const answerTo = async (endpoints: Endpoints, pages: OpsPages | undefined, asked: Asked): Promise<Answer> => {
  const shown = pages?.answer(asked);
  if (shown !== undefined) return shown;
  const { path, request } = asked;
  const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
  if (endpoint === undefined) return { code: 404, type: TEXT_TYPE, body: `not found: try ${PATHS}\n` };
  return request.method === 'GET' || request.method === 'HEAD' ? endpoint() : ONLY_READ;
};

const MISDIRECTED: Answer = {
  code: 421,
  type: TEXT_TYPE,
  body: 'not the host of this server: ask for it by address, or set ops.publicUrl in the config\n',
};

/** Only its first part: what follows may be the token of a link, which is good for days. */
const shownPath = (path: string): string => {
  const [, first = '', ...rest] = path.split('/');
  return rest.length === 0 ? path : `/${first}/…`;
};

type Handler = ReturnType<typeof createHandler>;

/** A page that cannot be made is a 503, said in the log and never a stack trace to the asker. */
const createHandler = (settings: OpsServerSettings) => {
  const { listen, publicUrl, pages, log, now } = settings;
  const endpoints = endpointsOf(settings, oneAtATime(settings.status));
  const warnOfHost = createRareWarning({ log, now, text: 'refused a request for another host' });
  const { host: listenHost } = parseListen(listen);
  const mayAskFor = createHostCheck({ host: listenHost, publicUrl, ownHost: hostname() });

  const answer = (asked: Asked): Promise<Answer> =>
    answerTo(endpoints, pages, asked).catch((error: unknown): Answer => {
      log.warn({ err: error, path: shownPath(asked.path) }, 'an ops page cannot be shown');
      return { code: 503, type: TEXT_TYPE, body: 'not available now: see /readyz and the log\n' };
    });

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { host } = request.headers;
    if (!mayAskFor(host)) {
      warnOfHost({ host: host?.slice(0, LONGEST_HOST) });
      send(request, response, MISDIRECTED);
      return;
    }
    const asked = askedOf(request);
    if (!pages?.stream(asked, response)) send(request, response, await answer(asked));
  };
};

const openServer = (
  handle: Handler,
  { connections, headersMs }: OpsLimits,
  { log, now }: OpsServerSettings,
): Server => {
  const server = createServer(
    {
      headersTimeout: headersMs,
      // A body is a small form.
      requestTimeout: 2 * headersMs,
      connectionsCheckingInterval: Math.min(headersMs, LOOK_FOR_LATE_MS),
    },
    (request, response) => void handle(request, response),
  );
  server.setTimeout(IDLE_MS);
  server.maxConnections = connections;
  const warnOfDrop = createRareWarning({ log, now, text: 'closed a connection: too many are open' });
  return server.on('drop', () => warnOfDrop({ connections }));
};

/** Serves the pages to requests that name this server. It bounds open connections and closes slow ones. */
export const createOpsServer = (settings: OpsServerSettings) => {
  const { listen } = settings;
  let server: Server | undefined;
  let handle = createHandler(settings);

  return {
    /** Answers by these settings from now on, at the same address. */
    use: (next: OpsServerSettings): void => {
      handle = createHandler({ ...next, listen });
    },
    /** Throws a `UsageError` where the address cannot be had. */
    start: async (): Promise<{ url: string }> => {
      const address = parseListen(listen);
      const listening = Promise.withResolvers<void>();
      server = openServer(
        (request, response) => handle(request, response),
        { ...LIMITS, ...settings.limits },
        settings,
      );
      server.once('error', listening.reject).listen(address, listening.resolve);
      await listening.promise.catch((error: NodeJS.ErrnoException) => {
        throw cannotListen(listen, error);
      });
      const bound = server.address();
      if (bound === null || typeof bound === 'string') throw new Error('the ops server has no address');
      return { url: `http://${isIPv6(bound.address) ? `[${bound.address}]` : bound.address}:${bound.port}` };
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

export type OpsServer = ReturnType<typeof createOpsServer>;
