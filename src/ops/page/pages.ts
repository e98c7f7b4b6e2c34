/** The pages of the ops server that people look at. */
import type { Logger } from 'pino';
import { type Answer, type Asked, ONLY_READ, type OpsPages } from '../server.ts';
import { createLive, type LiveSettings } from './live.ts';
import { isFromElsewhere } from './origin.ts';
import { BusyError, createOverview, type OverviewDependencies } from './overview.ts';
import { PAGE_POLICY } from './style.ts';
import { READER } from './view.ts';

export interface PagesDependencies extends Omit<OverviewDependencies, 'onProblem'> {
  log: Pick<Logger, 'warn'>;
  live?: LiveSettings;
}

const HEADERS = { 'content-security-policy': PAGE_POLICY };

export const htmlAnswer = (code: number, body: string, headers: Answer['headers'] = {}): Answer => ({
  code,
  type: 'text/html; charset=utf-8',
  body,
  headers: { ...HEADERS, ...headers },
});

const busyAnswer = (error: unknown): Answer => {
  if (!(error instanceof BusyError)) throw error;
  return { code: 503, type: 'text/plain; charset=utf-8', body: `${error.message}: try again\n` };
};

const TOO_MANY: Answer = {
  code: 503,
  type: 'text/plain; charset=utf-8',
  body: 'too many look at the page already: it goes on at its own pace\n',
};

const FORBIDDEN: Answer = { code: 403, type: 'text/plain; charset=utf-8', body: 'only for pages of this server\n' };

/** Those of the events that are not streamed. */
const withoutEvents = (asked: Asked): Answer => {
  if (asked.request.method !== 'GET') return ONLY_READ;
  return isFromElsewhere(asked.request.headers) ? FORBIDDEN : TOO_MANY;
};

const isRead = ({ request: { method } }: Asked): boolean => method === 'GET' || method === 'HEAD';

export interface Pages extends OpsPages {
  /** Ends what it streams. */
  stop(): void;
}

export const createPages = (dependencies: PagesDependencies): Pages => {
  const { log } = dependencies;
  const onProblem = (error: unknown): void => log.warn({ err: error, path: '/' }, 'an ops page cannot be shown');
  const overview = createOverview({ ...dependencies, onProblem });
  const live = createLive(dependencies.live);

  return {
    answer: (asked) => {
      if (asked.path === '/events') return Promise.resolve(withoutEvents(asked));
      if (asked.path !== '/') return undefined;
      if (!isRead(asked)) return Promise.resolve(ONLY_READ);
      return overview(asked.query, READER).then(({ code, body }) => htmlAnswer(code, body), busyAnswer);
    },
    stream: ({ path, request: { method, headers } }, response) =>
      path === '/events' && method === 'GET' && !isFromElsewhere(headers) && live.join(response),
    stop: live.stop,
  };
};
