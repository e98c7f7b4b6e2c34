/** The short pages around an action: who is it, is it meant, and what came of it. */
import { type Html, html } from '../../html.ts';
import { cleanLine } from '../../text.ts';
import type { Answer } from '../answer.ts';
import { htmlAnswer } from './answers.ts';
import { hiddenField } from './forms.ts';
import { renderNote } from './page.ts';
import type { Session } from './session.ts';
import { nothing, searchFor } from './text.ts';
import { READER, type Viewer } from './view.ts';

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
  /** What has happened. */
  run(): Promise<Done>;
}

export interface Done {
  text: string;
  /** An alert's id, to look for what becomes of it. */
  alert?: string;
}

/**
 * Plans an action from its form. `user`: who does it, where a trusted proxy says so. Throws a `UsageError` that says what is
 * wrong with the form.
 */
export type PlanAction = (fields: URLSearchParams, user?: string) => Promise<Planned>;

export type PageActions = Readonly<Record<string, PlanAction>>;

export const PREFIX = '/actions/';

const BACK = html`<p><a href="/">Back to the overview</a></p>`;

export const note = (code: number, title: string, viewer: Viewer, content: Html = nothing): Answer =>
  htmlAnswer(code, renderNote(title, viewer, html`${content}${BACK}`, code < 400 ? 'well' : 'look'));

export const signInPage = (code: number, problem = ''): Answer =>
  note(
    code,
    'Sign in',
    READER,
    html`${problem === '' ? nothing : html`<p class="bad" role="alert">${problem}</p>`}<form method="post" action="/sign-in">
<label>Token, as <code>ops.token</code> of the config has it<input name="token" type="password" autocomplete="current-password" required></label>
<p><button class="primary" type="submit">Sign in</button></p></form>`,
  );

export const mutePage = (viewer: Viewer & Session): Answer =>
  note(
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

export const questionPage = (name: string, planned: Planned, fields: URLSearchParams, viewer: Viewer): Answer => {
  const { question, text, label, isFinal = false } = planned;
  return note(
    200,
    question,
    viewer,
    html`<p>${cleanLine(text)}</p><form method="post" action="${PREFIX}${name}">${[...fields].map(([key, value]) => hiddenField(key, value))}${hiddenField('confirm', 'yes')}
<p><button class="${isFinal ? 'danger' : 'primary'}" type="submit">${label}</button></p></form>`,
  );
};

export const donePage = ({ text, alert }: Done, viewer: Viewer): Answer =>
  note(
    200,
    'Done',
    viewer,
    html`<p role="status">${cleanLine(text)}</p>${alert === undefined ? nothing : html`<p><a href="${searchFor(alert)}">See what becomes of it</a></p>`}`,
  );
