/** `tocsin status`: what runs now, read from the daemons' Redis. Ends with 2 where something needs somebody. */
import { scopeText, shownLabel } from '../alert.ts';
import { NoDaemonError } from '../errors.ts';
import { stateOf, stateText } from '../ops/page/state.ts';
import {
  daemonText,
  type StatusReport,
  serviceText,
  shownDaemons,
  sortDestinations,
  sortProtocols,
} from '../ops/status.ts';
import { cleanLine } from '../text.ts';
import { ago, clockText } from '../time.ts';
import { answer, type CommandContext, type CommonOptions, EXIT, type ExitCode } from './context.ts';
import { type Column, renderTable } from './table.ts';
import { withView } from './with-view.ts';

const INDENT = '  ';

/** With the columns of the terminal. */
type Shown = StatusReport & { width?: number | undefined };

const tableOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number | undefined): string[] =>
  renderTable(rows, columns, { width: width === undefined ? undefined : width - INDENT.length })
    .trimEnd()
    .split('\n')
    .map((line) => `${INDENT}${line}`);

const section = (title: string, lines: readonly string[]): string => [title, ...lines].join('\n');

const daemonsOf = (report: Shown): string[] => {
  const shown = shownDaemons(report);
  if (shown.length === 0) return [];
  return [
    section(
      `Daemons (${shown.filter((daemon) => daemon.isRunning).length})`,
      tableOf(
        shown,
        [
          { head: 'host', cell: ({ host }) => host },
          { head: 'pid', isNumber: true, cell: ({ pid }) => pid },
          { head: 'version', cell: (daemon) => daemon.version },
          { head: 'started', cell: ({ startedAt }) => ago(startedAt, report.now) },
          { head: 'heard', cell: ({ heardAt }) => ago(heardAt, report.now) },
          { head: 'state', isRemark: true, cell: daemonText },
        ],
        report.width,
      ),
    ),
  ];
};

const servicesOf = ({ services, width }: Shown): string =>
  section(
    'Services',
    tableOf(
      services,
      [
        { head: 'service', cell: ({ name }) => name },
        {
          head: 'state',
          isRemark: true,
          cell: serviceText,
        },
      ],
      width,
    ),
  );

const destinationsOf = ({ destinations, now, width }: Shown): string =>
  section(
    `Destinations (${destinations.length})`,
    tableOf(
      sortDestinations(destinations),
      [
        { head: 'kind', cell: ({ kind }) => kind },
        { head: 'destination', shrinks: true, cell: (one) => shownLabel(one) },
        { head: 'waiting', isNumber: true, cell: ({ waiting = 0, delayed = 0 }) => waiting + delayed },
        { head: 'delivered', isNumber: true, cell: ({ delivered }) => delivered },
        { head: 'dead', isNumber: true, cell: ({ dead }) => dead },
        { head: 'last success', cell: ({ lastSuccess }) => ago(lastSuccess, now) },
        { head: 'last error', isRemark: true, cell: ({ lastError = '' }) => lastError },
      ],
      width,
    ),
  );

const mutesOf = ({ mutes, width }: Shown): string[] =>
  mutes.length === 0
    ? []
    : [
        section(
          `Mutes (${mutes.length})`,
          tableOf(
            mutes,
            [
              { head: 'mute', cell: ({ id }) => id },
              { head: 'until', cell: ({ until }) => clockText(until) },
              { head: 'hides', isNumber: true, cell: ({ hid }) => hid },
              { head: 'what', isRemark: true, cell: (mute) => scopeText(mute) },
              { head: 'reason', isRemark: true, cell: ({ reason }) => reason },
            ],
            width,
          ),
        ),
      ];

const queuesOf = ({ queues, width }: Shown): string =>
  section(
    'Queues',
    tableOf(
      queues,
      [
        { head: 'queue', cell: ({ name }) => name },
        { head: 'waiting', isNumber: true, cell: ({ waiting }) => waiting },
        { head: 'delayed', isNumber: true, cell: ({ delayed }) => delayed },
        { head: 'sending', isNumber: true, cell: ({ active }) => active },
        { head: 'failed', isNumber: true, cell: ({ failed }) => failed },
      ],
      width,
    ),
  );

const protocolsOf = ({ protocols, now, width }: Shown): string =>
  section(
    `Protocols (${protocols.length})`,
    tableOf(
      sortProtocols(protocols).flatMap(({ sources, ...protocol }) =>
        sources.map((source) => ({ ...protocol, ...source })),
      ),
      [
        { head: 'protocol', shrinks: true, cell: ({ name }) => name },
        { head: 'service', cell: ({ service }) => service },
        { head: 'source', cell: ({ source }) => source },
        { head: 'last read', cell: ({ lastPoll }) => ago(lastPoll, now) },
        { head: 'queued up to', cell: ({ cursor }) => (cursor === undefined ? 'not yet' : clockText(cursor)) },
        { head: 'channels', shrinks: true, cell: ({ channels }) => channels.join(', ') || 'none' },
      ],
      width,
    ),
  );

const unwatchedOf = ({ unwatched, width }: Shown): string[] =>
  unwatched.length === 0
    ? []
    : [
        section(
          `Not watched (${unwatched.length})`,
          tableOf(
            unwatched,
            [
              { head: 'protocol', cell: ({ name }) => name },
              { head: 'service', cell: ({ service }) => service },
              { head: 'why', isRemark: true, cell: ({ reason }) => reason },
            ],
            width,
          ),
        ),
      ];

const problemsOf = ({ problems }: Shown): string[] =>
  problems.length === 0
    ? []
    : [
        section(
          'Needs a look',
          problems.map((problem) => `${INDENT}${cleanLine(problem)}`),
        ),
      ];

/** As the page says it. What is not well is named above, or stands in a table. */
const wellnessOf = (report: Shown): string[] => (stateOf({ report }) === 'well' ? [stateText({ report })] : []);

/** What needs a look comes first. Ends with a line feed. */
export const renderStatusText = (status: StatusReport, width?: number): string => {
  const report: Shown = { ...status, width };
  const { version, startedAt, now, dead } = report;
  const started = startedAt === undefined ? '' : `, started ${ago(startedAt, now)}`;
  return `${[
    `Tocsin ${version}${started}, as of ${clockText(now)}`,
    ...problemsOf(report),
    ...wellnessOf(report),
    ...daemonsOf(report),
    servicesOf(report),
    destinationsOf(report),
    ...mutesOf(report),
    queuesOf(report),
    protocolsOf(report),
    ...unwatchedOf(report),
    `Dead and kept: ${dead}`,
  ].join('\n\n')}\n`;
};

export const status = async (options: CommonOptions, context: CommandContext): Promise<ExitCode> => {
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
