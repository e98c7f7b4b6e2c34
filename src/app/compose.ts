/** Opens everything that one config decides, each part with what it needs, and starts it. */
import type { Logger } from 'pino';
import type { Channel } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import { createAuditJob, createAuditMarks, createServerChange } from '../features/audit/job.ts';
import { hasRecheck, recheckEveryMs } from '../features/recheck/job.ts';
import type { DaemonReport } from '../features/status/daemons.ts';
import { createChannelCheck, createNewerJobs, createRedisCheck } from '../ops/checks.ts';
import { createFailureLog } from '../ops/failure-log.ts';
import { createHealth } from '../ops/health.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Tracing } from '../ops/tracing.ts';
import type { Troubles } from '../ops/troubles.ts';
import { openAcknowledgement } from './acknowledgement.ts';
import { openBlindness, openSilence, openTripwire } from './checks.ts';
import { openDelivery } from './deliver.ts';
import { openDispatch } from './dispatch.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Limits } from './limits.ts';
import { openMembership } from './membership.ts';
import { openReading } from './poll.ts';
import { createRechecking, openAuditor } from './review.ts';
import type { openStore } from './store.ts';
import type { Turn } from './turns.ts';
import { channelsAskedEvery } from './watchdog.ts';

/** What outlives every config: Redis and what is kept there, the counters, the address of the ops endpoints. */
export interface Host extends Awaited<ReturnType<typeof openStore>> {
  log: Logger;
  /** Removes secrets from a text. */
  scrub(text: string): string;
  now(): number;
  tracing: Tracing | undefined;
  /** How long the maintenance loop pauses after each round. */
  maintenanceEveryMs: number;
  limits: Limits;
  /** Of this run of the daemon, under which it reports. */
  daemonId: string;
  startedAt: number;
  metrics: Metrics;
  reportConfig(): Pick<DaemonReport, 'config' | 'reload'>;
  /** Whoever finds that something is wrong, whatever the config, says it here, and when it is over. */
  hostTroubles: Troubles;
}

/** How long what runs may go on when a generation ends, in milliseconds. */
export interface Grace {
  /** For sends. Then they are aborted, and wait in the queue. */
  sends: number;
  /** For polls, which go on from their cursors. */
  polls: number;
  /** For work on a timer, which is aborted, and comes again. */
  turns: number;
  /** Bound of each step of the stop. */
  step: number;
}

/** A template may fail for some alerts only. */
const TEMPLATE_TROUBLE_MS = 3_600_000;

/** One generation: everything that its config decides. */
export interface Context extends Host {
  config: Config;
  /** Of this generation, as others know it that share its work. */
  id: string;
  /** What is found wrong under this config; it ends with it. */
  troubles: Troubles;
  lifecycle: Lifecycle;
  grace: Grace;
  stopping: AbortSignal;
  fail(reason: string): void;
}

/** What a generation sets at each scrape ends with it; its counters go on. */
const scrapedWhile = ({ metrics, lifecycle }: Context): Metrics => ({
  ...metrics,
  onScrape: (refresh) => {
    const end = metrics.onScrape(refresh);
    lifecycle.onStop('scrape', end);
    return end;
  },
});

/** Opens the verbs and features, each with what it needs; nothing runs yet. */
export const openVerbs = (context: Context, channels: readonly Channel[]) => {
  const { config, store, mirror, log, scrub, tracing, now, lifecycle, troubles, hostTroubles } = context;
  const metrics = scrapedWhile(context);
  const failureLog = createFailureLog(log, now);
  const health = createHealth({ now, troubles: () => [...hostTroubles.current(), ...troubles.current()] });
  const newerJobs = createNewerJobs({ health, log, goneAfterMs: context.limits.newerJobsGoneMs, now });
  const shared = { config, store, metrics, log, now };
  const dispatching = openDispatch({ ...shared, tracing, protocolOf: (alert) => reading.catalog.protocolOf(alert) });
  const { dispatch, dispatchRouted, routesOf } = dispatching;
  const acknowledgement = openAcknowledgement({ ...context, metrics, channels, dispatching });
  const delivering = openDelivery({
    ...shared,
    channels,
    acknowledgement,
    scrub,
    tracing,
    dispatching,
    onUnknownVersion: newerJobs.met,
    // Of all kinds and daemons together: they have the same templates.
    onTemplateFailed: (index, why) =>
      troubles.report('template', `templates.${index} of the config fails`, {
        ...{ why, of: String(index), lastsMs: TEMPLATE_TROUBLE_MS },
      }),
    onRefused: (kind) => void channelCheck.suspect(kind),
    onSender: (kind, problem) => {
      if (problem === undefined) health.prove(`channel:${kind}`);
      else health.fail(`channel:${kind}`, problem);
    },
  });
  const channelCheck = createChannelCheck({
    ...{ channels, health, failureLog, now },
    signal: context.stopping,
    askEveryMs: channelsAskedEvery(config),
  });
  const shareOf = { own: context.id, readersOf: (service: string) => membership.readersOf(service) };
  const reading = openReading({
    ...shared,
    health,
    failureLog,
    mirror,
    membership: shareOf,
    dispatch,
    listings: openTripwire({ ...shared, dispatching }),
    onRead: (stream) => blindness.onRead(stream),
    onItems: (stream, items) => rechecks.note(stream, items),
    onSwept: (stream, signal) => rechecks.readSuspicious(stream, signal),
  });
  lifecycle.onStop('services', reading.close);
  const membership = openMembership({
    ...context,
    store,
    polls: reading.polls,
    workers: delivering.workers,
    redisCheck: createRedisCheck(health),
  });
  lifecycle.onStop('membership', membership.stop);
  const { catalog, serviceOf } = reading;
  const blindness = openBlindness({ ...shared, health, dispatching, mirror, reading: () => reading, scrub });
  const silence = openSilence({
    ...shared,
    limits: context.limits,
    dispatching,
    catalog,
    serviceOf,
    membership: shareOf,
  });
  const rechecks = createRechecking({
    ...shared,
    failureLog,
    catalog,
    serviceOf,
    dispatch,
    dispatchRouted,
  });
  const audits = createAuditJob({
    auditor: openAuditor({ ...shared, catalog, serviceOf, routesOf, dispatch }),
    marks: createAuditMarks(store.redis, store.prefix),
    alertIndex: store.alertIndex,
    everyMs: config.audit.every,
    metrics,
    // It ends by itself, and a reload does not end it.
    troubles: hostTroubles,
    log,
  });
  return {
    failureLog,
    metrics,
    health,
    newerJobs,
    dispatching,
    acknowledgement,
    delivering,
    channels,
    channelCheck,
    membership,
    reading,
    blindness,
    silence,
    rechecks,
    audits,
  };
};

/** Mutes that are over, holds that were approved, storms. */
const RELEASE_EVERY_MS = 5000;
/** How often the first reader of a service asks which Redis server answers. */
const SERVER_EVERY_MS = 2000;

/** What one of the daemons that share a Redis does for all of them. */
export const sharedTurns = (
  { config, store, log }: Context,
  { dispatching, reading, rechecks, audits }: ReturnType<typeof openVerbs>,
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
  /** Work of no service, which those that read the first one do. */
  const common = (name: string, run: () => Promise<void>): Turn[] =>
    names.slice(0, 1).map((service) => ({ name, everyMs: RELEASE_EVERY_MS, service, run }));
  return [
    ...common('mutes', dispatching.expireMutes),
    ...common('approvals', dispatching.releaseApproved),
    ...common('storms', dispatching.endStorms),
    ...turns('catalog', config.poll.catalogEvery, reading.list),
    ...(hasRecheck(config) ? turns('recheck', recheckEveryMs(config), rechecks.run) : []),
    ...turns('audit', config.audit.every, audits.run),
    ...turns('server', SERVER_EVERY_MS, lookAtServer),
  ];
};

/** Starts what was opened: delivery first, polls last. */
export const startWork = async (context: Context, verbs: ReturnType<typeof openVerbs>) => {
  const { lifecycle, grace } = context;
  const { acknowledgement, dispatching, delivering, membership, reading } = verbs;
  await acknowledgement?.start();
  const stopDelivering = delivering.start();
  lifecycle.onStop('deliver', () => stopDelivering(grace.sends));
  await membership.start();
  // Nothing is started for a generation that was given up meanwhile.
  context.stopping.throwIfAborted();
  const stopFallback = dispatching.fallback.start();
  lifecycle.onStop('fallback', () => stopFallback(grace.sends));
  reading.startPolling();
  lifecycle.onStop('poll', () => reading.stopPolling(grace.polls));
  return { stopDelivering };
};
