/** `tocsin backtest`: the present config over real history; sends nothing and needs no Redis. */
import { shownLabel } from '../alert.ts';
import { knownNames } from '../app/view.ts';
import { loadConfig } from '../config/load.ts';
import { type BacktestReport, backtest as runBacktest } from '../features/backtest/backtest.ts';
import type { DestinationLoad, ProtocolLoad } from '../features/backtest/report.ts';
import { type Names, withName } from '../features/names/names.ts';
import { openHistory } from '../features/replay/history.ts';
import { cleanLine, counted } from '../text.ts';
import { ageText, clock, type Moment } from '../time.ts';
import { type Action, EXIT, writeJson } from './context.ts';
import { parsePeriod } from './options.ts';
import { unreadLines } from './replay.ts';
import { type Column, renderTable } from './table.ts';
import { createProgress } from './terminal.ts';

const minuteText = (at: Moment): string => clock(at, 'minutes');

const isMany = (protocols: readonly ProtocolLoad[]): boolean => new Set(protocols.map((one) => one.service)).size > 1;

const someOf = (head: string, count: (one: ProtocolLoad) => number) => (all: readonly ProtocolLoad[]) =>
  all.some((one) => count(one) > 0) ? [{ head, isNumber: true, cell: count }] : [];

const protocolColumns = (protocols: readonly ProtocolLoad[]): Column<ProtocolLoad>[] => [
  ...(isMany(protocols) ? [{ head: 'service', cell: ({ service }: ProtocolLoad) => service }] : []),
  { head: 'protocol', shrinks: true, cell: ({ protocol }) => protocol },
  { head: 'inspections', isNumber: true, cell: ({ inspections }) => inspections },
  { head: 'notifications', isNumber: true, cell: ({ notifications }) => notifications },
  ...someOf('no trigger', ({ skipped }) => skipped)(protocols),
  ...someOf('no destination', ({ stranded }) => stranded)(protocols),
];

const waitText = ({ worstBacklog: { waitMs } }: DestinationLoad): string => (waitMs === 0 ? 'none' : ageText(waitMs));

const isGated = ({ needsApproval }: DestinationLoad): boolean => needsApproval === true;

const gatedText =
  'Alerts for destinations that need approval are held until then. A backtest does not know what is approved already: tocsin destinations list\n';

const destinationColumns = (destinations: readonly DestinationLoad[], names: Names): Column<DestinationLoad>[] => [
  { head: 'kind', cell: ({ kind }) => kind },
  { head: 'destination', shrinks: true, cell: (one) => shownLabel(withName(one, names)) },
  { head: 'alerts', isNumber: true, cell: ({ alerts }) => alerts },
  { head: 'messages', isNumber: true, cell: ({ messages }) => messages },
  { head: 'digests', isNumber: true, cell: ({ digests }) => digests },
  { head: 'in worst minute', isNumber: true, cell: ({ worstMinute }) => worstMinute.messages },
  { head: 'at (UTC)', cell: ({ worstMinute }) => minuteText(worstMinute.at) },
  { head: 'longest wait', cell: waitText },
  ...(destinations.some(isGated)
    ? [{ head: 'gate', cell: (one: DestinationLoad) => (isGated(one) ? 'needs approval' : 'open') }]
    : []),
];

const correlatedText = (count: number): string =>
  `${counted(count, 'notification is', 'notifications are')} not sent because the alert of an inspection covers ${count === 1 ? 'it' : 'them'}.\n`;

const DETECTORS: readonly Column<BacktestReport['detectors'][number]>[] = [
  { head: 'detector', shrinks: true, cell: ({ detector }) => detector },
  { head: 'inspections', isNumber: true, cell: ({ alerts }) => alerts },
];

const MUTES: readonly Column<BacktestReport['mutes'][number]>[] = [
  { head: 'muted by window', shrinks: true, cell: ({ reason }) => reason },
  { head: 'alerts', isNumber: true, cell: ({ alerts }) => alerts },
];

/** Ends with a line feed. `names`: what providers call destinations. */
const renderBacktest = (report: BacktestReport, names: Names, layout: { width?: number }): string => {
  const table = <Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string[] =>
    rows.length === 0 ? [] : [renderTable(rows, columns, layout)];
  const { since, until, alerts, protocols, detectors, destinations, correlated, mutes, problems } = report;
  const sections = [
    `${minuteText(since)} to ${minuteText(until)} UTC: ${counted(alerts, 'alert')}\n`,
    ...table(protocols, protocolColumns(protocols)),
    ...table(detectors, DETECTORS),
    ...table(destinations, destinationColumns(destinations, names)),
    ...(destinations.some(isGated) ? [gatedText] : []),
    ...(correlated === 0 ? [] : [correlatedText(correlated)]),
    ...table(mutes, MUTES),
    ...(problems.length === 0
      ? []
      : [`Channels that reach nobody\n${problems.map((each) => `  ${cleanLine(each)}\n`).join('')}`]),
    'Nothing was sent.\n',
  ];
  return sections.join('\n');
};

export const backtest: Action<{ since: string; until?: string; protocol?: string }> = async (options, context) => {
  const period = parsePeriod(options, Date.now());
  const config = await loadConfig(options.config, context.env);
  const history = openHistory(config, context.signal);
  const progress = createProgress(context);
  try {
    const protocols = await history.protocols(options.protocol);
    const onProgress = (done: number, of: number): void => progress.show(`${done} of ${of} lists read`);
    const report = await runBacktest({ config, history, protocols, period, onProgress });
    progress.end();
    if (options.json === true) writeJson(context, report);
    else context.show(renderBacktest(report, await knownNames(config), context));
    for (const line of unreadLines(report.unread)) context.warn(`tocsin: ${line}\n`);
    return report.unread.length === 0 ? EXIT.done : EXIT.mistake;
  } finally {
    progress.end();
    await history.close();
  }
};
