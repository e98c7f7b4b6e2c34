/**
 * The composition root: opens everything in order, hands each part what it needs, and closes in reverse. What outlives a
 * config is opened once; everything else is a generation, built from one config.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { openAuditor } from './app/audit.ts';
import { openBlindness } from './app/blindness.ts';
import { openDelivery } from './app/deliver.ts';
import { openDispatch } from './app/dispatch.ts';
import { createLifecycle, type Lifecycle } from './app/lifecycle.ts';
import { expectHealth, MAINTENANCE_EVERY_MS, startMaintenance } from './app/maintenance.ts';
import { openMembership } from './app/membership.ts';
import { openStore } from './app/open-store.ts';
import { openOps } from './app/ops.ts';
import { openReading } from './app/poll.ts';
import { createRechecking } from './app/recheck.ts';
import { startReporting } from './app/reporting.ts';
import { isReview } from './app/schedule.ts';
import { openTripwire } from './app/tripwire.ts';
import type { Channel } from './channels/channel.ts';
import { openConfiguredChannels } from './channels/open.ts';
import type { Config } from './config/schema.ts';
import { createAuditJob, createAuditMarks } from './features/audit/job.ts';
import { createChannelCheck } from './ops/channel-check.ts';
import { createHealth } from './ops/health.ts';
import { createMetrics, type Metrics } from './ops/metrics.ts';
import { createNewerJobs } from './ops/newer-jobs.ts';
import { createOutages } from './ops/outages.ts';
import { createRedisCheck } from './ops/redis-check.ts';
import { createOpsServer } from './ops/server.ts';
import { createTroubles, type Troubles } from './ops/troubles.ts';
import { version } from './version.ts';

export interface DaemonDependencies {
  config: Config;
  log: Logger;
  /** Removes secrets from a text. */
  scrub(text: string): string;
  /** Epoch milliseconds. Default `Date.now`. */
  now?(): number;
  /** How long the maintenance loop pauses after each round. Default `MAINTENANCE_EVERY_MS`. */
  maintenanceEveryMs?: number;
}

export interface Daemon {
  /** Resolves when everything is open; a service that is down does not hold it up. Throws where it cannot start at all. */
  start(): Promise<{ opsUrl: string }>;
  /** Lets running sends end, then closes. Idempotent; legal before `start`. False where something did not close in time. */
  stop(): Promise<boolean>;
  /** Resolves with the reason when the daemon cannot go on. */
  failed: Promise<string>;
}

/** Sends that run at a stop may end by themselves for this long. Then they are aborted, and wait in the queue. */
const GRACE_MS = 4000;
/** The same for polls, which go on from their cursors. */
const POLL_GRACE_MS = 1000;
/** Bound of each step of a stop. */
const STEP_MS = 6000;

/** What outlives every config: Redis and what is kept there, the counters, the address of the ops endpoints. */
interface Host extends Omit<Required<DaemonDependencies>, 'config'>, Awaited<ReturnType<typeof openStore>> {
  /** Of this run of the daemon, under which it reports. */
  daemonId: string;
  startedAt: number;
  metrics: Metrics;
  /** Whoever finds that something is wrong, whatever the config, says it here, and when it is over. */
  hostTroubles: Troubles;
}

/** One generation: everything that its config decides. */
interface Context extends Host {
  config: Config;
  /** Of this generation, as others know it that share its work. */
  id: string;
  /** What is found wrong under this config; it ends with it. */
  troubles: Troubles;
  lifecycle: Lifecycle;
  stopping: AbortSignal;
  fail(reason: string): void;
}

const openChannels = async ({ config, now, lifecycle }: Context): Promise<readonly Channel[]> => {
  const { channels, close } = await openConfiguredChannels(config, now);
  lifecycle.onStop('channels', close);
  return channels;
};

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
const openVerbs = (context: Context, channels: readonly Channel[]) => {
  const { config, store, mirror, log, scrub, now, lifecycle, troubles, hostTroubles } = context;
  const metrics = scrapedWhile(context);
  const outages = createOutages(log, now);
  const health = createHealth({ now, troubles: () => [...hostTroubles.current(), ...troubles.current()] });
  const newerJobs = createNewerJobs({ health, log, now });
  const shared = { config, store, metrics, log, now };
  const dispatching = openDispatch({ ...shared, protocolOf: (alert) => reading.catalog.protocolOf(alert) });
  const { dispatch, dispatchRouted, routesOf } = dispatching;
  const delivering = openDelivery({
    ...shared,
    channels,
    scrub,
    dispatching,
    onUnknownVersion: newerJobs.met,
    onRefused: (kind) => void channelCheck.suspect(kind),
    onSender: (kind, problem) => {
      if (problem === undefined) health.prove(`channel:${kind}`);
      else health.fail(`channel:${kind}`, problem);
    },
  });
  const channelCheck = createChannelCheck({ channels, health, outages, signal: context.stopping, now });
  const reading = openReading({
    ...shared,
    health,
    outages,
    mirror,
    membership: { own: context.id, readersOf: (service) => membership.readersOf(service) },
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
    redisCheck: createRedisCheck({ health }),
  });
  lifecycle.onStop('membership', membership.stop);
  const { catalog, serviceOf } = reading;
  const blindness = openBlindness({ ...shared, health, dispatching, mirror, reading: () => reading, scrub });
  const rechecks = createRechecking({
    ...shared,
    outages,
    catalog,
    serviceOf,
    dispatch,
    dispatchRouted,
  });
  const audits = createAuditJob({
    auditor: openAuditor({ ...shared, catalog, serviceOf, routesOf, dispatch }),
    marks: createAuditMarks(store.redis, store.prefix),
    alertIndex: store.alertIndex,
    metrics,
    log,
  });
  return {
    outages,
    metrics,
    health,
    newerJobs,
    dispatching,
    delivering,
    channels,
    channelCheck,
    membership,
    reading,
    blindness,
    rechecks,
    audits,
  };
};

const startWork = async (context: Context, verbs: ReturnType<typeof openVerbs>) => {
  const { config, store, lifecycle } = context;
  const { dispatching, delivering, membership, reading, rechecks, audits } = verbs;
  const stopDelivering = delivering.start();
  lifecycle.onStop('deliver', () => stopDelivering(GRACE_MS));
  await membership.start();
  const stopFallback = dispatching.fallback.start();
  lifecycle.onStop('fallback', () => stopFallback(GRACE_MS));
  await reading.keepSchedule();
  const turns = store.schedule.work(config.poll.concurrency, async (turn, signal) => {
    if (turn.kind === 'release') await dispatching.release();
    else if (!isReview(turn)) await reading.run(turn, signal);
    else if (turn.kind === 'look') await rechecks.run(turn.service, signal);
    else await audits.run(turn.service, signal, turn);
  });
  lifecycle.onStop('schedule', () => turns.stop(0));
  reading.startPolling();
  lifecycle.onStop('poll', () => reading.stopPolling(POLL_GRACE_MS));
};

/** What `config` decides. Nothing of it runs before `start`; `stop` is legal at any time. */
const createGeneration = (host: Host, config: Config, fail: Context['fail']) => {
  const lifecycle = createLifecycle(host.log, STEP_MS);
  const stopping = new AbortController();
  const troubles = createTroubles(host);
  const context: Context = { ...host, config, id: randomUUID(), troubles, lifecycle, stopping: stopping.signal, fail };
  return {
    open: async () => {
      const verbs = openVerbs(context, await openChannels(context));
      expectHealth(verbs.health, config);
      const ops = openOps({ ...context, ...verbs });
      return {
        ...ops,
        start: async (): Promise<void> => {
          await startWork(context, verbs);
          const maintenance = startMaintenance({ ...context, ...verbs, ...ops });
          lifecycle.onStop('maintenance', async () => {
            stopping.abort();
            await maintenance;
          });
        },
      };
    },
    stop: (): Promise<boolean> => {
      stopping.abort();
      return lifecycle.stop();
    },
  };
};

export const createDaemon = (dependencies: DaemonDependencies): Daemon => {
  const { config, log, scrub, now = Date.now, maintenanceEveryMs = MAINTENANCE_EVERY_MS } = dependencies;
  const lifecycle = createLifecycle(log, STEP_MS);
  const stopping = new AbortController();
  const failed = Promise.withResolvers<string>();
  let generation: ReturnType<typeof createGeneration> | undefined;

  const openHost = async (): Promise<Host> => {
    const opened = await openStore({ config, log, now, lifecycle, stopping: stopping.signal, fail: failed.resolve });
    const metrics = createMetrics({ version });
    lifecycle.onStop('loop delay', metrics.loopDelay.stop);
    const run = { daemonId: randomUUID(), startedAt: now(), hostTroubles: createTroubles({ now }) };
    return { ...opened, ...run, metrics, log, scrub, now, maintenanceEveryMs };
  };

  return {
    start: async () => {
      const host = await openHost();
      generation = createGeneration(host, config, failed.resolve);
      const { endpoints, selfReport, start } = await generation.open();
      // Up before any work begins, so that the start can be watched.
      const server = createOpsServer(endpoints);
      lifecycle.onStop('ops', server.stop);
      const { url } = await server.start();
      await host.demandRedis();
      await start();
      const reporting = startReporting({ ...host, selfReport, stopping: stopping.signal });
      lifecycle.onStop('report', () => reporting);
      log.info({ version, ops: url, services: config.services.map(({ name }) => name) }, 'started');
      return { opsUrl: url };
    },
    stop: async () => {
      stopping.abort();
      const isGenerationClean = (await generation?.stop()) ?? true;
      return (await lifecycle.stop()) && isGenerationClean;
    },
    failed: failed.promise,
  };
};
