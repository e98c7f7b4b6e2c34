/** Opens everything that one config decides, each part with what it needs, and starts it. */
import { oneByOne } from '../chunks.ts';
import { createAuditJob, createAuditMarks, createServerChange } from '../features/audit/job.ts';
import { hasRecheck, recheckEveryMs } from '../features/recheck/job.ts';
import { createChannelCheck } from '../ops/checks.ts';
import { loopOf } from '../ops/loop-watch.ts';
import type { Turn } from '../redis/turns.ts';
import { openAcknowledgement } from './acknowledgement.ts';
import { openBlindness, openMisfits, openSilence, openTripwire } from './checks.ts';
import type { Context } from './context.ts';
import { openDelivery } from './deliver.ts';
import { openDispatch } from './dispatch.ts';
import { openMembership } from './membership.ts';
import { openReading } from './poll.ts';
import { openAuditor, openRechecks } from './review.ts';

/** How long a failed template stays in the list of troubles: it may fail for some alerts only. */
const TEMPLATE_TROUBLE_MS = 3_600_000;

/** A heartbeat vouches for the channels, so each is checked twice in between. Undefined without one: the default. */
const channelsAskedEvery = ({ watchdog: { heartbeatUrl, heartbeatEvery } }: Context['config']): number | undefined =>
  heartbeatUrl === undefined ? undefined : heartbeatEvery / 2;

export type Verbs = ReturnType<typeof openVerbs>;

/** Opens the verbs and features, each with what it needs; nothing runs yet. */
export const openVerbs = (context: Context) => {
  const { config, store, channels, health, conditions, lifecycle } = context;
  const dispatching = openDispatch(context, (alert) => reading.catalog.protocolOf(alert));
  const acknowledgement = openAcknowledgement(context, dispatching);
  const channelCheck = createChannelCheck({
    ...context,
    signal: context.stopping,
    askEveryMs: channelsAskedEvery(config),
  });
  const delivering = openDelivery(context, {
    ...{ channels, acknowledgement, dispatching },
    onUnknownVersion: context.onNewerJob,
    onTurn: (kind) => health.beat(loopOf(kind)),
    // Reported once for all kinds and daemons: they have the same templates.
    onTemplateFailed: (index, why) =>
      conditions.report('template', `templates.${index} of the config fails`, {
        ...{ why, of: String(index), lastsMs: TEMPLATE_TROUBLE_MS },
      }),
    onRefused: (kind) => void channelCheck.suspect(kind),
    onSender: (kind, problem) => {
      if (problem === undefined) health.prove(`channel:${kind}`);
      else health.fail(`channel:${kind}`, problem);
    },
  });
  const readersOf = (service: string): readonly string[] => membership.readersOf(service);
  const reading = openReading({
    ...context,
    membership: { own: context.id, readersOf },
    dispatch: dispatching.dispatch,
    listings: openTripwire(context, dispatching),
    onRead: (stream) => blindness.onRead(stream),
    onPage: async (stream, page) => {
      misfits.note(stream, page);
      await rechecks.note(stream, page.items);
    },
    onSwept: (stream, signal) => rechecks.readSuspicious(stream, signal),
  });
  lifecycle.onStop('services', reading.close);
  const membership = openMembership(context, { polls: reading.polls, workers: delivering.workers });
  lifecycle.onStop('membership', membership.stop);
  const blindness = openBlindness(context, dispatching, { ...reading, announces: membership.announces });
  const rechecks = openRechecks(context, reading, dispatching);
  const silence = openSilence(context, dispatching, { ...reading, onItems: rechecks.seen });
  const misfits = openMisfits(context, dispatching, { ...reading, readersOf, forward: rechecks.forward });
  const audits = createAuditJob({
    ...context,
    auditor: openAuditor({ ...context, ...reading, ...dispatching }),
    marks: createAuditMarks(store.redis, store.prefix),
    alertIndex: store.alertIndex,
    everyMs: config.audit.every,
    // It ends by itself, and a reload does not end it.
    conditions: context.hostConditions,
  });
  return {
    ...{ dispatching, acknowledgement, delivering, channelCheck, membership, reading },
    ...{ blindness, silence, misfits, rechecks, audits },
  };
};

/** How often mutes, approved holds and storms are looked at. */
const RELEASE_EVERY_MS = 5000;
/** How often the first reader of a service asks which Redis server answers. */
const SERVER_EVERY_MS = 2000;

/** What one of the daemons that share a Redis does for all of them. */
export const sharedTurns = (
  { config, store, log }: Context,
  { dispatching, reading, rechecks, audits }: Verbs,
): Turn[] => {
  const lookAtServer = createServerChange({
    ...store,
    audit: (service, signal) => audits.run(service, signal, { isUrgent: true }),
    log,
  });
  const names = config.services.map(({ name }) => name);
  const turns = (what: string, everyMs: number, run: (service: string, signal: AbortSignal) => Promise<void>): Turn[] =>
    names.map((service) => ({
      name: `${what} ${service}`,
      everyMs,
      service,
      run: (signal) => run(service, signal),
    }));
  const ends = ['expireMutes', 'endStorms', 'releaseApproved'] as const;
  /** What may end; a window of the config begins in the same turn. */
  const mayEnd = async (): Promise<boolean> => {
    const { mutes, storms, held } = store;
    const all = await Promise.all([config.mutes.windows, mutes.list(), storms.quiet(), held.list()]);
    return all.some((some) => some.length > 0);
  };
  const endAll = () => oneByOne(ends, String, (name) => dispatching[name]());
  return [
    // They belong to no service: the readers of the first one do it.
    ...names.slice(0, 1).map((service) => ({
      ...{ name: 'ends', everyMs: RELEASE_EVERY_MS, service, isDue: mayEnd, run: endAll },
    })),
    ...turns('catalog', config.poll.catalogEvery, reading.list),
    ...(hasRecheck(config) ? turns('recheck', recheckEveryMs(config), rechecks.run) : []),
    ...turns('audit', config.audit.every, audits.run),
    ...turns('server', SERVER_EVERY_MS, lookAtServer).map((turn) => ({ ...turn, isUnlocked: true })),
  ];
};

/** Starts what was opened: delivery first, polls last. */
export const startWork = async (context: Context, verbs: Verbs) => {
  const { lifecycle, grace } = context;
  const { acknowledgement, dispatching, delivering, membership, reading } = verbs;
  await context.standing.begin();
  // It says that it lives, and looks whether its config counts.
  if (context.standing.role === 'stands by') {
    await membership.start();
    return {};
  }
  await acknowledgement?.start();
  const stopDelivering = delivering.start();
  lifecycle.onStop('deliver', () => stopDelivering(grace.sends));
  await membership.start();
  // Nothing is started for a generation that was given up meanwhile.
  context.stopping.throwIfAborted();
  const stopFallback = dispatching.fallback.start();
  lifecycle.onStop('fallback', () => stopFallback(grace.sends));
  await reading.adopt(context.standing.since() ?? context.now());
  reading.startPolling();
  lifecycle.onStop('poll', () => reading.stopPolling(grace.polls));
  return { stopDelivering };
};
