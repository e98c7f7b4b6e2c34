/** Composes the watchdog: what looks for troubles, what announces them, and the heartbeat. */
import { statfs } from 'node:fs/promises';
import { longestIntervalMs } from '../config/poll-section.ts';
import { isRunning } from '../features/conditions/daemons.ts';
import { isSilent, type Knowing } from '../features/conditions/list.ts';
import { createDetectors } from '../features/watchdog/detectors.ts';
import { createHeartbeat, reasonAgainst } from '../features/watchdog/heartbeat.ts';
import { createWatchdogRound } from '../features/watchdog/watchdog.ts';
import { lookAtRedis } from '../redis/check.ts';
import type { Turn } from '../redis/turns.ts';
import { withinTime } from '../waiting.ts';
import type { Verbs } from './compose.ts';
import { type Context, monotonic } from './context.ts';

/** Of several daemons the next to come calls after this part of an interval: none is left out by a moment. */
const TURN_PART = 0.75;
/** What Redis has not answered by then fails, and is tried again: a Redis that stands still may never answer. */
const ANSWER_MS = 5000;

const openHeartbeat = (context: Context, known: Knowing): Turn[] => {
  const { config, limits, stopping, store, daemonId } = context;
  const { heartbeatUrl: url, heartbeatEvery: everyMs } = config.watchdog;
  if (url === undefined) return [];
  const withinMs = Math.max(everyMs, 3 * limits.maintenanceEveryMs, 3 * longestIntervalMs(config.poll));
  const openedAt = monotonic();
  /** This daemon is the one that calls in this interval. */
  const take = async (): Promise<boolean> =>
    (await store.redis.set(`${store.prefix}:heartbeat`, daemonId, 'PX', TURN_PART * everyMs, 'NX')) !== null;
  const run = createHeartbeat({
    ...context,
    url,
    reason: async () =>
      reasonAgainst(await withinTime(known.conditions(), ANSWER_MS), context.health.lacking(withinMs)),
    isStarting: () => monotonic() - openedAt < withinMs,
    // Without Redis nobody knows of the others.
    isOurs: async () => isSilent(known.own()) || withinTime(take(), ANSWER_MS),
    signal: stopping,
    everyMs,
  });
  return [{ name: 'heartbeat', everyMs, run }];
};

export const openWatchdog = (context: Context, verbs: Verbs, known: Knowing): Turn[] => {
  const { config, now } = context;
  const { maintenanceEveryMs: everyMs, detectEveryMs } = context.limits;
  const detect = createDetectors({
    ...context,
    lookAtRedis: () => lookAtRedis(context.store.redis, now),
    spaceOf: async (directory) => {
      const { bavail, blocks, bsize } = await statfs(directory);
      return { free: bavail * bsize, size: blocks * bsize };
    },
    serviceAheadMs: (service) => verbs.reading.serviceOf(service).clock.now() - now(),
    everyMs: detectEveryMs,
    monotonic,
  });
  const { announcer, outageNotifier } = verbs.dispatching;
  const announce = createWatchdogRound({ announcer, afterMs: config.watchdog.after, monotonic, now });
  const run = async (): Promise<void> => {
    await detect();
    const { daemons, conditions, broken } = await known.all();
    await announce(conditions, new Set(daemons.filter(isRunning).map(({ host }) => host)));
    await outageNotifier.complete(broken.map(({ outage }) => outage));
  };
  return [{ name: 'troubles of Tocsin itself', everyMs, run }, ...openHeartbeat(context, known)];
};
