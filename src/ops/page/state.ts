/** Whether all is well, in a word, a sentence, the tab's title and its icon. */
import { counted, type Html, html } from '../../text.ts';
import { ago } from '../../time.ts';
import { type StatusReport, totalsOf } from '../status.ts';
import { type OutdatedView, type PageView, READER } from './details.ts';
import { many, moment, nothing } from './text.ts';
import { type Judged, troubleList, troublesOf, troublesOfOutage } from './troubles.ts';

/** `bad`: somebody is needed now. `look`: when there is time. */
export type State = 'well' | 'look' | 'bad';

/** What shows in the tables before it is a trouble. */
const uneasyText = (report: StatusReport): string => {
  const { down, late, failing } = totalsOf(report);
  const counts: [number, string, string][] = [
    [down, 'service is down', 'services are down'],
    [late, 'protocol is read late', 'protocols are read late'],
    [failing, 'destination fails', 'destinations fail'],
    [report.dead, 'dead delivery is kept', 'dead deliveries are kept'],
  ];
  return counts.flatMap(([count, ...words]) => (count === 0 ? [] : [counted(count, ...words)])).join(', ');
};

/** From so many on, those who look should know that alerts come late. */
const BUSY_FROM = 100;

const backlogOf = ({ report }: Judged): number => totalsOf(report).waiting;

const isBusy = (view: Judged): boolean => backlogOf(view) >= BUSY_FROM;

export const stateOf = (view: Judged): State => {
  const troubles = troublesOf(view);
  if (troubles.some(({ isUrgent }) => isUrgent)) return 'bad';
  // A daemon that watches no protocol has no problems, but is not well.
  const isCalm = troubles.length === 0 && uneasyText(view.report) === '' && !isBusy(view);
  return isCalm && view.report.protocols.length > 0 ? 'well' : 'look';
};

/** In words: `All is well`. */
export const stateText = (view: Judged): string => {
  const { length } = troublesOf(view);
  if (length > 0) return length === 1 ? 'One thing needs a look' : `${length} things need a look`;
  if (view.report.protocols.length === 0) return 'Nothing is watched';
  const uneasy = uneasyText(view.report);
  if (uneasy !== '') return `Needs a look: ${uneasy}`;
  return isBusy(view) ? `Busy: ${many(backlogOf(view))} alerts wait` : 'All is well';
};

/** Empty where there is none. */
export const unacknowledgedText = ({ unacknowledged, now }: StatusReport): string => {
  const { count = 0, since, isAtLeast = false } = unacknowledged ?? {};
  const beyond = 'the last day has more alerts than are looked at here, so older ones may wait for somebody';
  if (count === 0) return isAtLeast ? `None of the latest critical alerts waits to be acknowledged; ${beyond}` : '';
  const alerts = `${isAtLeast ? 'at least ' : ''}${counted(count, 'critical alert')}`;
  return `Nobody has acknowledged yet: ${alerts} of the last day, the oldest ${ago(since, now)}`;
};

export const titleOf = (view: PageView): string => {
  const { length } = troublesOf(view);
  return `${length === 0 ? '' : `(${length}) `}Tocsin: ${stateText(view)}`;
};

const COLOURS: Readonly<Record<State, string>> = { well: '#1a7f37', look: '#b86e00', bad: '#c0271a' };
const MARKS: Readonly<Record<State, string>> = {
  well: 'M9 16.5l4.5 4.5 9.5-10',
  look: 'M16 8v10M16 23v.5',
  bad: 'M11 11l10 10M21 11l-10 10',
};

/** For the tab: it differs by its sign, too, not by colour alone. */
export const iconOf = (state: State): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="${COLOURS[state]}"/><path d="${MARKS[state]}" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
  )}`;

/** Where something is wrong, that is why they wait. */
const busyOf = (view: PageView): Html =>
  isBusy(view) && troublesOf(view).length === 0
    ? html`<p>${many(backlogOf(view))} alerts wait for their turn. What comes faster than a destination’s rate limit allows is sent together, as digests; the table of destinations says where it waits.</p>`
    : nothing;

/** What is right, in a sentence. */
const calmOf = ({ report, details, now }: PageView): Html => {
  const { services, protocols, destinations, known } = report;
  const last = details?.alerts[0];
  const recent = last === undefined ? nothing : html` The last alert was written ${moment(last.at, now)}.`;
  return html`<p>${counted(services.length, 'service answers', 'services answer')}, ${counted(protocols.length, 'protocol is', 'protocols are')} read, and ${counted(destinations.length, 'destination takes', 'destinations take')} alerts.${recent}${known.length === 0 ? nothing : html` ${counted(known.length, 'remark is', 'remarks are')} <a href="#known">known</a>.`}</p>`;
};

export const heroOf = (view: PageView): Html => {
  const state = stateOf(view);
  const troubles = troublesOf(view);
  return html`<section class="hero ${state}"><h1><img src="${iconOf(state)}" alt="" width="32" height="32"> ${stateText(view)}</h1>
${state === 'well' ? calmOf(view) : busyOf(view)}${troubleList(troubles, view)}${view.outdated === undefined ? nothing : html`<p class="todo">What follows was known ${moment(view.report.now, view.now)}.</p>`}</section>`;
};

export const outageOf = (outdated: OutdatedView, now: string): Html =>
  html`<section class="hero bad"><h1><img src="${iconOf('bad')}" alt="" width="32" height="32"> Redis does not answer</h1>
${troubleList(troublesOfOutage(outdated), { viewer: READER, now })}</section>`;

export const tilesOf = ({ report }: PageView): Html => {
  const { services, protocols, destinations, dead } = report;
  const { down, late, failing, waiting, held } = totalsOf(report);
  const note = (wrong: number, word: string): Html =>
    wrong === 0 ? nothing : html` <span class="note bad">${many(wrong)} ${word}</span>`;
  const number = (value: number, isBad = false): Html =>
    html`<span${isBad && value > 0 ? html` class="bad"` : nothing}>${many(value)}</span>`;
  const entries: [string, Html][] = [
    ['Services', html`${number(services.length)}${note(down, 'down')}`],
    ['Protocols', html`${number(protocols.length)}${note(late, 'late')}`],
    ['Destinations', html`${number(destinations.length)}${note(failing, 'failing')}`],
    ['Waiting', number(waiting)],
    ...(held === 0 ? [] : [['Held', number(held, true)] satisfies [string, Html]]),
    ['Dead and kept', number(dead, true)],
  ];
  return html`<dl class="tiles">${entries.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
};
