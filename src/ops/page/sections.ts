/** The tables of the status page, one for each part of the report. */
import { scopeText, shownLabel } from '../../alert.ts';
import { cleanLine, counted, type Html, html } from '../../text.ts';
import { ago, clockText } from '../../time.ts';
import {
  type DestinationStatus,
  daemonText,
  isLate,
  type ProtocolStatus,
  serviceText,
  shownDaemons,
  sortDestinations,
  sortProtocols,
} from '../status.ts';
import type { DeadDetails, PageView, Viewer } from './details.ts';
import {
  bad,
  button,
  type Column,
  coming,
  count,
  hash,
  MOST_ROWS,
  many,
  moment,
  name,
  nothing,
  quiet,
  tableOf,
} from './text.ts';

export const heading = (text: string, number?: number): Html =>
  html`<h2>${text}${number === undefined ? nothing : html` <small>${many(number)}</small>`}</h2>`;

const fits =
  ({ filter }: PageView) =>
  (...texts: readonly string[]): boolean =>
    filter === undefined || texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));

const mostOf = ({ filter }: PageView): number => (filter === undefined ? MOST_ROWS.page : MOST_ROWS.filtered);

/** A column for those who are signed in. */
const actionsFor = <Row>({ csrf }: Viewer, cell: (row: Row) => Html): Column<Row>[] =>
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

const namesOf = (names: readonly string[]): Html => {
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

// What waits for somebody: mutes that will end, destinations to approve, deliveries that are dead.

export const mutesOf = ({ report: { mutes }, now, viewer }: PageView): Html =>
  mutes.length === 0
    ? nothing
    : html`<section>${heading('Mutes', mutes.length)}
${tableOf(
  mutes,
  [
    { head: 'What', cell: (mute) => name(scopeText(mute)) },
    { head: 'Reason', cell: ({ reason }) => name(reason) },
    { head: 'Hides', as: 'number', cell: ({ hid }) => count(hid) },
    { head: 'Ends', as: 'time', cell: ({ until }) => coming(until, now) },
    { head: 'Mute', as: 'word', cell: ({ id }) => html`${cleanLine(id)} ${button(viewer, 'mute-end', 'End', { id })}` },
  ],
  { nothing: '' },
)}</section>`;

export const approvalsOf = ({ details, now, viewer }: PageView): Html => {
  const { approvals = [], isGateOn = false } = details ?? {};
  if (approvals.length === 0 || (!isGateOn && approvals.every(({ state }) => state === 'new'))) return nothing;
  return html`<section>${heading('Waiting for approval', approvals.length)}
${tableOf(
  approvals,
  [
    { head: 'Destination', cell: (one) => name(shownLabel(one)) },
    { head: 'Kind', as: 'word', cell: ({ kind }) => cleanLine(kind) },
    { head: 'State', as: 'word', cell: ({ state }) => (state === 'held' ? bad(state) : state) },
    { head: 'Held', as: 'number', cell: ({ waiting }) => (waiting === 0 ? quiet('0') : bad(many(waiting))) },
    { head: 'Since', as: 'time', cell: ({ since }) => moment(since, now, '') },
    { head: 'Protocols', cell: ({ protocols }) => namesOf(protocols) },
    {
      head: 'To do',
      as: 'wide',
      cell: ({ id, state }) =>
        viewer.csrf === undefined
          ? html`<code>tocsin destinations approve ${cleanLine(id)}</code>`
          : html`${button(viewer, 'approve', 'Approve', { id })}${state === 'revoked' ? nothing : button(viewer, 'revoke', 'Revoke', { id })}`,
    },
  ],
  { nothing: '' },
)}</section>`;
};

export const deadOf = ({ report, details, now, viewer }: PageView): Html => {
  const { dead = [] } = details ?? {};
  if (dead.length === 0) return nothing;
  const shown = dead.slice(0, MOST_ROWS.page);
  return html`<section>${heading('Dead deliveries', report.dead)}
<p class="quiet">They failed for good and are kept until somebody sends them again or drops them.</p>
${tableOf(
  shown,
  [
    { head: 'Died', as: 'time', cell: ({ at }) => moment(at, now) },
    { head: 'Protocol', cell: ({ protocol }) => name(protocol) },
    {
      head: 'Transaction',
      as: 'word',
      cell: ({ txHash, explorer }) => (txHash === undefined ? '' : hash(txHash, explorer)),
    },
    { head: 'To', cell: ({ to }) => name(to) },
    {
      head: 'Because',
      as: 'wide',
      cell: ({ reason, message, attempts }) =>
        html`${bad(message === '' ? reason : message)} ${quiet(`(${counted(attempts, 'try', 'tries')})`)}`,
    },
    ...actionsFor<DeadDetails>(
      viewer,
      ({ id }) => html`${button(viewer, 'retry', 'Retry', { id })}${button(viewer, 'drop', 'Drop', { id })}`,
    ),
  ],
  { nothing: '' },
)}
${report.dead > shown.length ? html`<p class="quiet more">and ${many(report.dead - shown.length)} more: tocsin dead list</p>` : nothing}
${viewer.csrf === undefined ? nothing : html`<p>${button(viewer, 'retry', 'Retry all', { id: 'all' })}</p>`}</section>`;
};
