/** The tables of the status page, one for each part of the report. */
import { shownLabel } from '../../alert.ts';
import { type Html, html } from '../../html.ts';
import { cleanLine } from '../../text.ts';
import { ago, clockText } from '../../time.ts';
import type { DestinationStatus, ProtocolStatus } from '../status.ts';
import { daemonText, isLate, serviceText, shownDaemons, sortDestinations, sortProtocols } from '../wording.ts';
import { button } from './forms.ts';
import { type Column, MOST_ROWS, tableOf } from './table.ts';
import { bad, count, many, moment, name, nothing, quiet } from './text.ts';
import type { PageView, Viewer } from './view.ts';

export const heading = (text: string, number?: number): Html =>
  html`<h2>${text}${number === undefined ? nothing : html` <small>${many(number)}</small>`}</h2>`;

const fits =
  ({ filter }: PageView) =>
  (...texts: readonly string[]): boolean =>
    filter === undefined || texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));

const mostOf = ({ filter }: PageView): number => (filter === undefined ? MOST_ROWS.page : MOST_ROWS.filtered);

/** A column for those who are signed in. */
export const actionsFor = <Row>({ csrf }: Viewer, cell: (row: Row) => Html): Column<Row>[] =>
  csrf === undefined ? [] : [{ head: 'Actions', as: 'word', cell }];

export const servicesOf = ({ report: { services } }: PageView): Html =>
  html`<section>${heading('Services')}${tableOf(
    services,
    [
      { head: 'Service', cell: (service) => name(service.name) },
      {
        head: 'State',
        cell: (service) => {
          const text = serviceText(service);
          return service.up ? html`<span class="good">${cleanLine(text)}</span>` : bad(text);
        },
      },
    ],
    { nothing: 'None is set up.' },
  )}</section>`;

/** One daemon is the one that shows the page. */
export const daemonsOf = ({ report, now }: PageView): Html => {
  const shown = shownDaemons(report);
  if (shown.length < 2) return nothing;
  return html`<section>${heading('Daemons', shown.filter(({ isRunning }) => isRunning).length)}
${tableOf(
  shown,
  [
    { head: 'Host', cell: ({ host }) => name(host) },
    { head: 'Process', as: 'number', cell: ({ pid }) => pid },
    { head: 'Version', as: 'word', cell: ({ version }) => cleanLine(version) },
    { head: 'Started', as: 'time', cell: ({ startedAt }) => moment(startedAt, now) },
    { head: 'Heard', as: 'time', cell: ({ heardAt }) => moment(heardAt, now) },
    {
      head: 'State',
      cell: (daemon) =>
        daemon.isRunning && daemon.ready
          ? html`<span class="good">${daemonText(daemon)}</span>`
          : bad(daemonText(daemon)),
    },
  ],
  { nothing: '' },
)}</section>`;
};

/** Those that were never sent to are known by their protocols only. */
const allDestinations = ({ report: { destinations }, details }: PageView): DestinationStatus[] => {
  const tried = new Set(destinations.map(({ id }) => id));
  const others = [...(details?.destinations.values() ?? [])].filter(({ id }) => !tried.has(id));
  return [
    ...sortDestinations(destinations),
    ...others.map(({ id, kind, label }) => ({ id, kind, label, delivered: 0, dead: 0 })),
  ];
};

export const destinationsOf = (view: PageView): Html => {
  const { details, now, viewer } = view;
  const isShown = fits(view);
  const all = allDestinations(view);
  const rows = view.filter === undefined ? all : all.filter((one) => isShown(one.id, shownLabel(one), one.kind));
  const columns: Column<DestinationStatus>[] = [
    { head: 'Destination', cell: (one) => name(shownLabel(one)) },
    { head: 'Kind', as: 'word', cell: ({ kind }) => cleanLine(kind) },
    { head: 'Rate', as: 'word', cell: ({ id }) => quiet(details?.destinations.get(id)?.rate ?? '') },
    { head: 'Waiting', as: 'number', cell: ({ waiting = 0, delayed = 0 }) => count(waiting + delayed) },
    { head: 'Delivered', as: 'number', cell: ({ delivered }) => count(delivered) },
    { head: 'Dead', as: 'number', cell: ({ dead }) => (dead === 0 ? quiet('0') : bad(many(dead))) },
    { head: 'Last success', as: 'time', cell: ({ lastSuccess }) => moment(lastSuccess, now) },
    {
      head: 'Last error',
      as: 'wide',
      cell: ({ id, lastError }) => {
        if (details?.disabled.has(id)) return bad('disabled: its receiver wants nothing more (410)');
        return lastError === undefined ? '' : bad(lastError);
      },
    },
    ...actionsFor<DestinationStatus>(
      viewer,
      ({ id }) =>
        html`${button(viewer, 'test', 'Test', { id })}${details?.isGateOn ? button(viewer, 'revoke', 'Revoke', { id }) : nothing}`,
    ),
  ];
  return html`<section>${heading('Destinations', all.length)}${tableOf(rows, columns, {
    nothing: view.filter === undefined ? 'None is known yet.' : 'No name fits.',
    most: mostOf(view),
  })}</section>`;
};

/** A cell names so many; the others are counted. */
const MOST_NAMED = 4;

export const namesOf = (names: readonly string[]): Html => {
  const more = names.length - MOST_NAMED;
  return html`${names.slice(0, MOST_NAMED).map((each, index) => html`${index === 0 ? '' : ', '}${name(each)}`)}${more > 0 ? quiet(` and ${many(more)} more`) : nothing}`;
};

const perSource = ({ sources }: ProtocolStatus, show: (source: ProtocolStatus['sources'][number]) => Html): Html =>
  html`<span>${sources.map((source, index) => html`${index === 0 ? nothing : html`<br>`}${show(source)}`)}</span>`;

const readCell = (protocol: ProtocolStatus, now: string): Html =>
  perSource(protocol, (source) => {
    const { lastPoll, cursor } = source;
    const title = cursor === undefined ? 'nothing is queued yet' : `queued up to ${clockText(cursor)}`;
    const read = isLate(source) ? bad(ago(lastPoll, now)) : moment(lastPoll, now);
    return html`<span title="${title}">${quiet(source.source)} ${read}</span>`;
  });

const leadsTo = ({ name: protocol, channels }: ProtocolStatus, details: PageView['details']): Html => {
  if (channels.length === 0) return bad('nobody: it has no channels');
  const names = details?.destinationsOf.get(protocol) ?? [];
  return names.length === 0 ? name(channels.join(', ')) : namesOf(names);
};

export const protocolsOf = (view: PageView): Html => {
  const { report, details, now } = view;
  const isShown = fits(view);
  const columns: Column<ProtocolStatus>[] = [
    { head: 'Protocol', cell: (protocol) => name(protocol.name) },
    { head: 'Service', cell: ({ service }) => name(service) },
    { head: 'Last read', as: 'time', cell: (protocol) => readCell(protocol, now) },
    { head: 'Goes to', as: 'wide', cell: (protocol) => leadsTo(protocol, details) },
  ];
  const rows = view.filter === undefined ? report.protocols : report.protocols.filter((one) => isShown(one.name));
  return html`<section>${heading('Protocols', report.protocols.length)}${tableOf(
    sortProtocols(rows),
    report.services.length > 1 ? columns : columns.filter(({ head }) => head !== 'Service'),
    {
      nothing:
        view.filter === undefined
          ? 'None is watched: the service lists none, or the config lets none through.'
          : 'No name fits.',
      most: mostOf(view),
    },
  )}</section>`;
};
