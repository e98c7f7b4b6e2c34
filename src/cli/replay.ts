/** `tocsin replay`: forwards history again, marked as such. */
import { CHANNEL_KINDS, type ChannelKind, type Destination, shownLabel } from '../alert.ts';
import { openRetry } from '../app/approval.ts';
import { knownNames, openView } from '../app/view.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import { createEnrichment } from '../features/enrichment/enrich.ts';
import { type Names, withName } from '../features/names/names.ts';
import { openHistory, type Unread } from '../features/replay/history.ts';
import {
  type ReplayCounts,
  type ReplayedAlert,
  type ReplayPlan,
  type ReplayProgress,
  replayHistory,
} from '../features/replay/replay.ts';
import { destinationsAt, routeSettings } from '../features/routes/routes.ts';
import { targetOf } from '../ledger/record.ts';
import { cleanLine, counted, nameText } from '../text.ts';
import { clock, iso } from '../time.ts';
import { type Action, type CommandContext, type CommonOptions, EXIT, writeJson } from './context.ts';
import { warnOfHeld, warnOfIdle } from './dead-change.ts';
import { parsePeriod } from './options.ts';
import { type Column, renderTable } from './table.ts';
import { confirm, createProgress } from './terminal.ts';

/** True where no alert has anywhere to go. */
const isNothing = ({ alerts, skipped, stranded }: ReplayCounts): boolean => alerts === skipped + stranded;

/** Ends with a line feed; empty where nothing was sent. */
const countsText = (counts: ReplayCounts): string => {
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
    cleanLine(`${source} of ${nameText(protocol)} (service ${service}) could not be read: ${problem}`),
  );

/** Alerts that went nowhere, and lists that could not be read; for standard error. */
const unreadText = ({ skipped, stranded, correlated, problems, unread }: ReplayCounts): string =>
  [
    ...(skipped === 0 ? [] : [`${counted(skipped, 'alert')} left out: no trigger of the protocol asks for them`]),
    ...(stranded === 0 ? [] : [`${counted(stranded, 'alert')} left out: no destination`]),
    ...(correlated === 0 ? [] : [`${counted(correlated, 'notification')} left out where an inspection says the same`]),
    ...problems.map(cleanLine),
    ...unreadLines(unread),
  ]
    .map((line) => `tocsin: ${line}\n`)
    .join('');

const ITEMS: readonly Column<ReplayedAlert>[] = [
  { head: 'written (UTC)', cell: ({ alert }) => clock(alert.at) },
  { head: 'protocol', shrinks: true, cell: ({ alert }) => alert.protocol },
  { head: 'item', cell: ({ alert }) => alert.txHash ?? alert.itemId },
  { head: 'to', isNumber: true, cell: ({ routes }) => routes.destinations.length },
];

const DESTINATIONS: readonly Column<Destination & { alerts: number }>[] = [
  { head: 'kind', cell: ({ kind }) => kind },
  { head: 'destination', shrinks: true, cell: shownLabel },
  { head: 'alerts', isNumber: true, cell: ({ alerts }) => alerts },
];

/** Each destination once, with how many alerts it gets. */
const destinationsIn = (replayed: readonly ReplayedAlert[], names: Names) => {
  const all = Map.groupBy(
    replayed.flatMap(({ routes }) => routes.destinations),
    ({ id }) => id,
  );
  const rows = [...all.values()].flatMap((each) =>
    each.slice(0, 1).map((one) => ({ ...withName(one, names), alerts: each.length })),
  );
  return rows.toSorted((a, b) => b.alerts - a.alerts);
};

/** Ends with a line feed; empty where nothing would be sent. `names`: what providers call destinations. */
const dryRunText = (replayed: readonly ReplayedAlert[], names: Names, layout: { width?: number }): string => {
  const sent = replayed
    .filter(({ routes }) => routes.destinations.length > 0)
    .toSorted((a, b) => a.alert.at.localeCompare(b.alert.at));
  if (sent.length === 0) return '';
  const destinations = renderTable(destinationsIn(sent, names), DESTINATIONS, layout);
  return `${renderTable(sent, ITEMS, layout)}\n${destinations}\nA dry run: nothing was sent.\n`;
};

interface ReplayOptions extends CommonOptions {
  since: string;
  until?: string;
  protocol?: string;
  to?: string;
  dryRun?: boolean;
  yes?: boolean;
}

/** Deliveries that are queued without a question. */
const HANDFUL = 5;

const destinationsOf = (to: string | undefined, config: Config): Destination[] | undefined => {
  if (to === undefined) return undefined;
  const [, name, address = ''] = /^([a-z]+):(.+)$/s.exec(to) ?? [];
  const kind = CHANNEL_KINDS.find((known) => known === name);
  if (kind === undefined) {
    throw new UsageError(`--to must be KIND:ADDRESS with a kind of ${CHANNEL_KINDS.join(', ')} (got '${to}')`);
  }
  return destinationsAt(kind, address, routeSettings(config));
};

const progressText = ({ done, of, counts }: ReplayProgress): string =>
  `${done} of ${of} lists read, ${counted(counts.alerts, 'alert')}`;

type Run = Pick<Parameters<typeof replayHistory>[0], 'config' | 'history' | 'onProgress'> & { plan: ReplayPlan };

const rehearse = async ({ plan, ...run }: Run) => {
  const replayed: ReplayedAlert[] = [];
  const counts = await replayHistory({ ...run, onReplayed: (each) => replayed.push(each) }, plan);
  return { counts, replayed };
};

/** Asks before it sends more than a handful: to know how many, everything is read once more. */
const confirmMany = async (run: Run, options: ReplayOptions, context: CommandContext): Promise<void> => {
  if (options.yes === true) return;
  const { counts, replayed } = await rehearse(run);
  const destinations = replayed.flatMap(({ routes }) => routes.destinations);
  if (destinations.length <= HANDFUL) return;
  const places = counted(new Set(destinations.map(({ id }) => id)).size, 'destination');
  const what = `${counted(counts.alerts, 'alert')} in ${counted(destinations.length, 'delivery', 'deliveries')}`;
  await confirm(context, `sends ${what} to ${places} again`, false);
};

/** Opens Redis, which a rehearsal does not need. */
const send = async ({ plan, ...run }: Run, context: CommandContext): Promise<ReplayCounts> => {
  const view = await openView(run.config);
  const { store, catalog, close } = view;
  const { resend, idleKinds } = openRetry({
    ...{ config: run.config, ...view, trusted: plan.to ?? [] },
    onHeld: warnOfHeld(context),
  });
  const withContext = createEnrichment({
    firstSeen: store.firstSeen,
    protocolOf: catalog.protocolOf,
    overrides: run.config.protocols.overrides,
  });
  const kinds = new Set<ChannelKind>();
  let queued = 0;
  const onReplayed = ({ routes }: ReplayedAlert): void => {
    for (const { kind } of routes.destinations) kinds.add(kind);
  };
  const onQueued = (sent: number): void => {
    queued = sent;
  };
  const period = { since: iso(plan.period.since), until: iso(plan.period.until) };
  try {
    const counts = await replayHistory({ ...run, resend, withContext, onReplayed, onQueued }, plan);
    warnOfIdle(await idleKinds(kinds), context);
    return counts;
  } catch (error) {
    if (queued > 0) context.warn(`tocsin: cut short; ${queued} deliveries were queued before\n`);
    throw error;
  } finally {
    // Where Redis is away, that is what failed the replay: it is said already.
    if (queued > 0) await store.operatorLog.record({ action: 'replayed', ...period, queued }).catch(() => {});
    await close();
  }
};

/** As a script gets it: addresses may hold secrets. */
const plain = ({ alert: { item: _item, replay: _replay, ...rest }, routes }: ReplayedAlert) => ({
  ...rest,
  destinations: routes.destinations.map(targetOf),
  ...(routes.skipped === undefined ? {} : { skipped: routes.skipped }),
});

export const replay: Action<ReplayOptions> = async (options, context) => {
  const period = parsePeriod(options, Date.now());
  const config = await loadConfig(options.config, context.env);
  const to = destinationsOf(options.to, config);
  const history = openHistory(config, context.signal);
  const progress = createProgress(context);
  try {
    const plan = { protocols: await history.protocols(options.protocol), period, ...(to ? { to } : {}) };
    const run = { config, history, plan, onProgress: (each: ReplayProgress) => progress.show(progressText(each)) };
    if (options.dryRun !== true) {
      await confirmMany(run, options, context);
      progress.end();
    }
    const { counts, replayed } =
      options.dryRun === true ? await rehearse(run) : { counts: await send(run, context), replayed: undefined };
    progress.end();
    if (options.json === true) writeJson(context, { ...counts, ...(replayed && { items: replayed.map(plain) }) });
    else context.show(replayed ? dryRunText(replayed, await knownNames(config), context) : countsText(counts));
    context.warn(unreadText(counts));
    if (isNothing(counts)) throw new UsageError('nothing to forward');
    return counts.unread.length === 0 ? EXIT.done : EXIT.mistake;
  } finally {
    progress.end();
    await history.close();
  }
};
