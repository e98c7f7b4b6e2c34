/** `tocsin status`: what runs now, read from the daemons' Redis. Ends with 2 where something needs somebody. */
import { scopeText, shownLabel } from '../alert.ts';
import { conditionText } from '../condition.ts';
import { NoDaemonError } from '../errors.ts';
import { stateText, unacknowledgedText } from '../ops/page/state.ts';
import { troublesOf } from '../ops/page/troubles.ts';
import { type StatusReport, serviceText, shownDaemons, sortDestinations, sortProtocols } from '../ops/status.ts';
import { cleanLine } from '../text.ts';
import { ago, clockText } from '../time.ts';
import { buildText } from '../version.ts';
import { type Action, answer, EXIT } from './context.ts';
import { daemonColumns } from './daemons.ts';
import { type Column, renderTable } from './table.ts';
import { withView } from './with-view.ts';

const INDENT = '  ';

/** With the columns of the terminal. */
type Shown = StatusReport & { width?: number | undefined };

const section = (title: string, lines: readonly string[]): string =>
  [title, ...lines.map((line) => `${INDENT}${line}`)].join('\n');

const tableOf = <Row>(
  { width }: Shown,
  title: string,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): string => {
  const table = renderTable(rows, columns, { width: width === undefined ? undefined : width - INDENT.length });
  return section(title, table.trimEnd().split('\n'));
};

/** Its title counts the rows; left out where there are none. */
const countedTable: typeof tableOf = (shown, title, rows, columns) =>
  rows.length === 0 ? '' : tableOf(shown, `${title} (${rows.length})`, rows, columns);

const daemonsOf = (report: Shown): string => {
  const shown = shownDaemons(report);
  const running = shown.filter(({ isRunning }) => isRunning);
  return shown.length === 0 ? '' : tableOf(report, `Daemons (${running.length})`, shown, daemonColumns(report.now));
};

const servicesOf = (report: Shown): string =>
  tableOf(report, 'Services', report.services, [
    { head: 'service', cell: ({ name }) => name },
    { head: 'state', isRemark: true, cell: serviceText },
  ]);

const destinationsOf = (report: Shown): string =>
  tableOf(report, `Destinations (${report.destinations.length})`, sortDestinations(report.destinations), [
    { head: 'kind', cell: ({ kind }) => kind },
    { head: 'destination', shrinks: true, cell: (one) => shownLabel(one) },
    { head: 'waiting', isNumber: true, cell: ({ waiting }) => waiting },
    { head: 'delivered', isNumber: true, cell: ({ delivered }) => delivered },
    { head: 'dead', isNumber: true, cell: ({ dead }) => dead },
    { head: 'last success', cell: ({ lastSuccess }) => ago(lastSuccess, report.now) },
    { head: 'last error', isRemark: true, cell: ({ lastError = '' }) => lastError },
  ]);

const hangingOf = ({ hanging }: Shown): string => hanging.map((text) => cleanLine(`${text}.`)).join('\n');

const mutesOf = (report: Shown): string =>
  countedTable(report, 'Mutes', report.mutes, [
    { head: 'mute', cell: ({ id }) => id },
    { head: 'until', cell: ({ until }) => clockText(until) },
    { head: 'hides', isNumber: true, cell: ({ hid }) => hid },
    { head: 'what', isRemark: true, cell: (mute) => scopeText(mute) },
    { head: 'reason', isRemark: true, cell: ({ reason }) => reason },
  ]);

const queuesOf = (report: Shown): string =>
  tableOf(report, 'Queues, in jobs', report.queues, [
    { head: 'queue', cell: ({ name }) => name },
    { head: 'waiting', isNumber: true, cell: ({ waiting }) => waiting },
    { head: 'delayed', isNumber: true, cell: ({ delayed }) => delayed },
    { head: 'sending', isNumber: true, cell: ({ active }) => active },
    { head: 'failed', isNumber: true, cell: ({ failed }) => failed },
  ]);

const protocolsOf = (report: Shown): string =>
  tableOf(
    report,
    `Protocols (${report.protocols.length})`,
    sortProtocols(report.protocols).flatMap(({ sources, ...protocol }) =>
      sources.map((source) => ({ ...protocol, ...source })),
    ),
    [
      { head: 'protocol', shrinks: true, cell: ({ name }) => name },
      { head: 'service', cell: ({ service }) => service },
      { head: 'source', cell: ({ source }) => source },
      { head: 'last read', cell: ({ lastPoll }) => ago(lastPoll, report.now) },
      { head: 'queued up to', cell: ({ cursor }) => (cursor === undefined ? 'not yet' : clockText(cursor)) },
      { head: 'channels', shrinks: true, cell: ({ channels }) => channels.join(', ') || 'none' },
    ],
  );

const unwatchedOf = (report: Shown): string =>
  countedTable(report, 'Not watched', report.unwatched, [
    { head: 'protocol', cell: ({ name }) => name },
    { head: 'service', cell: ({ service }) => service },
    { head: 'why', isRemark: true, cell: ({ reason }) => reason },
  ]);

const remarkText = ({ id, ...one }: StatusReport['remarks'][number]): string =>
  `${cleanLine(conditionText(one))}${id === undefined ? '' : ` (${cleanLine(id)})`}`;

/** Where the same is to be done about the next one, it is said once. */
const problemsOf = ({ troubles, remarks }: Shown): string => {
  const all = [...troubles, ...remarks];
  const lines = all.flatMap((one, index) => [
    remarkText(one),
    ...(one.todo === all[index + 1]?.todo ? [] : [`${INDENT}To do: ${cleanLine(one.todo)}`]),
  ]);
  const standing = remarks.find(({ id }) => id !== undefined);
  const hint =
    standing && `One that may stay so: tocsin known add ${cleanLine(standing.id ?? '')} --reason TEXT --until 30d`;
  return lines.length === 0 ? '' : section('Needs a look', [...lines, ...(hint === undefined ? [] : [hint])]);
};

const knownOf = ({ known }: Shown): string => {
  const lines = known.flatMap(({ known: one, ...remark }) => [
    remarkText(remark),
    `${INDENT}until ${clockText(one?.until ?? '')}, by ${cleanLine(one?.author ?? '')}: ${cleanLine(one?.reason ?? '')}`,
  ]);
  return lines.length === 0 ? '' : section(`Known, and not counted (${known.length})`, lines);
};

/** As the page says it, where nothing is named above. */
const wellnessOf = (report: Shown): string => (troublesOf({ report }).length === 0 ? stateText({ report }) : '');

/** What needs a look comes first. Ends with a line feed. */
export const renderStatusText = (status: StatusReport, width?: number): string => {
  const report: Shown = { ...status, width };
  const { startedAt, now, dead } = report;
  const started = startedAt === undefined ? '' : `, started ${ago(startedAt, now)}`;
  const sections = [
    `Tocsin ${buildText(report)}${started}, as of ${clockText(now)}`,
    ...[
      problemsOf,
      wellnessOf,
      unacknowledgedText,
      knownOf,
      daemonsOf,
      servicesOf,
      destinationsOf,
      hangingOf,
      mutesOf,
      queuesOf,
      protocolsOf,
      unwatchedOf,
    ].map((sectionOf) => sectionOf(report)),
    `Dead and kept: ${dead}`,
  ];
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`;
};

export const status: Action = async (options, context) => {
  try {
    const report: StatusReport = await withView(options, context, (view) => view.status());
    answer(context, options, report, () => renderStatusText(report, context.width), context.show);
    return report.needsSomebody.length === 0 ? EXIT.done : EXIT.finding;
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    context.warn(`tocsin: ${error.message}\n`);
    return EXIT.finding;
  }
};
