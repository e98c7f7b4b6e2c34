/** The tables of the status page, one for each part of the report. */
import { type Html, html } from '../html.ts';
import { scopeText } from '../mute-text.ts';
import { cleanLine } from '../text.ts';
import { ago, clockText } from '../time.ts';
import { type Column, tableOf } from './page-table.ts';
import { bad, count, moment, name, quiet } from './page-text.ts';
import type { ProtocolStatus, StatusReport } from './status.ts';
import { daemonText, isLate, serviceText, shownDaemons, sortDestinations, sortProtocols } from './wording.ts';

export const servicesOf = ({ services }: StatusReport): Html =>
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
export const daemonsOf = (report: StatusReport): Html => {
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

export const destinationsOf = ({ destinations, now }: StatusReport): Html =>
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

export const mutesOf = ({ mutes }: StatusReport): Html =>
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

export const protocolsOf = ({ protocols, services, now }: StatusReport): Html => {
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

export const unwatchedOf = ({ unwatched }: StatusReport): Html =>
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

export const queuesOf = ({ queues }: StatusReport): Html =>
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
