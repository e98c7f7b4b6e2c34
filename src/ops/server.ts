/** The endpoints for operators: liveness, readiness, metrics, the status as JSON, and the pages for people. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { createRareWarning } from '../rarely.ts';
import { escapeInvisible } from '../text.ts';
import { oneAtATime, withinTime } from '../waiting.ts';
import { type Answer, type Asked, askedOf, ONLY_READ, type OpsPages, send, TEXT_TYPE } from './answer.ts';
import { type Health, type HealthReport, withAges } from './health.ts';
import { createListener, type ListenerLimits, parseListen } from './listener.ts';
import type { Metrics } from './metrics.ts';
import type { StatusReport } from './status.ts';

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

export interface OpsServerSettings {
  /** `host:port`; port 0 takes a free one, no host every interface. */
  listen: string;
  /** An address for `/livez` and `/readyz` alone, which the connections of `listen` cannot hold shut. Default: there is none. */
  probes?: string;
  /** Where people reach the server through a proxy: its host may be asked for as well. */
  publicUrl?: string;
  health: Pick<Health, 'live' | 'ready'>;
  metrics: Pick<Metrics, 'registry' | 'text'>;
  status(): Promise<StatusReport>;
  /** What people see. Default: nothing. */
  pages?: OpsPages;
  log: Pick<Logger, 'warn'>;
  now(): number;
  limits?: Partial<ListenerLimits>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** The status comes from Redis, where commands wait while it is away; a request to this server does not wait so long. */
const STATUS_TIMEOUT_MS = 3000;

/** What a name in the DNS can have, and its port. */
const LONGEST_HOST = 260;

/** Read on a terminal, too. */
const jsonAnswer = (code: number, report: object): Answer => ({
  code,
  type: JSON_TYPE,
  body: escapeInvisible(`${JSON.stringify(report, null, 2)}\n`),
});

const healthAnswer = (report: HealthReport, now: number): Answer =>
  jsonAnswer(report.status === 'ok' ? 200 : 503, withAges(report, now));

type Endpoints = Readonly<Record<string, () => Promise<Answer> | Answer>>;

const probesOf = ({ health, now }: OpsServerSettings): Endpoints => ({
  '/livez': () => healthAnswer(health.live(), now()),
  '/readyz': () => healthAnswer(health.ready(), now()),
});

const endpointsOf = (settings: OpsServerSettings): Endpoints => {
  const { metrics } = settings;
  const ask = oneAtATime(settings.status);
  return {
    ...probesOf(settings),
    '/metrics': async () => ({ code: 200, type: metrics.registry.contentType, body: await metrics.text() }),
    '/status.json': async () => jsonAnswer(200, await withinTime(ask(), STATUS_TIMEOUT_MS)),
  };
};

const answerTo = async (endpoints: Endpoints, pages: OpsPages | undefined, asked: Asked): Promise<Answer> => {
  const shown = pages?.answer(asked);
  if (shown !== undefined) return shown;
  const { path, request } = asked;
  const endpoint = Object.hasOwn(endpoints, path) ? endpoints[path] : undefined;
  if (endpoint === undefined) {
    const there = [...(pages === undefined ? [] : ['/']), ...Object.keys(endpoints)];
    return { code: 404, type: TEXT_TYPE, body: `not found: try ${there.join(', ')}\n` };
  }
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

interface Served {
  key: string;
  listen: string;
  endpoints: Endpoints;
  pages?: OpsPages | undefined;
}

/** A page that cannot be made is a 503, said in the log and never a stack trace to the asker. */
const createHandler = ({ publicUrl, log, now }: OpsServerSettings, { key, listen, endpoints, pages }: Served) => {
  const warnOfHost = createRareWarning({ log, now, text: 'refused a request for another host' });
  const { host: listenHost } = parseListen(key, listen);
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

/** Serves the pages to requests that name this server, and probes at an address of their own. */
export const createOpsServer = (settings: OpsServerSettings) => {
  const { probes, limits, log, now } = settings;
  const ofAll = { key: 'ops.listen', listen: settings.listen };
  const ofProbes = probes === undefined ? undefined : { key: 'ops.probes', listen: probes };
  const handlersOf = (by: OpsServerSettings) => ({
    all: createHandler(by, { ...ofAll, endpoints: endpointsOf(by), pages: by.pages }),
    probes: ofProbes && createHandler(by, { ...ofProbes, endpoints: probesOf(by) }),
  });
  let handlers = handlersOf(settings);
  const shared = { limits, log, now };
  const main = createListener({
    ...{ ...shared, ...ofAll },
    handle: (request, response) => void handlers.all(request, response),
  });
  const forProbes =
    ofProbes &&
    createListener({
      ...{ ...shared, ...ofProbes },
      handle: (request, response) => void handlers.probes?.(request, response),
    });

  return {
    /** Answers by these settings from now on, at the same addresses. */
    use: (next: OpsServerSettings): void => {
      handlers = handlersOf(next);
    },
    /** Throws a `UsageError` where an address cannot be had. */
    start: async (): Promise<{ url: string; probesUrl?: string }> => {
      const url = await main.start();
      return forProbes === undefined ? { url } : { url, probesUrl: await forProbes.start() };
    },
    /** Legal before `start`; may be called again. */
    stop: async (): Promise<void> => {
      await Promise.all([main.stop(), forProbes?.stop()]);
    },
  };
};

export type OpsServer = ReturnType<typeof createOpsServer>;
