/**
 * What people who are signed in may do. Each action is a form of one of our pages; what sends or gives up something is asked
 * once more. A form counts only with the session's cookie, with the token that our page put into it, and from our page.
 */
import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { UsageError } from '../../errors.ts';
import { createRareWarning } from '../../rarely.ts';
import { cleanLine, type Html, html } from '../../text.ts';
import { type Answer, type Asked, TEXT_TYPE } from '../answer.ts';
import { READER, type Viewer } from './details.ts';
import { note, problemLine } from './page.ts';
import { isOfQueues, type QueueBoard, showQueues } from './queues.ts';
import {
  createSessions,
  createUserOf,
  createWrongTokens,
  type EndedSessions,
  isOwnForm,
  readForm,
  type Session,
  type TrustedProxy,
} from './session.ts';
import { hiddenField, nothing, searchFor } from './text.ts';

/** What an action is about to do, as far as its form says. */
export interface Planned {
  /** `Send this delivery again?` */
  question: string;
  /** What will happen, in sentences. */
  text: string;
  /** On the button. */
  label: string;
  /** It cannot be taken back. */
  isFinal?: boolean;
  /** It was asked enough. */
  isAsked?: boolean;
  /** What people have to say. Default: nothing. */
  fields?: readonly Field[];
  /** What has happened. */
  run(): Promise<Done>;
}

interface Field {
  name: string;
  label: string;
  value?: string;
  longest: number;
  isOptional?: boolean;
}

interface Done {
  text: string;
  /** An alert's id, to look for what becomes of it. */
  alert?: string;
}

/**
 * Plans an action from its form. `user`: who does it, where a trusted proxy says so. Throws a `UsageError` that says what is
 * wrong with the form.
 */
type PlanAction = (fields: URLSearchParams, user?: string) => Promise<Planned>;

export type PageActions = Readonly<Record<string, PlanAction>>;

const PREFIX = '/actions/';

const BACK = html`<p><a href="/">Back to the overview</a></p>`;

/** From which people go back. */
const page = (code: number, title: string, viewer: Viewer, content: Html = nothing): Answer =>
  note(code, title, viewer, html`${content}${BACK}`);

const signInPage = (code: number, problem = ''): Answer =>
  page(
    code,
    'Sign in',
    READER,
    html`${problem === '' ? nothing : problemLine(problem)}<form method="post" action="/sign-in">
<label>Token, as <code>ops.token</code> of the config has it<input name="token" type="password" autocomplete="current-password" required autofocus></label>
<p><button class="primary" type="submit">Sign in</button></p></form>`,
  );

const mutePage = (viewer: Viewer & Session): Answer =>
  page(
    200,
    'Mute alerts',
    viewer,
    html`<p>Alerts that fit all that is given are recorded and not sent. When the mute ends, one report lists what it hid.</p>
<form method="post" action="/actions/mute">${hiddenField('csrf', viewer.csrf)}
<label>Protocol; * stands for any text<input name="protocol" maxlength="200"></label>
<label>Detector<input name="detector" maxlength="200"></label>
<label>Destination, its id or name<input name="destination" maxlength="300"></label>
<label>For how long: 30m, 2h, 1d<input name="for" value="1h" required maxlength="12"></label>
<label>Why<input name="reason" required maxlength="500"></label>
${viewer.user === undefined ? html`<label>Who you are<input name="author" maxlength="100"></label>` : nothing}
<p><button class="primary" type="submit">Mute</button></p></form>`,
  );

const inputOf = ({ name, label, value = '', longest, isOptional = false }: Field): Html =>
  html`<label>${label}<input name="${name}" value="${cleanLine(value)}" maxlength="${longest}"${isOptional ? nothing : html` required`}></label>`;

const questionPage = (name: string, planned: Planned, given: URLSearchParams, viewer: Viewer): Answer => {
  const { question, text, label, isFinal = false, fields = [] } = planned;
  return page(
    200,
    question,
    viewer,
    html`<p>${cleanLine(text)}</p><form method="post" action="${PREFIX}${name}">${[...given].map(([key, value]) => hiddenField(key, value))}${hiddenField('confirm', 'yes')}${fields.map(inputOf)}
<p><button class="${isFinal ? 'danger' : 'primary'}" type="submit">${label}</button></p></form>`,
  );
};

const donePage = ({ text, alert }: Done, viewer: Viewer): Answer =>
  page(
    200,
    'Done',
    viewer,
    html`<p role="status">${cleanLine(text)}</p>${alert === undefined ? nothing : html`<p><a href="${searchFor(alert)}">See what becomes of it</a></p>`}`,
  );

export interface ActionsDependencies {
  token: string;
  ended: EndedSessions;
  /** How long who gave a wrong token waits to hear of it. Default 2000. */
  wrongTokenMs?: number;
  /** Who is signed in there need not sign in here. Default: there is none. */
  trustedProxy?: TrustedProxy | undefined;
  publicUrl?: string | undefined;
  actions: PageActions;
  /** Absent: there is no page of the queues. */
  queues?: QueueBoard | undefined;
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

const createActing = ({ actions, onDone, log }: ActionsDependencies) => {
  const act = async (name: string, plan: PlanAction, fields: URLSearchParams, viewer: Viewer): Promise<Answer> => {
    const planned = await plan(fields, viewer.user);
    if (!planned.isAsked && fields.get('confirm') !== 'yes') return questionPage(name, planned, fields, viewer);
    return donePage(await planned.run().finally(onDone), viewer);
  };
  return async (name: string, fields: URLSearchParams, viewer: Viewer): Promise<Answer> => {
    const plan = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (plan === undefined) return page(404, 'There is no such action', viewer);
    try {
      return await act(name, plan, fields, viewer);
    } catch (error) {
      if (error instanceof UsageError) return page(400, 'That cannot be done', viewer, problemLine(error.message));
      log.warn({ err: error, action: name }, 'an action on the status page failed');
      const why = 'It may have been done in part. The reason is in the log.';
      return page(503, 'That failed', viewer, problemLine(why));
    }
  };
};

export const createActions = (dependencies: ActionsDependencies) => {
  const { trustedProxy, publicUrl, queues, log, now } = dependencies;
  const sessions = createSessions(dependencies);
  const userOf = trustedProxy === undefined ? () => undefined : createUserOf(trustedProxy);
  const letWait = createWrongTokens(dependencies.wrongTokenMs);
  const act = createActing(dependencies);
  const warnOfToken = createRareWarning({ log, now, text: 'somebody gave a wrong token on the status page' });

  const sessionOf = async (request: IncomingMessage): Promise<Session | undefined> => {
    const user = userOf(request);
    return user === undefined ? sessions.of(request.headers.cookie) : sessions.ofUser(user);
  };

  const viewerOf = async (request: IncomingMessage): Promise<Viewer> => ({
    canSignIn: true,
    hasQueues: queues !== undefined,
    // While it cannot be known whether the session was ended, it shows what everybody sees.
    ...(await sessionOf(request).catch(() => undefined)),
  });

  /** Where people come by https, the cookie never goes another way. */
  const isSecure = ({ headers: { host } }: IncomingMessage): boolean => {
    const url = publicUrl === undefined ? null : URL.parse(publicUrl);
    return url?.protocol === 'https:' && url.host === host?.toLowerCase();
  };

  const signIn = async (request: IncomingMessage, fields: URLSearchParams): Promise<Answer> => {
    const { socket } = request;
    const cookie = sessions.signIn(fields.get('token') ?? '', isSecure(request));
    if (cookie !== undefined) return seeOverview(cookie);
    warnOfToken({ from: socket.remoteAddress });
    await letWait(socket);
    return signInPage(403, 'That is not the token.');
  };

  const post = async ({ path, request }: Asked): Promise<Answer> => {
    const viewer = await viewerOf(request);
    if (!isOwnForm(request.headers, publicUrl)) return page(403, 'Only forms of this page are taken', viewer);
    const fields = await readForm(request);
    if (fields === undefined) return page(400, 'That is no form of this page', viewer);
    if (path === '/sign-in') return signIn(request, fields);
    const session = await sessionOf(request);
    if (session === undefined) return signInPage(403, 'Sign in first.');
    if (!sessions.isFormOf(session, fields.get('csrf') ?? '')) {
      return page(403, 'This form is from another session: go back and load the page again', viewer);
    }
    if (path === `${PREFIX}sign-out`) return seeOverview(await sessions.signOut(request.headers.cookie));
    return act(path.slice(PREFIX.length), fields, viewer);
  };

  const showMute = async (request: IncomingMessage): Promise<Answer> => {
    const viewer = await viewerOf(request);
    return viewer.csrf === undefined ? signInPage(403, 'Sign in first.') : mutePage({ ...viewer, csrf: viewer.csrf });
  };

  return {
    viewerOf,
    /** Undefined: it has no such page. */
    answer: (asked: Asked): Promise<Answer> | undefined => {
      const { path, request } = asked;
      if (queues !== undefined && isOfQueues(path)) {
        return sessionOf(request).then((session) =>
          session === undefined ? signInPage(403, 'Sign in first.') : showQueues(queues, asked),
        );
      }
      if (request.method === 'POST') return path === '/sign-in' || path.startsWith(PREFIX) ? post(asked) : undefined;
      if (path === '/sign-in') return Promise.resolve(signInPage(200));
      return path === '/mute' ? showMute(request) : undefined;
    },
  };
};
