/** What a daemon looks after besides its alerts: canaries, the state file, the channels, Redis. */

import type { ChannelKind } from '../alert.ts';
import { longestIntervalMs } from '../config/poll-section.ts';
import type { Config } from '../config/schema.ts';
import { createOperatorLogReader } from '../features/status/operator-log.ts';
import { CHANNEL_ROUND_MS } from '../ops/checks.ts';
import type { Health } from '../ops/health.ts';
import { createLoopWatch } from '../ops/loop-watch.ts';
import type { Turn } from '../redis/turns.ts';
import { pause } from '../waiting.ts';
import type { Verbs } from './compose.ts';
import { type Context, onTurnFailed } from './context.ts';
import type { Ops } from './ops.ts';
import type { Reading } from './poll.ts';

/** A beat asks it every second, but while it starts or frees the jobs of a daemon that is gone. */
const REDIS_PROVEN_WITHIN_MS = 15_000;
const FIRST_LIST_RETRY_MS = 1000;
/** A few are asked for at a time, so a first start with many takes some rounds. */
const NAMES_EVERY_MS = 15_000;
const LONGEST_LIST_RETRY_MS = 10_000;

/** Names what readiness depends on, before anything of it is known. */
export const expectHealth = (health: Health, { poll, services, channels }: Config): void => {
  health.expect('redis', { provenWithinMs: REDIS_PROVEN_WITHIN_MS });
  const provenWithinMs = 4 * longestIntervalMs(poll) + LONGEST_LIST_RETRY_MS + 30_000;
  for (const { name } of services) health.expect(`service:${name}`, { provenWithinMs });
  for (const kind of Object.keys(channels)) health.expect(`channel:${kind}`);
};

/** A worker, and so a canary, may wait until one of the sends that take every place has ended. */
const workerBoundMs = ({ config: { channels }, limits }: Context, kind: ChannelKind): number =>
  3 * limits.maintenanceEveryMs + (channels[kind]?.timeout ?? 0);

interface FirstListing {
  reading: { intake: Pick<Reading['intake'], 'list'>; catalog: Pick<Reading['catalog'], 'protocols'> };
  review: Pick<Ops['review'], 'review'>;
  log: Context['log'];
  stopping: AbortSignal;
}

/** Repeats the first listing until it works: a service or a Redis that is away when we start is waited for. */
export const listUntilKnown = async (
  service: string,
  { reading, review, log, stopping }: FirstListing,
): Promise<void> => {
  const isListed = async (): Promise<boolean> => {
    try {
      if (!(await reading.intake.list(service, stopping))) return false;
      review.review(service, await reading.catalog.protocols(service));
      return true;
    } catch (error) {
      if (!stopping.aborted) onTurnFailed({ log })(`first listing ${service}`, error);
      return false;
    }
  };
  for (let delayMs = FIRST_LIST_RETRY_MS; !stopping.aborted; delayMs = Math.min(2 * delayMs, LONGEST_LIST_RETRY_MS)) {
    if (await isListed()) return;
    await pause(delayMs, stopping);
  }
};

interface MaintenanceParts extends Verbs, Ops {
  watchdog: readonly Turn[];
}

/** What this daemon does for itself, and what it has ready for those who ask. Its loop watch runs from now on. */
export const openMaintenance = (context: Context, parts: MaintenanceParts) => {
  const { config, log, store, mirror, channels } = context;
  const { review, reading, delivering, watchdog } = parts;
  const watch = createLoopWatch({
    ...context,
    kinds: channels.map(({ kind }) => ({ kind, boundMs: workerBoundMs(context, kind) })),
    pollBoundMs: 3 * longestIntervalMs(config.poll),
    isRedisReady: () => store.redis.status === 'ready',
    sendCanary: store.queues.sendCanary,
    canaryAt: store.queues.canaryAt,
    rebuild: delivering.rebuild,
    delay: context.metrics.loopDelay,
    onStuck: context.fail,
    ...context.limits,
  });

  const logOperatorActions = createOperatorLogReader({ operatorLog: store.operatorLog, log });

  const shortenWaits = async (): Promise<void> => {
    const jobs = await store.shortenWaits();
    if (jobs > 0)
      log.warn({ jobs }, 'jobs would have waited too long, as after a clock was set back; they go on in time');
  };

  const round = async (): Promise<void> => {
    watch.turned();
    await watch.lookAtCanaries();
    await shortenWaits();
    await mirror.flush();
    await logOperatorActions();
    for (const { name } of config.services) review.review(name, await reading.catalog.protocols(name));
    await parts.forgetGone();
    await parts.keepHouse();
  };

  const turns: Turn[] = [
    { name: 'maintenance', everyMs: context.limits.maintenanceEveryMs, run: round },
    { name: 'listings that failed', everyMs: FIRST_LIST_RETRY_MS, run: reading.listOwed },
    { name: 'channels', everyMs: CHANNEL_ROUND_MS, run: parts.channelCheck.round },
    { name: 'names of destinations', everyMs: NAMES_EVERY_MS, run: parts.lookUpNames },
    ...parts.blindness.turns,
    ...parts.silence,
    ...parts.misfits.turns,
    ...watchdog,
  ];
  return {
    turns,
    /** Resolves when every service has been listed once, or the daemon stops. */
    listAll: async (): Promise<void> => {
      await Promise.all(config.services.map(({ name }) => listUntilKnown(name, { ...context, ...parts })));
    },
    close: async (): Promise<void> => {
      watch.stop();
      await mirror.flush().catch((error: unknown) => log.error({ err: error }, 'the state file was not written'));
    },
  };
};
