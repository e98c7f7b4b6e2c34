/** The status page: plain HTML that needs no script, reads on a phone and in the dark, and refreshes itself. */
import { type Html, html } from '../html.ts';
import { scopeText } from '../mute-text.ts';
import { cleanLine } from '../text.ts';
import { ago, clockText } from '../time.ts';
import { STYLE } from './page-style.ts';
import { type Column, tableOf } from './page-table.ts';
import type { ProtocolStatus, StatusReport } from './status.ts';
import { daemonText, isLate, serviceText, shownDaemons, sortDestinations, sortProtocols, totalsOf } from './wording.ts';

const REFRESH_SECONDS = 10;
/** More of them, made again every ten seconds, help nobody; the `status` command shows them all. */
const MOST_PROBLEMS = 30;

/** Text from outside: isolated, so that its writing direction stays its own. */
const name = (text: string): Html => html`<bdi>${cleanLine(text)}</bdi>`;
const bad = (text: string): Html => html`<span class="bad">${cleanLine(text)}</span>`;
const quiet = (text: string): Html => html`<span class="quiet">${text}</span>`;
const count = (value: number): Html | number => (value === 0 ? quiet('0') : value);

const moment = (at: string | undefined, now: string): Html =>
  at === undefined ? quiet('never') : html`<time datetime="${at}" title="${clockText(at)}">${ago(at, now)}</time>`;

const problemsOf = ({ problems }: StatusReport): Html => {
  if (problems.length === 0) return html``;
  const more = problems.length - MOST_PROBLEMS;
  return html`<section class="problems"><h2>Needs a look</h2><ul>${problems
    .slice(0, MOST_PROBLEMS)
    .map(
      (problem) => html`<li>${cleanLine(problem)}</li>`,
    )}</ul>${more > 0 ? html`<p>and ${more} more</p>` : html``}</section>`;
};

const summaryOf = (report: StatusReport): Html => {
  const { services, protocols, destinations, dead } = report;
  const { down, late, failing, waiting, delayed, held } = totalsOf(report);
  const note = (wrong: number, word: string): Html =>
    wrong === 0 ? html`` : html` <span class="note bad">${wrong} ${word}</span>`;
  const entries: [string, Html][] = [
    ['Services', html`${services.length}${note(down, 'down')}`],
    ['Protocols', html`${protocols.length}${note(late, 'late')}`],
    ['Destinations', html`${destinations.length}${note(failing, 'failing')}`],
    ['Waiting', html`${waiting}`],
    ['Delayed', html`${delayed}`],
    ...(held === 0 ? [] : [['Held', bad(String(held))] satisfies [string, Html]]),
    ['Dead and kept', dead === 0 ? html`0` : bad(String(dead))],
  ];
  return html`<dl>${entries.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>`)}</dl>`;
};

const servicesOf = ({ services }: StatusReport): Html =>
  tableOf(
    services,
    [
      { head: 'Service', cell: (service) => name(service.name) },
      {
        head: 'State',
        cell: (service) => {
          const text = serviceText(service);
          return service.up ? html`<span class="good">${text}</span>` : bad(text);
        },
      },
    ],
    'None is set up.',
  );

/** One daemon is the one that shows the page. */
const daemonsOf = (report: StatusReport): Html => {
  const shown = shownDaemons(report);
  if (shown.length < 2) return html``;
  return html`<h2>Daemons <small>${shown.filter(({ isRunning }) => isRunning).length}</small></h2>
${tableOf(
  shown,
  [
    { head: 'Host', cell: ({ host }) => name(host) },
    { head: 'Process', as: 'number', cell: ({ pid }) => pid },
    { head: 'Version', as: 'word', cell: ({ version }) => cleanLine(version) },
    { head: 'Started', as: 'time', cell: ({ startedAt }) => moment(startedAt, report.now) },
    { head: 'Heard', as: 'time', cell: ({ heardAt }) => moment(heardAt, report.now) },
    {
      head: 'State',
      cell: (daemon) =>
        daemon.isRunning && daemon.ready
          ? html`<span class="good">${daemonText(daemon)}</span>`
          : bad(daemonText(daemon)),
    },
  ],
  '',
)}`;
};

const destinationsOf = ({ destinations, now }: StatusReport): Html =>
  tableOf(
    sortDestinations(destinations),
    [
      { head: 'Destination', cell: ({ label }) => name(label) },
      { head: 'Kind', as: 'word', cell: ({ kind }) => kind },
      { head: 'Waiting', as: 'number', cell: ({ waiting = 0, delayed = 0 }) => count(waiting + delayed) },
      { head: 'Delivered', as: 'number', cell: ({ delivered }) => count(delivered) },
      { head: 'Dead', as: 'number', cell: ({ dead }) => (dead === 0 ? quiet('0') : bad(String(dead))) },
      { head: 'Last success', as: 'time', cell: ({ lastSuccess }) => moment(lastSuccess, now) },
      { head: 'Last error', cell: ({ lastError }) => (lastError === undefined ? '' : bad(lastError)) },
    ],
    'Nothing has been sent yet.',
  );

const mutesOf = ({ mutes }: StatusReport): Html =>
  mutes.length === 0
    ? html``
    : html`<h2>Mutes <small>${mutes.length}</small></h2>
${tableOf(
  mutes,
  [
    { head: 'Mute', as: 'word', cell: ({ id }) => cleanLine(id) },
    { head: 'Ends', as: 'time', cell: ({ until }) => clockText(until) },
    { head: 'Hides', as: 'number', cell: ({ hid }) => count(hid) },
    { head: 'What', cell: (mute) => name(scopeText(mute)) },
    { head: 'Reason', cell: ({ reason }) => name(reason) },
  ],
  '',
)}`;

const perSource = ({ sources }: ProtocolStatus, show: (source: ProtocolStatus['sources'][number]) => Html): Html =>
  html`<span>${sources.map((source, index) => html`${index === 0 ? html`` : html`<br>`}${show(source)}`)}</span>`;

const protocolsOf = ({ protocols, services, now }: StatusReport): Html => {
  const columns: Column<ProtocolStatus>[] = [
    { head: 'Protocol', cell: (protocol) => name(protocol.name) },
    { head: 'Service', cell: ({ service }) => name(service) },
    {
      head: 'Channels',
      cell: ({ channels }) => (channels.length === 0 ? bad('none') : cleanLine(channels.join(', '))),
    },
    { head: 'Source', cell: (protocol) => perSource(protocol, ({ source }) => quiet(source)) },
    {
      head: 'Last read',
      as: 'time',
      cell: (protocol) =>
        perSource(protocol, (source) =>
          isLate(source) ? bad(ago(source.lastPoll, now)) : moment(source.lastPoll, now),
        ),
    },
    {
      head: 'Queued up to',
      as: 'time',
      cell: (protocol) =>
        perSource(protocol, ({ cursor }) => quiet(cursor === undefined ? 'not yet' : clockText(cursor))),
    },
  ];
  const shown = services.length > 1 ? columns : columns.filter(({ head }) => head !== 'Service');
  return tableOf(
    sortProtocols(protocols),
    shown,
    'None is watched: the service lists none, or the config lets none through.',
  );
};

const unwatchedOf = ({ unwatched }: StatusReport): Html =>
  unwatched.length === 0
    ? html``
    : html`<h2>Not watched <small>${unwatched.length}</small></h2>
${tableOf(
  unwatched,
  [
    { head: 'Protocol', cell: (protocol) => name(protocol.name) },
    { head: 'Service', cell: ({ service }) => name(service) },
    { head: 'Why', cell: ({ reason }) => reason },
  ],
  '',
)}`;

const queuesOf = ({ queues }: StatusReport): Html =>
  tableOf(
    queues,
    [
      { head: 'Queue', as: 'word', cell: (queue) => queue.name },
      { head: 'Waiting', as: 'number', cell: ({ waiting }) => count(waiting) },
      { head: 'Delayed', as: 'number', cell: ({ delayed }) => count(delayed) },
      { head: 'Sending', as: 'number', cell: ({ active }) => count(active) },
      { head: 'Failed', as: 'number', cell: ({ failed }) => (failed === 0 ? quiet('0') : bad(String(failed))) },
    ],
    'None.',
  );

const stateOf = (report: StatusReport): Html => {
  const { problems } = report;
  if (problems.length > 0)
    return bad(problems.length === 1 ? 'one thing needs a look' : `${problems.length} things need a look`);
  // A daemon that watches no protocol has no problems, but is not well.
  if (report.protocols.length === 0) return bad('nothing is watched');
  const { down, late, failing } = totalsOf(report);
  return down + late + failing + report.dead === 0
    ? html`<span class="good">all is well</span>`
    : html`<span class="bad">needs a look</span>`;
};

const headOf = (report: StatusReport): Html => {
  const { version, startedAt, now } = report;
  const started = startedAt === undefined ? '' : `, started ${ago(startedAt, now)}`;
  return html`<h1>Tocsin: ${stateOf(report)}</h1>
<p class="quiet">Version ${version}${started}. As of ${clockText(now)}, again every ${REFRESH_SECONDS} s.</p>`;
};

/** The whole page. Everything in the report is escaped. */
export const renderPage = (report: StatusReport): string => {
  const { problems, protocols, destinations } = report;
  const title = problems.length === 0 ? 'Tocsin' : `(${problems.length}) Tocsin`;
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta http-equiv="refresh" content="${REFRESH_SECONDS}">
<style>${{ html: STYLE }}</style></head><body>
${headOf(report)}
${problemsOf(report)}
${summaryOf(report)}
<h2>Services</h2>
${servicesOf(report)}
${daemonsOf(report)}
<h2>Destinations <small>${destinations.length}</small></h2>
${destinationsOf(report)}
${mutesOf(report)}
<h2>Queues</h2>
${queuesOf(report)}
<h2>Protocols <small>${protocols.length}</small></h2>
${protocolsOf(report)}
${unwatchedOf(report)}
</body></html>
`.html;
};
