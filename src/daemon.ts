/** The composition root: opens everything in order, hands each verb what it needs, and closes in reverse. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config/schema.ts';
import { createLifecycle } from './lifecycle.ts';
import { createHealth, type Health } from './ops/health.ts';
import { createMetrics } from './ops/metrics.ts';
import { createOutages } from './ops/outages.ts';
import { createOpsServer } from './ops/server.ts';
import { createMirror } from './poll/mirror.ts';
import { checkRedis } from './queue/check.ts';
import { version } from './version.ts';
import { createChannelProof } from './wiring/channels.ts';
import { createDelivering, routeSettings } from './wiring/deliver.ts';
import { refreshGauges } from './wiring/gauges.ts';
import { createReading } from './wiring/poll.ts';
import { openOwnRedis } from './wiring/redis.ts';
import { createRouteReview } from './wiring/routes.ts';
import { createStatus } from './wiring/status.ts';
import { createStore } from './wiring/store.ts';
import { createWatch } from './wiring/watch.ts';

export interface DaemonDependencies {
  config: Config;
  log: Logger;
  /** Removes secrets from a text. */
  scrub(text: string): string;
  /** Epoch milliseconds. Default `Date.now`. */
  now?(): number;
}

export interface Daemon {
  /** Resolves when everything is open; a service that is down does not hold it up. Throws where it cannot start at all. */
  start(): Promise<{ opsUrl: string }>;
  /** Drains what is being sent, then closes. Idempotent; legal before `start`. False where something had to be left. */
  stop(): Promise<boolean>;
  /** Resolves with the reason when the daemon cannot go on. */
  failed: Promise<string>;
}

/** What is being sent at a stop may end by itself for so long, is then aborted, and waits in the queue. */
const GRACE_MS = 4000;
/** Bound of each step of a stop. */
const STEP_MS = 6000;
/** Schedulers, routes and channels are looked after so often. */
const TEND_EVERY_MS = 15_000;
const FIRST_LIST_RETRY_MS = 1000;
const LONGEST_LIST_RETRY_MS = 10_000;

/** What readiness and liveness need before anything is known. */
const expectHealth = (health: Health, { poll, services, channels }: Config): void => {
  const provenWithinMs = 4 * poll.interval + LONGEST_LIST_RETRY_MS + 30_000;
  health.expect('redis', { provenWithinMs: 4 * TEND_EVERY_MS });
  for (const { name } of services) health.expect(`service:${name}`, { provenWithinMs });
  for (const kind of Object.keys(channels)) health.expect(`channel:${kind}`);
};

export const createDaemon = ({ config, log, scrub, now = Date.now }: DaemonDependencies): Daemon => {
  const lifecycle = createLifecycle(log, STEP_MS);
  const stopping = new AbortController();
  const failed = Promise.withResolvers<string>();

  const start = async (): Promise<{ opsUrl: string }> => {
    const startedAt = now();
    const { redis, prefix, lost, close } = await openOwnRedis(config, log, stopping.signal);
    lifecycle.onStop('redis', close);
    void lost.then((end) => failed.resolve(end.reason === 'lost' ? end.message : 'the embedded Redis has ended'));
    for (const { name, message } of await checkRedis(redis)) log.warn({ finding: name }, message);

    const onError = (queue: string, error: Error) => outages.failed('queue', queue, error);
    const outages = createOutages(log, now);
    const store = createStore({ redis, prefix, onError, now });
    lifecycle.onStop('queues', store.close);
    const metrics = createMetrics({ version });
    const health = createHealth({ now });
    expectHealth(health, config);
    const review = createRouteReview(routeSettings(config), log);

    const delivering = createDelivering({
      config,
      store,
      metrics,
      log,
      scrub,
      protocolOf: (alert) => reading.protocolOf(alert),
      now,
    });
    lifecycle.onStop('channels', delivering.close);
    const mirror = createMirror(join(config.dataDir, 'state.json'));
    const unusable = await mirror.load();
    if (unusable !== undefined) log.error({ reason: unusable }, 'the state file cannot be used; going on without it');
    const reading = createReading({
      config,
      mirror,
      store,
      metrics,
      health,
      outages,
      log,
      dispatch: (alerts) => delivering.dispatch(alerts),
      now,
    });
    lifecycle.onStop('services', reading.close);

    const status = createStatus({
      config,
      store,
      protocols: reading.catalog.protocols,
      services: () => reading.states(),
      problems: review.problems,
      startedAt,
      now,
    });
    metrics.onScrape(() => refreshGauges({ config, store, metrics, catalog: reading.catalog, review, now }));
    const ops = createOpsServer({ listen: config.ops.listen, health, metrics, status, log });
    lifecycle.onStop('ops', ops.stop);
    const { url: opsUrl } = await ops.start();

    const stopDelivering = delivering.start();
    lifecycle.onStop('deliver', () => stopDelivering(GRACE_MS));
    await reading.keepSchedule();
    const polling = store.schedule.work(config.poll.concurrency, reading.intake.run);
    lifecycle.onStop('poll', () => polling.stop(0));

    const { channels } = delivering;
    const proveChannels = createChannelProof({ channels, health, outages, signal: stopping.signal, now });
    const watch = createWatch({
      kinds: channels.map(({ kind }) => kind),
      store,
      health,
      log,
      onStuck: failed.resolve,
      now,
    });
    lifecycle.onStop('watchdog', watch.stop);
    const background = Promise.all([
      ...config.services.map(({ name }) => listUntilKnown(name, reading, stopping.signal)),
      tend(async () => {
        await reading.keepSchedule();
        await watch.sendCanaries();
        health.prove('redis');
        await mirror.flush();
        for (const { name } of config.services) review.review(name, await reading.catalog.protocols(name));
        await proveChannels();
      }, stopping.signal),
    ]);
    lifecycle.onStop('background', async () => {
      stopping.abort();
      await background;
      await mirror.flush();
    });
    log.info({ version, ops: opsUrl, services: config.services.map(({ name }) => name) }, 'started');
    return { opsUrl };
  };

  /** The first listing is asked for until it comes: a service that is down at our start is waited for. */
  const listUntilKnown = async (service: string, reading: ReturnType<typeof createReading>, signal: AbortSignal) => {
    for (let delayMs = FIRST_LIST_RETRY_MS; !signal.aborted; delayMs = Math.min(2 * delayMs, LONGEST_LIST_RETRY_MS)) {
      if (await reading.intake.list(service, signal)) return;
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
  };

  const tend = async (work: () => Promise<void>, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await work().catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error }, 'looking after the daemon failed; trying again');
      });
      await sleep(TEND_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  };

  return {
    start,
    stop: async () => {
      stopping.abort();
      return lifecycle.stop();
    },
    failed: failed.promise,
  };
};
