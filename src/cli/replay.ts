/** `tocsin replay`: forwards history again, marked as such. */
import { CHANNEL_KINDS, type ChannelKind, type Destination } from '../alert.ts';
import { knownNames } from '../app/names.ts';
import { openRetry } from '../app/retry.ts';
import { openView } from '../app/view.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import { createEnrichment } from '../features/enrichment/enrich.ts';
import { openHistory } from '../features/replay/history.ts';
import {
  type ReplayCounts,
  type ReplayedAlert,
  type ReplayPlan,
  type ReplayProgress,
  replayHistory,
} from '../features/replay/replay.ts';
import { routeSettings } from '../features/routes/routes.ts';
import { destinationsAt } from '../features/routes/rules.ts';
import { targetOf } from '../ledger/record.ts';
import { counted } from '../text.ts';
import { iso } from '../time.ts';
import { confirm } from './confirm.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, writeJson } from './context.ts';
import { warnOfHeld, warnOfIdle } from './dead-change.ts';
import { parsePeriod } from './moment.ts';
import { createProgress } from './progress.ts';
import { countsText, dryRunText, isNothing, unreadText } from './replay-text.ts';

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

/** Opens Redis only where something is sent. */
const openResend = async (config: Config, trusted: readonly Destination[], context: CommandContext) => {
  const view = await openView(config);
  const { store, catalog, close } = view;
  const withContext = createEnrichment({
    firstSeen: store.firstSeen,
    protocolOf: catalog.protocolOf,
  });
  const retry = openRetry({ config, ...view, trusted, onHeld: warnOfHeld(context) });
  return { retry, operatorLog: store.operatorLog, withContext, close };
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

const send = async ({ plan, ...run }: Run, context: CommandContext): Promise<ReplayCounts> => {
  const { retry, operatorLog, withContext, close } = await openResend(run.config, plan.to ?? [], context);
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
    const counts = await replayHistory({ ...run, resend: retry.resend, withContext, onReplayed, onQueued }, plan);
    warnOfIdle(await retry.idleKinds(kinds), context);
    return counts;
  } catch (error) {
    if (queued > 0) context.warn(`tocsin: cut short; ${queued} deliveries were queued before\n`);
    throw error;
  } finally {
    // Where Redis is away, that is what failed the replay: it is said already.
    if (queued > 0) await operatorLog.record({ action: 'replayed', ...period, queued }).catch(() => {});
    await close();
  }
};

/** As a script gets it: addresses may hold secrets. */
const plain = ({ alert: { item: _item, replay: _replay, ...rest }, routes }: ReplayedAlert) => ({
  ...rest,
  destinations: routes.destinations.map(targetOf),
  ...(routes.skipped === undefined ? {} : { skipped: routes.skipped }),
});

export const replay = async (options: ReplayOptions, context: CommandContext): Promise<ExitCode> => {
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
    else context.show(replayed ? dryRunText(replayed, await knownNames(config), context.width) : countsText(counts));
    context.warn(unreadText(counts));
    if (isNothing(counts)) throw new UsageError('nothing to forward');
    return counts.unread.length === 0 ? EXIT.done : EXIT.mistake;
  } finally {
    progress.end();
    await history.close();
  }
};
