/** The tables of the status page, one for each part of the report. */
import { scopeText, shownLabel } from '../../alert.ts';
import { cleanLine, counted, type Html, html } from '../../text.ts';
import { ago, clockText } from '../../time.ts';
import { buildText } from '../../version.ts';
import {
  type DestinationStatus,
  daemonText,
  isLate,
  type ProtocolStatus,
  serviceText,
  shownDaemons,
  sortDestinations,
  sortProtocols,
  totalsOf,
} from '../status.ts';
import type { ApprovalDetails, DeadDetails, PageView, Viewer } from './details.ts';
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
  sentence,
  type TableOptions,
  tableOf,
} from './text.ts';

export const heading = (text: string, number?: number): Html =>
  html`<h2>${text}${number === undefined ? nothing : html` <small>${many(number)}</small>`}</h2>`;

interface Section<Row> extends TableOptions {
  title: string;
  number?: number;
  /** Rows in sight. Default: a few. */
  inSight?: number;
  /** Where a link of the page leads. */
  anchor?: string;
  /** Between the heading and the table. */
  note?: Html;
  /** After the table. */
  end?: Html;
  columns: readonly Column<Row>[];
}

const MOST_IN_SIGHT = 5;

const sectionOf = <Row>(rows: readonly Row[], section: Section<Row>): Html => {
  const {
    title,
    number,
    inSight = MOST_IN_SIGHT,
    anchor,
    note = nothing,
    end = nothing,
    columns,
    ...options
  } = section;
  const unfolded = { rows: Math.min(inSight, MOST_IN_SIGHT), id: title.toLowerCase().replaceAll(' ', '-') };
  return html`<section${anchor === undefined ? nothing : html` id="${anchor}"`}>${heading(title, number)}${note}
${tableOf(rows, columns, { unfolded, ...options })}
${end}</section>`;
};

const good = (text: string): Html => html`<span class="good">${cleanLine(text)}</span>`;
const badCount = (value: number): Html => (value === 0 ? quiet('0') : bad(many(value)));

/** A column for those who are signed in. */
const actionsFor = <Row>({ csrf }: Viewer, cell: (row: Row) => Html): Column<Row>[] =>
  csrf === undefined ? [] : [{ head: 'Actions', as: 'word', cell }];

export const servicesOf = ({ report: { services } }: PageView): Html =>
  sectionOf(services, {
    title: 'Services',
    columns: [
      { head: 'Service', cell: (service) => name(service.name) },
      { head: 'State', cell: (service) => (service.up ? good : bad)(serviceText(service)) },
    ],
    empty: 'None is set up.',
  });

/** One daemon is the one that shows the page. */
export const daemonsOf = ({ report, now }: PageView): Html => {
  const shown = shownDaemons(report);
  if (shown.length < 2) return nothing;
  return sectionOf(shown, {
    title: 'Daemons',
    number: shown.filter(({ isRunning }) => isRunning).length,
    columns: [
      { head: 'Host', cell: ({ host }) => name(host) },
      { head: 'Process', as: 'number', cell: ({ pid }) => pid },
      { head: 'Version', as: 'word', cell: (one) => cleanLine(buildText(one)) },
      { head: 'Started', as: 'time', cell: ({ startedAt }) => moment(startedAt, now) },
      { head: 'Heard', as: 'time', cell: ({ heardAt }) => moment(heardAt, now) },
      { head: 'State', cell: (one) => (one.isRunning && one.ready ? good : bad)(daemonText(one)) },
    ],
  });
};

const fits =
  ({ filter }: PageView) =>
  (...texts: readonly string[]): boolean =>
    filter === undefined || texts.some((text) => text.toLowerCase().includes(filter.toLowerCase()));

const NO_NAME_FITS = 'No name fits.';
const filtered = ({ filter }: PageView, empty: string): TableOptions =>
  filter === undefined
    ? { empty }
    : { empty: NO_NAME_FITS, most: MOST_ROWS.filtered, unfolded: { rows: MOST_ROWS.filtered, id: '' } };

export const destinationsOf = (view: PageView): Html => {
  const { report, details, now, viewer } = view;
  const isShown = fits(view);
  const all = sortDestinations(report.destinations);
  const errorOf = ({ id, lastError }: DestinationStatus): Html | string => {
    if (details?.disabled.has(id)) return bad('disabled: its receiver wants nothing more (410)');
    return lastError === undefined ? '' : bad(lastError);
  };
  const actions = ({ id }: DestinationStatus): Html =>
    html`${button(viewer, 'test', 'Test', { id })}${details?.isGateOn ? button(viewer, 'revoke', 'Revoke', { id }) : nothing}`;
  return sectionOf(
    all.filter((one) => isShown(one.id, shownLabel(one), one.kind)),
    {
      title: 'Destinations',
      number: all.length,
      inSight: all.filter((one) => errorOf(one) !== '').length,
      note: html`${report.hanging.map((text) => html`<p class="quiet">${cleanLine(text)}.</p>`)}`,
      columns: [
        { head: 'Destination', cell: (one) => name(shownLabel(one)) },
        { head: 'Kind', as: 'word', cell: ({ kind }) => cleanLine(kind) },
        { head: 'Rate', as: 'word', cell: ({ id }) => quiet(details?.rates.get(id) ?? '') },
        { head: 'Waiting', as: 'number', cell: ({ waiting }) => count(waiting) },
        { head: 'Delivered', as: 'number', cell: ({ delivered }) => count(delivered) },
        { head: 'Dead', as: 'number', cell: ({ dead }) => badCount(dead) },
        { head: 'Last success', as: 'time', cell: ({ lastSuccess }) => moment(lastSuccess, now) },
        { head: 'Last error', as: 'wide', cell: errorOf },
        ...actionsFor(viewer, actions),
      ],
      ...filtered(view, 'None is known yet.'),
    },
  );
};

/** A cell names so many; the others are counted. */
const MOST_NAMED = 4;

const namesOf = (names: readonly string[]): Html => {
  const more = names.length - MOST_NAMED;
  return html`${names.slice(0, MOST_NAMED).map((each, index) => html`${index === 0 ? '' : ', '}${name(each)}`)}${more > 0 ? quiet(` and ${many(more)} more`) : nothing}`;
};

const readCell = ({ sources }: ProtocolStatus, now: string): Html => {
  const lines = sources.map((source, index) => {
    const { lastPoll, cursor } = source;
    const title = cursor === undefined ? 'nothing is queued yet' : `queued up to ${clockText(cursor)}`;
    const read = isLate(source) ? bad(ago(lastPoll, now)) : moment(lastPoll, now);
    return html`${index === 0 ? nothing : html`<br>`}<span title="${title}">${quiet(source.source)} ${read}</span>`;
  });
  return html`<span>${lines}</span>`;
};

const leadsTo = ({ name: protocol, channels }: ProtocolStatus, details: PageView['details']): Html => {
  const names = details?.destinationsOf.get(protocol) ?? [];
  if (names.length > 0) return namesOf(names);
  // A remark, which somebody may know of.
  return channels.length === 0 ? quiet('nobody: it has no channels') : name(channels.join(', '));
};

export const protocolsOf = (view: PageView): Html => {
  const { report, details, now } = view;
  const isShown = fits(view);
  const service: Column<ProtocolStatus> = { head: 'Service', cell: (protocol) => name(protocol.service) };
  return sectionOf(sortProtocols(report.protocols.filter((one) => isShown(one.name))), {
    title: 'Protocols',
    number: report.protocols.length,
    // That one has no channels is a remark.
    inSight: totalsOf(report).late,
    columns: [
      { head: 'Protocol', cell: (protocol) => name(protocol.name) },
      ...(report.services.length > 1 ? [service] : []),
      { head: 'Last read', as: 'time', cell: (protocol) => readCell(protocol, now) },
      { head: 'Goes to', as: 'wide', cell: (protocol) => leadsTo(protocol, details) },
    ],
    ...filtered(view, 'None is watched: the service lists none, or the config lets none through.'),
  });
};

export const mutesOf = ({ report: { mutes }, now, viewer }: PageView): Html =>
  mutes.length === 0
    ? nothing
    : sectionOf(mutes, {
        title: 'Mutes',
        number: mutes.length,
        columns: [
          { head: 'What', cell: (mute) => name(scopeText(mute)) },
          { head: 'Reason', cell: ({ reason }) => name(reason) },
          { head: 'Hides', as: 'number', cell: ({ hid }) => count(hid) },
          { head: 'Ends', as: 'time', cell: ({ until }) => coming(until, now) },
          {
            head: 'Mute',
            as: 'word',
            cell: ({ id }) => html`${cleanLine(id)} ${button(viewer, 'mute-end', 'End', { id })}`,
          },
        ],
      });

/** What somebody knows of. It counts nothing, and stays in sight. */
export const knownOf = ({ report: { known }, now, viewer }: PageView): Html =>
  known.length === 0
    ? nothing
    : sectionOf(known, {
        ...{ anchor: 'known', title: 'Known remarks', inSight: 3 },
        number: known.length,
        columns: [
          {
            head: 'What',
            as: 'wide',
            cell: ({ what, todo }) => html`${sentence(what)}<p class="quiet">To do: ${sentence(`${todo}.`)}</p>`,
          },
          {
            head: 'Reason',
            cell: ({ known: one }) => html`<span>${name(one?.reason ?? '')} ${quiet(`(${one?.author ?? ''})`)}</span>`,
          },
          { head: 'Ends', as: 'time', cell: ({ known: one }) => coming(one?.until ?? now, now) },
          {
            head: 'Remark',
            as: 'word',
            cell: ({ id = '' }) => html`${cleanLine(id)} ${button(viewer, 'known-end', 'End', { id })}`,
          },
        ],
      });

export const approvalsOf = ({ details, now, viewer }: PageView): Html => {
  const { approvals = [], isGateOn = false } = details ?? {};
  if (approvals.length === 0 || (!isGateOn && approvals.every(({ state }) => state === 'new'))) return nothing;
  const toDo = ({ id, state }: ApprovalDetails): Html =>
    viewer.csrf === undefined
      ? html`<code>tocsin destinations approve ${cleanLine(id)}</code>`
      : html`${button(viewer, 'approve', 'Approve', { id })}${state === 'revoked' ? nothing : button(viewer, 'revoke', 'Revoke', { id })}`;
  return sectionOf(approvals, {
    title: 'Waiting for approval',
    number: approvals.length,
    columns: [
      { head: 'Destination', cell: (one) => name(shownLabel(one)) },
      { head: 'Kind', as: 'word', cell: ({ kind }) => cleanLine(kind) },
      { head: 'State', as: 'word', cell: ({ state }) => (state === 'held' ? bad(state) : state) },
      { head: 'Held', as: 'number', cell: ({ waiting }) => badCount(waiting) },
      { head: 'Since', as: 'time', cell: ({ since }) => moment(since, now, '') },
      { head: 'Protocols', cell: ({ protocols }) => namesOf(protocols) },
      { head: 'To do', as: 'wide', cell: toDo },
    ],
  });
};

export const deadOf = ({ report, details, now, viewer }: PageView): Html => {
  const { dead = [] } = details ?? {};
  if (dead.length === 0) return nothing;
  const shown = dead.slice(0, MOST_ROWS.page);
  const left = report.dead - shown.length;
  const because = ({ reason, message, attempts }: DeadDetails): Html =>
    html`${bad(message === '' ? reason : message)} ${quiet(`(${counted(attempts, 'try', 'tries')})`)}`;
  const actions = ({ id }: DeadDetails): Html =>
    html`${button(viewer, 'retry', 'Retry', { id })}${button(viewer, 'drop', 'Drop', { id })}`;
  return sectionOf(shown, {
    title: 'Dead deliveries',
    number: report.dead,
    note: html`
<p class="quiet">They failed for good and are kept until somebody sends them again or drops them.</p>`,
    columns: [
      { head: 'Died', as: 'time', cell: ({ at }) => moment(at, now) },
      { head: 'Protocol', cell: ({ protocol }) => name(protocol) },
      { head: 'Transaction', as: 'word', cell: ({ txHash, explorer }) => (txHash ? hash(txHash, explorer) : '') },
      { head: 'To', cell: ({ to }) => name(to) },
      { head: 'Because', as: 'wide', cell: because },
      ...actionsFor(viewer, actions),
    ],
    end: html`${left > 0 ? html`<p class="quiet more">and ${many(left)} more: tocsin dead list</p>` : nothing}
${viewer.csrf === undefined ? nothing : html`<p>${button(viewer, 'retry', 'Retry all', { id: 'all' })}</p>`}`,
  });
};
