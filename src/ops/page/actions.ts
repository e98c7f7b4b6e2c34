/**
 * What whoever is signed in may do. Each action is a form of one of our pages; what sends or gives up something is asked
 * once more. A form counts only with the session's cookie, with the token that our page put into it, and from our page.
 */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { UsageError } from '../../errors.ts';
import { html } from '../../html.ts';
import { cleanLine } from '../../text.ts';
import { type Answer, type Asked, TEXT_TYPE } from '../answer.ts';
import { createRareWarning } from '../rare-warning.ts';
import {
  donePage,
  mutePage,
  note,
  type PageActions,
  type PlanAction,
  PREFIX,
  questionPage,
  signInPage,
} from './action-pages.ts';
import { readForm } from './body.ts';
import { isOwnForm } from './origin.ts';
import { isOfQueues, type QueueBoard, showQueues } from './queues.ts';
import { createAttempts, createSessions, type Session } from './session.ts';
import { createUserOf, type TrustedProxy } from './trusted-proxy.ts';
import type { Viewer } from './view.ts';

export interface ActionsDependencies {
  token: string;
  /** Whoever it has signed in need not sign in here. Default: there is none. */
  trustedProxy?: TrustedProxy;
  publicUrl: string | undefined;
  actions: PageActions;
  /** Absent: there is no page of the queues. */
  queues?: QueueBoard;
  /** Called when something may have been changed. */
  onDone(): void;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

const seeOverview = (cookie: string): Answer => ({
  code: 303,
  type: TEXT_TYPE,
  body: '',
  headers: { location: '/', 'set-cookie': cookie },
});

const createActing = ({ actions, onDone, log }: Pick<ActionsDependencies, 'actions' | 'onDone' | 'log'>) => {
  const act = async (name: string, plan: PlanAction, fields: URLSearchParams, viewer: Viewer): Promise<Answer> => {
    const planned = await plan(fields, viewer.user);
    if (!planned.isAsked && fields.get('confirm') !== 'yes') return questionPage(name, planned, fields, viewer);
    return donePage(await planned.run().finally(onDone), viewer);
  };
  return async (name: string, fields: URLSearchParams, viewer: Viewer): Promise<Answer> => {
    const plan = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (plan === undefined) return note(404, 'There is no such action', viewer);
    try {
      return await act(name, plan, fields, viewer);
    } catch (error) {
      if (error instanceof UsageError)
        return note(
          400,
          'That cannot be done',
          viewer,
          html`<p class="bad" role="alert">${cleanLine(error.message)}</p>`,
        );
      log.warn({ err: error, action: name }, 'an action on the status page failed');
      const why = html`<p class="bad" role="alert">It may have been done in part. The reason is in the log.</p>`;
      return note(503, 'That failed', viewer, why);
    }
  };
};

export const createActions = (dependencies: ActionsDependencies) => {
  const { token, trustedProxy, publicUrl, queues, log, now } = dependencies;
  const sessions = createSessions({ token, now });
  const userOf = trustedProxy === undefined ? () => undefined : createUserOf(trustedProxy);
  const attempts = createAttempts(now);
  const act = createActing(dependencies);
  const warnOfToken = createRareWarning({ log, now, text: 'somebody gave a wrong token on the status page' });

  const sessionOf = (request: IncomingMessage): Session | undefined => {
    const user = userOf(request);
    return user === undefined ? sessions.of(request.headers.cookie) : sessions.ofUser(user);
  };

  const viewerOf = (request: IncomingMessage): Viewer => ({
    canSignIn: true,
    hasQueues: queues !== undefined,
    ...sessionOf(request),
  });

  /** Where people come by https, the cookie never goes another way. */
  const isSecure = ({ headers: { host } }: IncomingMessage): boolean => {
    const url = publicUrl === undefined ? null : URL.parse(publicUrl);
    return url?.protocol === 'https:' && url.host === host?.toLowerCase();
  };

  const signIn = async (request: IncomingMessage, fields: URLSearchParams): Promise<Answer> => {
    const from = request.socket.remoteAddress ?? '';
    if (!attempts.mayTry(from)) return signInPage(429, 'Too many wrong tokens: wait a minute.');
    const cookie = sessions.signIn(fields.get('token') ?? '', isSecure(request));
    if (cookie !== undefined) return seeOverview(cookie);
    attempts.failed(from);
    warnOfToken({ from });
    return signInPage(403, 'That is not the token.');
  };

  const post = async ({ path, request }: Asked): Promise<Answer> => {
    const viewer = viewerOf(request);
    if (!isOwnForm(request.headers, publicUrl)) return note(403, 'Only forms of this page are taken', viewer);
    const fields = await readForm(request);
    if (fields === undefined) return note(400, 'That is no form of this page', viewer);
    if (path === '/sign-in') return signIn(request, fields);
    const session = sessionOf(request);
    if (session === undefined) return signInPage(403, 'Sign in first.');
    if (!sessions.isFormOf(session, fields.get('csrf') ?? '')) {
      return note(403, 'This form is from another session: go back and load the page again', viewer);
    }
    if (path === `${PREFIX}sign-out`) return seeOverview(sessions.signOut(request.headers.cookie));
    return act(path.slice(PREFIX.length), fields, viewer);
  };

  const get = ({ path, request }: Asked): Answer | undefined => {
    if (path === '/sign-in') return signInPage(200);
    if (path !== '/mute') return undefined;
    const viewer = viewerOf(request);
    return viewer.csrf === undefined ? signInPage(403, 'Sign in first.') : mutePage({ ...viewer, csrf: viewer.csrf });
  };

  return {
    viewerOf,
    /** Undefined: it has no such page. */
    answer: (asked: Asked): Promise<Answer> | undefined => {
      const { path, request } = asked;
      if (queues !== undefined && isOfQueues(path)) {
        return sessionOf(request) !== undefined
          ? showQueues(queues, asked)
          : Promise.resolve(signInPage(403, 'Sign in first.'));
      }
      if (request.method === 'POST') return path === '/sign-in' || path.startsWith(PREFIX) ? post(asked) : undefined;
      const answer = get(asked);
      return answer && Promise.resolve(answer);
    },
  };
};
