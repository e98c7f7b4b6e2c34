/** The pages of the ops server that people look at. */
import type { ServerResponse } from 'node:http';
import { type Condition, conditionText, nextStepOf } from '../../condition.ts';
import { iso } from '../../time.ts';
import { oneAtATime, withinTime } from '../../waiting.ts';
import { type Answer, type Asked, ONLY_READ, type OpsPages, TEXT_TYPE } from '../answer.ts';
import type { StatusReport } from '../status.ts';
import { createAcknowledgePage, type LinkPages } from './acknowledge.ts';
import { type ActionsDependencies, createActions } from './actions.ts';
import {
  type OutdatedView,
  type PageDetails,
  type PageView,
  READER,
  type TracedAlert,
  type Viewer,
} from './details.ts';
import { renderOutage, renderPage, renderTraces } from './page.ts';
import { isFromElsewhere } from './session.ts';
import { htmlAnswer } from './style.ts';

interface PageSource {
  details(): Promise<PageDetails>;
  /** By a transaction's hash, an item's id or an alert's. */
  trace(name: string): Promise<TracedAlert[]>;
}

type Acting = Pick<ActionsDependencies, 'trustedProxy' | 'publicUrl' | 'queues' | 'wrongTokenMs' | 'log' | 'now'>;

export interface PagesDependencies extends Acting {
  status(): Promise<StatusReport>;
  /** Absent: the page shows the status alone. */
  source?: PageSource;
  /** What this daemon knows to be wrong, the worst first. */
  own(): readonly Condition[];
  live?: LiveSettings;
  /** `ops.token`; absent: nobody may change anything. */
  token?: string | undefined;
  /** Where sessions are ended; absent: nobody can sign in. */
  ended?: ActionsDependencies['ended'];
  /** By name. Default: none. */
  actions?: ActionsDependencies['actions'];
  /** What the links in mails lead to. Default: there are none. */
  links?: LinkPages | undefined;
}

interface LiveSettings {
  everyMs?: number;
  /** Open at once; others ask at their own pace. Each keeps a connection, and probes need some. Default 30. */
  mostViewers?: number;
}

/** How long a browser waits before it connects again. */
const RETRY_MS = 3000;
/** A viewer who reads nothing is let go once so much waits for him. */
const MOST_WAITING_BYTES = 4096;

/**
 * Tells open pages, by server-sent events, when to ask for themselves again. All viewers share one timer, which runs only
 * while somebody looks; what they then ask for is made once for all of them.
 */
const createLive = ({ everyMs = 5000, mostViewers = 30 }: LiveSettings = {}) => {
  const viewers = new Set<ServerResponse>();
  let timer: NodeJS.Timeout | undefined;
  let count = 0;
  let isStopped = false;

  const leave = (viewer: ServerResponse): void => {
    viewers.delete(viewer);
    if (viewers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const tick = (): void => {
    count += 1;
    for (const viewer of viewers) {
      if (viewer.writableLength > MOST_WAITING_BYTES) viewer.destroy();
      else viewer.write(`data: ${count}\n\n`);
    }
  };

  return {
    /** Takes over the response. False: there are too many viewers. */
    join: (response: ServerResponse): boolean => {
      if (isStopped || viewers.size >= mostViewers) return false;
      viewers.add(response);
      response.once('close', () => leave(response));
      response.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        // A proxy must not keep them until there are more.
        'x-accel-buffering': 'no',
      });
      response.write(`retry: ${RETRY_MS}\n\n`);
      timer ??= setInterval(tick, everyMs).unref();
      return true;
    },
    /** Ends all streams, and lets nobody join any more. */
    stop: (): void => {
      isStopped = true;
      for (const viewer of viewers) viewer.end();
    },
  };
};

/** What was made this long ago is shown once more: it costs dozens of questions to Redis. */
const FRESH_MS = 2000;
/** Redis is asked for both; while it is away commands wait, and the reader does not wait so long. */
const TIMEOUT_MS = 3000;
/** Searches at the same time; others are told to try again. */
const MOST_SEARCHES = 4;

const LONGEST_QUERY = 200;

/** What is no part of a name, but the name of one thing: a hash, also as messages shorten it, or an id. */
const IDENTITY = /^(?:0x[0-9a-f]{4,64}(?:(?:…|\.{2,3})[0-9a-f]{0,62})?|[0-9a-f]{24,64}|msg_[0-9a-f]+)$/i;

type Made = Pick<PageView, 'report' | 'details'>;

class BusyError extends Error {}

const createSearch = (source: PageSource | undefined) => {
  let running = 0;
  return async (name: string): Promise<TracedAlert[]> => {
    if (source === undefined) return [];
    if (running >= MOST_SEARCHES) throw new BusyError('too many searches at once');
    running += 1;
    try {
      return await withinTime(source.trace(name), TIMEOUT_MS);
    } finally {
      running -= 1;
    }
  };
};

/** What is shown while Redis is silent: what this daemon knows by itself. */
const outdatedBy = (own: readonly Condition[]): OutdatedView => ({
  since: own.find(({ name }) => name === 'redis')?.since,
  problems: own
    .filter(({ name }) => name !== 'redis')
    .map(({ since, ...one }) => ({
      ...{ text: conditionText(one), todo: `${nextStepOf(one)}.` },
      ...(since !== undefined && { since }),
    })),
});

/** The overview, or what a search finds. One making is shared by all who look. */
const createOverview = ({ status, source, own, log, now }: PagesDependencies) => {
  const onProblem = (error: unknown): void => log.warn({ err: error, path: '/' }, 'an ops page cannot be shown');
  const search = createSearch(source);
  const askDetails = oneAtATime(async () => source?.details());
  let last: { made: Made; at: number; isFresh: boolean } | undefined;

  const detailsOrNone = (): Promise<PageDetails | undefined> =>
    withinTime(askDetails(), TIMEOUT_MS).catch((error: unknown) => {
      onProblem(error);
      return undefined;
    });

  const make = oneAtATime(async (): Promise<Made> => {
    const [report, details] = await Promise.all([withinTime(status(), TIMEOUT_MS), detailsOrNone()]);
    const made: Made = { report, details };
    last = { made, at: now(), isFresh: true };
    return made;
  });

  const overview = async (viewer: Viewer, filter: string | undefined): Promise<{ code: number; body: string }> => {
    const shown = { viewer, filter };
    if (last?.isFresh && now() - last.at < FRESH_MS && now() >= last.at) {
      return { code: 200, body: renderPage({ ...last.made, ...shown, now: iso(now()) }) };
    }
    try {
      const made = await make();
      return { code: 200, body: renderPage({ ...made, ...shown, now: made.report.now }) };
    } catch (error) {
      onProblem(error);
      const outdated = outdatedBy(own());
      const at = iso(now());
      const body =
        last === undefined
          ? renderOutage(outdated, viewer, at)
          : renderPage({ ...last.made, ...shown, outdated, now: at });
      return { code: 503, body };
    }
  };

  const show = async (query: URLSearchParams, viewer: Viewer): Promise<{ code: number; body: string }> => {
    const text = (query.get('tx') ?? query.get('q') ?? '').trim().slice(0, LONGEST_QUERY);
    if (text !== '' && (query.has('tx') || IDENTITY.test(text))) {
      return { code: 200, body: renderTraces(text, await search(text), viewer) };
    }
    return overview(viewer, text === '' ? undefined : text);
  };

  return {
    show,
    /** Somebody changed something: what was made before is not shown again. */
    forget: (): void => {
      if (last) last.isFresh = false;
    },
  };
};

const textAnswer = (code: number, body: string): Answer => ({ code, type: TEXT_TYPE, body });

const busyAnswer = (error: unknown): Answer => {
  if (!(error instanceof BusyError)) throw error;
  return textAnswer(503, `${error.message}: try again\n`);
};

/** Those of the events that are not streamed. */
const withoutEvents = ({ request: { method, headers } }: Asked): Answer => {
  if (method !== 'GET') return ONLY_READ;
  return isFromElsewhere(headers)
    ? textAnswer(403, 'only for pages of this server\n')
    : textAnswer(503, 'too many look at the page already: it goes on at its own pace\n');
};

/** The status page with what it leads to; `stop` ends what it streams. */
export const createPages = (dependencies: PagesDependencies) => {
  const { token, ended, actions = {}, links, now } = dependencies;
  const overview = createOverview(dependencies);
  const live = createLive(dependencies.live);
  const acting =
    token === undefined || ended === undefined
      ? undefined
      : createActions({ ...dependencies, token, ended, actions, onDone: overview.forget });
  const acknowledging = links && createAcknowledgePage({ links, now });

  const show = async ({ query, request }: Asked): Promise<Answer> => {
    const { code, body } = await overview.show(query, (await acting?.viewerOf(request)) ?? READER);
    return htmlAnswer(code, body);
  };

  return {
    answer: (asked: Asked): Promise<Answer> | undefined => {
      const { path, request } = asked;
      if (path === '/events') return Promise.resolve(withoutEvents(asked));
      if (path !== '/') return acknowledging?.answer(asked) ?? acting?.answer(asked);
      if (request.method !== 'GET' && request.method !== 'HEAD') return Promise.resolve(ONLY_READ);
      return show(asked).catch(busyAnswer);
    },
    stream: ({ path, request: { method, headers } }: Asked, response: ServerResponse): boolean =>
      path === '/events' && method === 'GET' && !isFromElsewhere(headers) && live.join(response),
    stop: live.stop,
  } satisfies OpsPages & { stop(): void };
};
