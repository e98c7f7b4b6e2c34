/** What a daemon looks after besides its alerts: canaries, the state file, the channels, Redis. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChannelKind } from '../alert.ts';
import type { Channel } from '../channels/channel.ts';
import { longestIntervalMs } from '../config/poll-section.ts';
import type { Config } from '../config/schema.ts';
import { createServerChange } from '../features/audit/job.ts';
import type { RouteReview } from '../features/routes/review.ts';
import { createOperatorLogReader } from '../features/status/operator-log.ts';
import { CHANNEL_ROUND_MS, type ChannelCheck, type NewerJobs } from '../ops/checks.ts';
import type { FailureLog } from '../ops/failure-log.ts';
import type { Health } from '../ops/health.ts';
import { createLoopWatch } from '../ops/loop-watch.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Troubles } from '../ops/troubles.ts';
import type { Mirror } from '../poll/mirror.ts';
import type { openBlindness, openSilence } from './checks.ts';
import type { openDelivery } from './deliver.ts';
import type { Limits } from './limits.ts';
import type { openReading } from './poll.ts';
import { urgentAudits } from './schedule.ts';
import type { Store } from './store.ts';
import type { openWatchdog } from './watchdog.ts';

// Connects what notices another Redis server with the audits that look for what it may lack.

export interface ServerWatchDependencies {
  config: Config;
  store: Pick<Store, 'redis' | 'prefix' | 'schedule'>;
  log: Logger;
  stopping: AbortSignal;
}

/**
 * Checks after every reconnect until `stopping`. The returned function checks at once: in a Cluster a failover may break
 * no connection of ours.
 */
const watchServer = ({ config, store, log, stopping }: ServerWatchDependencies): (() => Promise<void>) => {
  const { redis, prefix, schedule } = store;
  const { check } = createServerChange({
    redis,
    prefix,
    onChanged: async (server) => {
      for (const turn of urgentAudits(config, server)) await schedule.once(turn);
      // Not a warning: an embedded Redis starts anew with each daemon. What is found to be lost is an error of its own.
      log.info({ server }, 'Redis was restarted or failed over; an audit looks for what it may have lost');
    },
  });
  const look = (): Promise<void> =>
    check().catch((error: unknown) => {
      if (!stopping.aborted) log.warn({ err: error }, 'whether Redis was restarted is not known; asking again');
    });
  redis.on('ready', look);
  stopping.addEventListener('abort', () => redis.off('ready', look), { once: true });
  return look;
};

// The maintenance loop: keeps the schedule, sends canaries, writes the state file, checks the channels.

export interface MaintenanceDependencies {
  config: Config;
  log: Logger;
  store: Store;
  health: Health;
  metrics: Pick<Metrics, 'loopDelay'>;
  newerJobs: NewerJobs;
  failureLog: FailureLog;
  mirror: Mirror;
  review: RouteReview;
  channelCheck: ChannelCheck;
  /** Forgets destinations that nothing leads to any more. */
  forgetGone(): Promise<void>;
  /** Asks providers what they call the destinations. */
  lookUpNames(signal: AbortSignal): Promise<void>;
  /** Keeps what only grows within its bounds. */
  keepHouse(): Promise<void>;
  channels: readonly Pick<Channel, 'kind'>[];
  reading: ReturnType<typeof openReading>;
  blindness: Pick<ReturnType<typeof openBlindness>, 'everyMs' | 'round'>;
  silence: ReturnType<typeof openSilence>;
  troubles: Pick<Troubles, 'report' | 'over'>;
  watchdog: ReturnType<typeof openWatchdog>;
  stopping: AbortSignal;
  fail(reason: string): void;
  delivering: Pick<ReturnType<typeof openDelivery>, 'workers' | 'rebuild'>;
  /** How long the loop pauses after each of its rounds. */
  maintenanceEveryMs: number;
  limits: Pick<Limits, 'canaryLateMs' | 'delayEveryMs' | 'loopBoundMs' | 'loopEndMs'>;
  now(): number;
}

export const MAINTENANCE_EVERY_MS = 15_000;
/** A beat asks it every second, but while it starts or frees the jobs of a daemon that is gone. */
const REDIS_PROVEN_WITHIN_MS = 15_000;
const FIRST_LIST_RETRY_MS = 1000;
/** A few are asked for at a time, so a first start with many takes some rounds. */
const NAMES_EVERY_MS = 15_000;
const LONGEST_LIST_RETRY_MS = 10_000;

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});

/** Names what readiness depends on, before anything of it is known. */
export const expectHealth = (health: Health, { poll, services, channels }: Config): void => {
  health.expect('redis', { provenWithinMs: REDIS_PROVEN_WITHIN_MS });
  const provenWithinMs = 4 * longestIntervalMs(poll) + LONGEST_LIST_RETRY_MS + 30_000;
  for (const { name } of services) health.expect(`service:${name}`, { provenWithinMs });
  for (const kind of Object.keys(channels)) health.expect(`channel:${kind}`);
};

/** A canary may wait until one of the sends that take every place has ended. */
const canaryBoundMs = (
  { config: { channels }, maintenanceEveryMs }: MaintenanceDependencies,
  kind: ChannelKind,
): number => 3 * maintenanceEveryMs + (channels[kind]?.timeout ?? 0);

/** Repeats the first listing until it works: a service that is down when we start is waited for. */
const listUntilKnown = async (
  service: string,
  { reading, review, stopping }: MaintenanceDependencies,
): Promise<void> => {
  for (let delayMs = FIRST_LIST_RETRY_MS; !stopping.aborted; delayMs = Math.min(2 * delayMs, LONGEST_LIST_RETRY_MS)) {
    if (await reading.intake.list(service, stopping)) {
      return review.review(service, await reading.catalog.protocols(service));
    }
    await pause(delayMs, stopping);
  }
};

/** A round that runs when the daemon stops has this long to end: without Redis it never does. */
const GRACE_MS = 1000;

/** Waits for a round that never rejects; once the daemon stops, only a little longer. */
const roundEnded = async (round: Promise<void>, stopping: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  const giveUp = (): void => {
    timer = setTimeout(resolve, GRACE_MS);
  };
  stopping.addEventListener('abort', giveUp, { once: true });
  if (stopping.aborted) giveUp();
  round.finally(resolve).catch(() => {});
  await promise;
  clearTimeout(timer);
  stopping.removeEventListener('abort', giveUp);
};

/** Checks in a loop of its own, so that no other work delays it. */
const repeat = async (
  { everyMs, round }: { everyMs: number; round(signal: AbortSignal): Promise<void> },
  what: string,
  { stopping, log }: Pick<MaintenanceDependencies, 'stopping' | 'log'>,
): Promise<void> => {
  while (!stopping.aborted) {
    const running = round(stopping).catch((error: unknown) => {
      if (!stopping.aborted) log.error({ err: error }, `the check for ${what} failed; trying again`);
    });
    await roundEnded(running, stopping);
    await pause(everyMs, stopping);
  }
};

/** Runs until `stopping`; never rejects. */
export const startMaintenance = async (dependencies: MaintenanceDependencies): Promise<void> => {
  const { config, log, store, health, mirror, review, channelCheck, channels, reading, stopping, fail } = dependencies;
  const { delivering, maintenanceEveryMs, now } = dependencies;
  const watch = createLoopWatch({
    kinds: channels.map(({ kind }) => ({ kind, boundMs: canaryBoundMs(dependencies, kind) })),
    pollBoundMs: 3 * longestIntervalMs(config.poll),
    isRedisReady: () => store.redis.status === 'ready',
    sendCanary: store.queues.sendCanary,
    takenAt: (kind) =>
      delivering
        .workers()
        .find((worker) => worker.kind === kind)
        ?.takenAt() ?? now(),
    rebuild: delivering.rebuild,
    health,
    log,
    delay: dependencies.metrics.loopDelay,
    troubles: dependencies.troubles,
    onCanary: dependencies.watchdog.onCanary,
    onStuck: fail,
    ...dependencies.limits,
    leastBoundMs: dependencies.limits.loopBoundMs,
    endMs: dependencies.limits.loopEndMs,
    now,
  });

  const logOperatorActions = createOperatorLogReader({ operatorLog: store.operatorLog, log });
  const lookAtServer = watchServer(dependencies);

  const shortenWaits = async (): Promise<void> => {
    const jobs = await store.shortenWaits();
    if (jobs > 0)
      log.warn({ jobs }, 'jobs would have waited too long, as after a clock was set back; they go on in time');
  };

  const round = async (): Promise<void> => {
    await watch.sendCanaries();
    await reading.keepSchedule();
    await shortenWaits();
    await lookAtServer();
    dependencies.newerJobs.settle();
    await mirror.flush();
    await logOperatorActions();
    for (const { name } of config.services) review.review(name, await reading.catalog.protocols(name));
    await dependencies.forgetGone();
    await dependencies.keepHouse();
  };

  const rounds = async (): Promise<void> => {
    while (!stopping.aborted) {
      watch.turned();
      const running = round().catch((error: unknown) => {
        if (!stopping.aborted) log.error({ err: error }, 'a round of maintenance failed; trying again');
      });
      await roundEnded(running, stopping);
      await pause(maintenanceEveryMs, stopping);
    }
  };

  await Promise.all([
    rounds(),
    repeat({ everyMs: CHANNEL_ROUND_MS, round: channelCheck.round }, 'channels', dependencies),
    repeat(dependencies.blindness, 'unread services', dependencies),
    repeat({ everyMs: NAMES_EVERY_MS, round: dependencies.lookUpNames }, 'names of destinations', dependencies),
    repeat(dependencies.silence, 'silent protocols', dependencies),
    repeat(dependencies.watchdog, 'troubles of Tocsin itself', dependencies),
    dependencies.watchdog.heartbeat && repeat(dependencies.watchdog.heartbeat, 'the heartbeat', dependencies),
    ...config.services.map(({ name }) => listUntilKnown(name, dependencies)),
  ]);
  watch.stop();
  await mirror.flush().catch((error: unknown) => log.error({ err: error }, 'the state file was not written'));
};
