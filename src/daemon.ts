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
import { createGenerations, type Generation } from './app/generations.ts';
import { createLifecycle, type Lifecycle } from './app/lifecycle.ts';
import { expectHealth, MAINTENANCE_EVERY_MS, startMaintenance } from './app/maintenance.ts';
import { openMembership } from './app/membership.ts';
import { openStore } from './app/open-store.ts';
import { openOps } from './app/ops.ts';
import { openReading } from './app/poll.ts';
import { createRechecking } from './app/recheck.ts';
import { openReloading } from './app/reload.ts';
import { startReporting } from './app/reporting.ts';
import { isReview } from './app/schedule.ts';
import { openSilence } from './app/silence.ts';
import { openTripwire } from './app/tripwire.ts';
import { channelsAskedEvery, openWatchdog } from './app/watchdog.ts';
import type { Channel } from './channels/channel.ts';
import { openConfiguredChannels } from './channels/open.ts';
import type { Config } from './config/schema.ts';
import type { ConfigSource } from './config/source.ts';
import { UnavailableError } from './errors.ts';
import { createAuditJob, createAuditMarks } from './features/audit/job.ts';
import type { DaemonReport } from './features/status/daemons.ts';
import { createChannelCheck } from './ops/channel-check.ts';
import { createHealth } from './ops/health.ts';
import { createMetrics, type Metrics } from './ops/metrics.ts';
import { createNewerJobs } from './ops/newer-jobs.ts';
import { createOutages } from './ops/outages.ts';
import { createRedisCheck } from './ops/redis-check.ts';
import { createOpsServer } from './ops/server.ts';
import type { Tracing } from './ops/tracing.ts';
import { createTroubles, type Troubles } from './ops/troubles.ts';
import { version } from './version.ts';

export interface DaemonDependencies {
  config: Config;
  log: Logger;
  /** Removes secrets from a text. */
  scrub(text: string): string;
  /** Epoch milliseconds. Default `Date.now`. */
  now?(): number;
  /** Where the config comes from. With it a changed one is taken while the daemon runs. */
  source?: ConfigSource;
  /** Called with every config that is read again and found right, before anything is done with it. */
  onRead?(config: Config): void;
  /** Called with a config that came into force after another. */
  onReplaced?(config: Config): void;
  /** Where the traces of alerts go. Default: nowhere. */
  tracing?: Tracing | undefined;
  /** How long the maintenance loop pauses after each round. Default `MAINTENANCE_EVERY_MS`. */
  maintenanceEveryMs?: number;
}

export interface Daemon {
  /** Resolves when everything is open; a service that is down does not hold it up. Throws where it cannot start at all. */
  start(): Promise<{ opsUrl: string }>;
  /** Reads the config again once the daemon is up; what comes of it is told as `features/reload` says. Never rejects. */
  reload(cause: string): Promise<void>;
  /** Lets running sends end, then closes. Idempotent; legal before `start`. False where something did not close in time. */
  stop(): Promise<boolean>;
  /** Resolves with the reason when the daemon cannot go on. */
  failed: Promise<string>;
}

/** How long what runs may go on when a generation ends, in milliseconds. */
interface Grace {
  /** For sends. Then they are aborted, and wait in the queue. */
  sends: number;
  /** For polls, which go on from their cursors. */
  polls: number;
  /** For turns of the schedule, which come again. */
  turns: number;
  /** Bound of each step of the stop. */
  step: number;
}

const AT_STOP: Grace = { sends: 4000, polls: 1000, turns: 0, step: 6000 };

/** The process lives on, so a send has its whole time, twice for one that amends first: nothing is in doubt. */
const atRetirement = ({ channels }: Config): Grace => {
  const sends = 2 * Math.max(0, ...Object.values(channels).map(({ timeout }) => timeout)) + 1000;
  return { sends, polls: 10_000, turns: 5000, step: Math.max(sends, 10_000) + 2000 };
};

/** What outlives every config: Redis and what is kept there, the counters, the address of the ops endpoints. */
interface Host
  extends Omit<Required<DaemonDependencies>, 'config' | 'source' | 'onRead' | 'onReplaced'>,
    Awaited<ReturnType<typeof openStore>> {
  /** Of this run of the daemon, under which it reports. */
  daemonId: string;
  startedAt: number;
  metrics: Metrics;
  reportConfig(): Pick<DaemonReport, 'config' | 'reload'>;
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
  grace: Grace;
  stopping: AbortSignal;
  fail(reason: string): void;
}

const openChannels = async ({ config, now, lifecycle }: Context) => {
  const { channels, post, close } = await openConfiguredChannels(config, now);
  lifecycle.onStop('channels', close);
  return { channels, post };
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
  const { config, store, mirror, log, scrub, tracing, now, lifecycle, troubles, hostTroubles } = context;
  const metrics = scrapedWhile(context);
  const outages = createOutages(log, now);
  const health = createHealth({ now, troubles: () => [...hostTroubles.current(), ...troubles.current()] });
  const newerJobs = createNewerJobs({ health, log, now });
  const shared = { config, store, metrics, log, now };
  const dispatching = openDispatch({ ...shared, tracing, protocolOf: (alert) => reading.catalog.protocolOf(alert) });
  const { dispatch, dispatchRouted, routesOf } = dispatching;
  const delivering = openDelivery({
    ...shared,
    channels,
    scrub,
    tracing,
    dispatching,
    onUnknownVersion: newerJobs.met,
    onRefused: (kind) => void channelCheck.suspect(kind),
    onSender: (kind, problem) => {
      if (problem === undefined) health.prove(`channel:${kind}`);
      else health.fail(`channel:${kind}`, problem);
    },
  });
  const channelCheck = createChannelCheck({
    ...{ channels, health, outages, now },
    signal: context.stopping,
    askEveryMs: channelsAskedEvery(config),
  });
  const shareOf = { own: context.id, readersOf: (service: string) => membership.readersOf(service) };
  const reading = openReading({
    ...shared,
    health,
    outages,
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
    redisCheck: createRedisCheck({ health }),
  });
  lifecycle.onStop('membership', membership.stop);
  const { catalog, serviceOf } = reading;
  const blindness = openBlindness({ ...shared, health, dispatching, mirror, reading: () => reading, scrub });
  const silence = openSilence({ ...shared, dispatching, catalog, serviceOf, membership: shareOf });
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
    everyMs: config.audit.every,
    metrics,
    // It ends by itself, and a reload does not end it.
    troubles: hostTroubles,
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
    silence,
    rechecks,
    audits,
  };
};

const startWork = async (context: Context, verbs: ReturnType<typeof openVerbs>) => {
  const { config, store, lifecycle, grace } = context;
  const { dispatching, delivering, membership, reading, rechecks, audits } = verbs;
  const stopDelivering = delivering.start();
  lifecycle.onStop('deliver', () => stopDelivering(grace.sends));
  await membership.start();
  // Nothing is started for a generation that was given up meanwhile.
  context.stopping.throwIfAborted();
  const stopFallback = dispatching.fallback.start();
  lifecycle.onStop('fallback', () => stopFallback(grace.sends));
  await reading.keepSchedule();
  context.stopping.throwIfAborted();
  const turns = store.schedule.work(config.poll.concurrency, async (turn, signal) => {
    if (turn.kind === 'release') await dispatching.release();
    else if (!isReview(turn)) await reading.run(turn, signal);
    else if (turn.kind === 'look') await rechecks.run(turn.service, signal);
    else await audits.run(turn.service, signal, turn);
  });
  lifecycle.onStop('schedule', () => turns.stop(grace.turns));
  reading.startPolling();
  lifecycle.onStop('poll', () => reading.stopPolling(grace.polls));
  return { stopDelivering };
};

/** Nothing of it runs before `start`. */
const createGeneration = (host: Host, config: Config, fail: Context['fail']): Generation => {
  const lifecycle = createLifecycle(host.log, AT_STOP.step);
  const stopping = new AbortController();
  const troubles = createTroubles(host);
  const grace = { ...AT_STOP };
  const context: Context = {
    ...{ ...host, config, id: randomUUID(), troubles, lifecycle, grace, fail },
    stopping: stopping.signal,
  };
  /** Absent until it delivers. */
  let stopDelivering: ((graceMs: number) => Promise<void>) | undefined;
  const end = (): Promise<boolean> => {
    stopping.abort();
    // Before all else, and again where less time is left now than when it was first asked.
    void stopDelivering?.(grace.sends).catch(() => {});
    return lifecycle.stop(grace.step);
  };
  return {
    config,
    open: async () => {
      const { channels, post } = await openChannels(context);
      const verbs = openVerbs(context, channels);
      const { reading, health } = verbs;
      expectHealth(health, config);
      const ops = openOps({ ...context, ...verbs });
      const { endpoints, selfReport } = ops;
      const watchdog = openWatchdog({ ...context, ...verbs, ...ops, post });
      const start = async (): Promise<void> => {
        ({ stopDelivering } = await startWork(context, verbs));
        const maintenance = startMaintenance({ ...context, ...verbs, ...ops, watchdog });
        lifecycle.onStop('maintenance', async () => {
          stopping.abort();
          await maintenance;
        });
      };
      return { endpoints, selfReport, health, renewSchedule: reading.renewSchedule, start };
    },
    stop: () => {
      Object.assign(grace, AT_STOP);
      return end();
    },
    retire: () => {
      Object.assign(grace, atRetirement(config));
      return end();
    },
  };
};

/** With a source the config can be read again. */
const openReloadingOf = (
  host: Host,
  { source, onRead = () => {} }: DaemonDependencies,
  generations: ReturnType<typeof createGenerations>,
  { stopping, onAnswered }: { stopping: AbortSignal; onAnswered(): void },
) => {
  if (source === undefined) return undefined;
  const { replace, config } = generations;
  const current = (): Config => {
    const running = config();
    if (running === undefined) throw new UnavailableError('the daemon is starting');
    return running;
  };
  return openReloading({ ...host, source, current, replace, onRead, onAnswered, stopping });
};

export const createDaemon = (dependencies: DaemonDependencies): Daemon => {
  const { config, log, scrub, tracing, now = Date.now, maintenanceEveryMs = MAINTENANCE_EVERY_MS } = dependencies;
  const lifecycle = createLifecycle(log, AT_STOP.step);
  const stopping = new AbortController();
  const failed = Promise.withResolvers<string>();
  const started = Promise.withResolvers<ReturnType<typeof openReloading> | undefined>();
  let generations: ReturnType<typeof createGenerations> | undefined;
  let reloading: ReturnType<typeof openReloading> | undefined;

  const openHost = async (): Promise<Host> => {
    const opened = await openStore({
      ...{ config, log, now, lifecycle, stopping: stopping.signal, fail: failed.resolve },
      ...(tracing && { telemetry: tracing.telemetry }),
    });
    const metrics = createMetrics({ version });
    lifecycle.onStop('loop delay', metrics.loopDelay.stop);
    metrics.configReloaded.set(1);
    metrics.configReloadedAt.set(now() / 1000);
    const run = { daemonId: randomUUID(), startedAt: now(), hostTroubles: createTroubles({ now }) };
    const reportConfig = () => reloading?.report() ?? {};
    return { ...opened, ...run, reportConfig, metrics, log, scrub, tracing, now, maintenanceEveryMs };
  };

  const work = async (host: Host) => {
    generations = createGenerations({
      ...host,
      create: (one, fail) => createGeneration(host, one, fail),
      fail: failed.resolve,
      onReplaced: ({ endpoints }, replacement) => {
        server.use(endpoints);
        dependencies.onReplaced?.(replacement);
      },
    });
    const first = await generations.begin(config);
    // Up before any work begins, so that the start can be watched.
    const server = createOpsServer(first.endpoints);
    lifecycle.onStop('ops', server.stop);
    const { url } = await server.start();
    await host.demandRedis();
    await first.start();
    return { url, generations, first };
  };

  const start = async (): Promise<{ opsUrl: string }> => {
    const host = await openHost();
    const { url, generations, first } = await work(host);
    reloading = openReloadingOf(host, dependencies, generations, {
      stopping: stopping.signal,
      onAnswered: () => reporting.tellNow(),
    });
    const reporting = startReporting({
      ...host,
      selfReport: () => generations.selfReport() ?? first.selfReport(),
      stopping: stopping.signal,
    });
    lifecycle.onStop('report', () => reporting.ended);
    void reloading?.watch();
    started.resolve(reloading);
    log.info({ version, ops: url, services: config.services.map(({ name }) => name) }, 'started');
    return { opsUrl: url };
  };

  return {
    start,
    reload: async (cause) => {
      const reloading = await started.promise;
      if (reloading !== undefined && !stopping.signal.aborted) await reloading.request(cause);
    },
    stop: async () => {
      stopping.abort();
      const areClean = (await generations?.stop()) ?? true;
      return (await lifecycle.stop()) && areClean;
    },
    failed: failed.promise,
  };
};
