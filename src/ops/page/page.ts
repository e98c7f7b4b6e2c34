/** The status page: plain HTML that needs no script, reads on a phone and in the dark, and refreshes itself. */
import { cleanLine, type Html, html } from '../../text.ts';
import { ago, clockText } from '../../time.ts';
import { buildText } from '../../version.ts';
import type { Answer } from '../answer.ts';
import { alertsOf, tracesOf } from './alerts.ts';
import type { OutdatedView, PageView, TracedAlert, Viewer } from './details.ts';
import { internalsOf } from './internals.ts';
import { plotOf } from './plot.ts';
import { QUEUES } from './queues.ts';
import {
  approvalsOf,
  daemonsOf,
  deadOf,
  destinationsOf,
  heading,
  knownOf,
  mutesOf,
  protocolsOf,
  servicesOf,
} from './sections.ts';
import { heroOf, iconOf, outageOf, type State, stateOf, tilesOf, titleOf, unacknowledgedText } from './state.ts';
import { htmlAnswer, SCRIPT, STYLE } from './style.ts';
import { button, nothing } from './text.ts';

/** Where no script runs. */
const REFRESH_SECONDS = 15;

interface Frame {
  title: string;
  state: State;
  viewer: Viewer;
  query?: string | undefined;
  isLive?: boolean;
}

const accountOf = (viewer: Viewer): Html => {
  if (viewer.csrf !== undefined) {
    const queues = viewer.hasQueues === true ? html`<a href="${QUEUES}">Queues</a>&ensp;` : nothing;
    const account =
      viewer.user === undefined
        ? button(viewer, 'sign-out', 'Sign out', {})
        : html`<span>${cleanLine(viewer.user)}</span>`;
    return html`<nav>${queues}<a href="/mute">Mute alerts</a> ${account}</nav>`;
  }
  return viewer.canSignIn ? html`<nav><a href="/sign-in">Sign in</a></nav>` : nothing;
};

const frame = ({ title, state, viewer, query = '', isLive = false }: Frame, main: Html): string => {
  const refresh = isLive
    ? html`<noscript><meta http-equiv="refresh" content="${REFRESH_SECONDS}"></noscript>`
    : nothing;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">${refresh}
<link rel="icon" href="${iconOf(state)}">
<style>${{ html: STYLE }}</style></head><body${isLive ? html` data-live="on"` : nothing}>
<header><a class="brand" href="/">Tocsin</a>
<form role="search" action="/" method="get"><label class="hidden" for="q">Search</label><input id="q" name="q" type="search" maxlength="200" placeholder="Transaction, item or name" value="${cleanLine(query)}"><button type="submit">Search</button></form>
${accountOf(viewer)}</header>
<main>${main}</main>
<script>${{ html: SCRIPT }}</script></body></html>
`.html;
};

const footOf = ({ report }: PageView): Html => {
  const { startedAt, now } = report;
  const started = startedAt === undefined ? '' : `, started ${ago(startedAt, now)}`;
  return html`<footer class="quiet"><p>Version ${cleanLine(buildText(report))}${started}. As of <time datetime="${now}">${clockText(now)}</time>. <span id="live"></span></p></footer>`;
};

/** The whole page. Everything in the view is escaped. */
export const renderPage = (view: PageView): string => {
  const { details, filter, now, viewer } = view;
  const filtered =
    filter === undefined
      ? nothing
      : html`<section><h1>Names with “<bdi>${cleanLine(filter)}</bdi>”</h1><p><a href="/">Back to the overview</a></p></section>`;
  const left = unacknowledgedText(view.report);
  const latest =
    details === undefined
      ? nothing
      : html`<section>${heading('Latest alerts')}${left && html`<p>${left}.</p>`}${alertsOf(details, now)}</section>`;
  const overview = html`${heroOf(view)}${tilesOf(view)}${details === undefined ? nothing : plotOf(details.activity)}${approvalsOf(view)}${deadOf(view)}${latest}`;
  const main = html`${filter === undefined ? overview : filtered}
${destinationsOf(view)}
${protocolsOf(view)}
${filter === undefined ? html`${knownOf(view)}${mutesOf(view)}${servicesOf(view)}${daemonsOf(view)}${internalsOf(view)}` : nothing}
${footOf(view)}`;
  return frame({ title: titleOf(view), state: stateOf(view), viewer, query: filter, isLive: true }, main);
};

/** While Redis gives no answer, and gave none before either. */
export const renderOutage = (outdated: OutdatedView, viewer: Viewer, now: string): string =>
  frame({ title: 'Tocsin: Redis does not answer', state: 'bad', viewer, isLive: true }, outageOf(outdated, now));

/** What a search by transaction, item or alert found. */
export const renderTraces = (wanted: string, found: readonly TracedAlert[], viewer: Viewer): string => {
  const title = `Tocsin: ${cleanLine(wanted).slice(0, 20)}`;
  // Who waits for what becomes of it sees it come.
  const isLive = found.some(({ deliveries }) => deliveries.some(({ state }) => state === 'waiting'));
  return frame({ title, state: 'well', viewer, query: wanted, isLive }, tracesOf(wanted, found));
};

/** A short page of its own, such as a question. */
export const note = (code: number, title: string, viewer: Viewer, content: Html): Answer => {
  const about = { title: `Tocsin: ${title}`, state: code < 400 ? 'well' : 'look', viewer } as const;
  return htmlAnswer(code, frame(about, html`<section class="note"><h1>${title}</h1>${content}</section>`));
};

/** What is wrong, in such a page. */
export const problemLine = (text: string): Html => html`<p class="bad" role="alert">${cleanLine(text)}</p>`;
