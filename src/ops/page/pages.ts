/** The pages of the ops server that people look at. */
import type { Logger } from 'pino';
import { type Answer, type Asked, ONLY_READ, type OpsPages, TEXT_TYPE } from '../answer.ts';
import { createAcknowledgePage, type LinkPages } from './acknowledge.ts';
import type { PageActions } from './action-pages.ts';
import { createActions } from './actions.ts';
import { htmlAnswer } from './answers.ts';
import { createLive, type LiveSettings } from './live.ts';
import { isFromElsewhere } from './origin.ts';
import { BusyError, createOverview, type OverviewDependencies } from './overview.ts';
import type { QueueBoard } from './queues.ts';
import type { TrustedProxy } from './trusted-proxy.ts';
import { READER } from './view.ts';

export interface PagesDependencies extends Omit<OverviewDependencies, 'onProblem'> {
  log: Pick<Logger, 'warn'>;
  live?: LiveSettings;
  /** `ops.token`; absent: nobody may change anything. */
  token?: string;
  trustedProxy?: TrustedProxy;
  publicUrl?: string;
  /** By name. Default: none. */
  actions?: PageActions;
  /** What the links in mails lead to. Default: there are none. */
  links?: LinkPages;
  /** Shown to whoever is signed in. Default: nobody sees them. */
  queues?: QueueBoard;
}

export interface Pages extends OpsPages {
  /** Ends what it streams. */
  stop(): void;
}

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

export const createPages = (dependencies: PagesDependencies): Pages => {
  const { log, token, trustedProxy, publicUrl, actions = {}, links, queues, now } = dependencies;
  const onProblem = (error: unknown): void => log.warn({ err: error, path: '/' }, 'an ops page cannot be shown');
  const overview = createOverview({ ...dependencies, onProblem });
  const live = createLive(dependencies.live);
  const acting =
    token === undefined
      ? undefined
      : createActions({
          ...{ token, publicUrl, actions, log, now },
          ...(trustedProxy && { trustedProxy }),
          ...(queues && { queues }),
          onDone: overview.forget,
        });

  const acknowledging = links && createAcknowledgePage({ links, now });

  const show = async ({ query, request }: Asked): Promise<Answer> => {
    const { code, body } = await overview.show(query, acting?.viewerOf(request) ?? READER);
    return htmlAnswer(code, body);
  };

  return {
    answer: (asked) => {
      const { path, request } = asked;
      if (path === '/events') return Promise.resolve(withoutEvents(asked));
      if (path !== '/') return acknowledging?.answer(asked) ?? acting?.answer(asked);
      if (request.method !== 'GET' && request.method !== 'HEAD') return Promise.resolve(ONLY_READ);
      return show(asked).catch(busyAnswer);
    },
    stream: ({ path, request: { method, headers } }, response) =>
      path === '/events' && method === 'GET' && !isFromElsewhere(headers) && live.join(response),
    stop: live.stop,
  };
};
