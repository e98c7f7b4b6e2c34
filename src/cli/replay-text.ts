/** What a replay did, or would do, in words. Pure. */
import { shownLabel } from '../alert.ts';
import { type Names, withName } from '../features/names/show.ts';
import type { Unread } from '../features/replay/history.ts';
import type { ReplayCounts, ReplayedAlert } from '../features/replay/replay.ts';
import { cleanLine, counted } from '../text.ts';
import { clock } from '../time.ts';
import { renderTable } from './table.ts';

/** True where no alert has anywhere to go. */
export const isNothing = ({ alerts, skipped, stranded }: ReplayCounts): boolean => alerts === skipped + stranded;

/** Ends with a line feed; empty where nothing was sent. */
export const countsText = (counts: ReplayCounts): string => {
  const { alerts, sent, held, waiting } = counts;
  if (isNothing(counts)) return '';
  const already =
    waiting === 0
      ? ''
      : `; ${counted(waiting, 'was waiting already and is', 'were waiting already and are')} not sent twice`;
  const kept = held === 0 ? '' : `, ${held} of them held until approved`;
  return `${counted(alerts, 'alert')}: ${counted(sent + held, 'delivery', 'deliveries')} queued as replays${kept}${already}\n`;
};

/** What could not be read, a line each. */
export const unreadLines = (unread: readonly Unread[]): string[] =>
  unread.map(({ service, protocol, source, problem }) =>
    cleanLine(`${source} of ${protocol} (service ${service}) could not be read: ${problem}`),
  );

/** Alerts that went nowhere, and lists that could not be read; for standard error. */
export const unreadText = ({ skipped, stranded, correlated, problems, unread }: ReplayCounts): string =>
  [
    ...(skipped === 0 ? [] : [`${counted(skipped, 'alert')} left out: no trigger of the protocol asks for them`]),
    ...(stranded === 0 ? [] : [`${counted(stranded, 'alert')} left out: no destination`]),
    ...(correlated === 0 ? [] : [`${counted(correlated, 'notification')} left out where an inspection says the same`]),
    ...problems.map(cleanLine),
    ...unreadLines(unread),
  ]
    .map((line) => `tocsin: ${line}\n`)
    .join('');

const itemsText = (replayed: readonly ReplayedAlert[], width: number | undefined): string =>
  renderTable<ReplayedAlert>(
    replayed,
    [
      { head: 'written (UTC)', cell: ({ alert }) => clock(alert.at) },
      { head: 'protocol', shrinks: true, cell: ({ alert }) => alert.protocol },
      { head: 'item', cell: ({ alert }) => alert.txHash ?? alert.itemId },
      { head: 'to', isNumber: true, cell: ({ routes }) => routes.destinations.length },
    ],
    { width },
  );

const destinationsText = (replayed: readonly ReplayedAlert[], names: Names, width: number | undefined): string => {
  const all = replayed.flatMap(({ routes }) => routes.destinations);
  const rows = [...Map.groupBy(all, ({ id }) => id).values()].flatMap((each) => {
    const [first] = each;
    return first ? [{ ...first, alerts: each.length }] : [];
  });
  return renderTable<(typeof rows)[number]>(
    rows.toSorted((a, b) => b.alerts - a.alerts),
    [
      { head: 'kind', cell: ({ kind }) => kind },
      { head: 'destination', shrinks: true, cell: (one) => shownLabel(withName(one, names)) },
      { head: 'alerts', isNumber: true, cell: ({ alerts }) => alerts },
    ],
    { width },
  );
};

/** Ends with a line feed; empty where nothing would be sent. `names`: what providers call destinations. */
export const dryRunText = (replayed: readonly ReplayedAlert[], names: Names, width?: number): string => {
  const sent = replayed
    .filter(({ routes }) => routes.destinations.length > 0)
    .toSorted((a, b) => a.alert.at.localeCompare(b.alert.at));
  if (sent.length === 0) return '';
  return `${itemsText(sent, width)}\n${destinationsText(sent, names, width)}\nA dry run: nothing was sent.\n`;
};
