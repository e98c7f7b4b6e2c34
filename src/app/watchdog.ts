/** Composes the watchdog: what looks for troubles, what announces them, and the heartbeat. */
import { statfs } from 'node:fs/promises';
import type { ChannelKind } from '../alert.ts';
import { longestIntervalMs } from '../config/poll-section.ts';
import { isRunning } from '../features/conditions/daemons.ts';
import { isSilent, type Knowing } from '../features/conditions/list.ts';
import { createDetectors } from '../features/watchdog/detectors.ts';
import { createHeartbeat, type Proof, reasonAgainst } from '../features/watchdog/heartbeat.ts';
import { createWatchdogRound } from '../features/watchdog/watchdog.ts';
import { lookAtRedis } from '../redis/check.ts';
import type { Turn } from '../redis/turns.ts';
import { withinTime } from '../waiting.ts';
import type { Verbs } from './compose.ts';
import { type Context, monotonic } from './context.ts';

const openDetectors = ({ config, store, conditions, log, limits, now }: Context, { reading }: Verbs) =>
  createDetectors({
    conditions,
    lookAtRedis: () => lookAtRedis(store.redis, now),
    dataDir: config.dataDir,
    spaceOf: async (directory) => {
      const { bavail, blocks, bsize } = await statfs(directory);
      return { free: bavail * bsize, size: blocks * bsize };
    },
    services: config.services.map(({ name }) => name),
    serviceAheadMs: (service) => reading.serviceOf(service).clock.now() - now(),
    log,
    everyMs: limits.detectEveryMs,
    monotonic,
  });

/** Of several daemons the next to come calls after this part of an interval: none is left out by a moment. */
const TURN_PART = 0.75;
/** What Redis has not answered by then fails, and is tried again: a Redis that stands still may never answer. */
const ANSWER_MS = 5000;

/** What has to be proven between two heartbeats, and how long ago it was. */
const proofsOf = ({ config, channels, health, now }: Context, canaries: ReadonlyMap<ChannelKind, number>): Proof[] => {
  const proof = (lacking: string, at: number | undefined): Proof => ({
    lacking,
    agoMs: at === undefined ? at : Math.abs(now() - at),
  });
  return [
    ...config.services.map(({ name }) => proof(`the service ${name} was not read`, health.provenAt(`service:${name}`))),
    ...channels.flatMap(({ kind }) => [
      proof(`no job has come through the queue of ${kind}`, canaries.get(kind)),
      proof(`${kind} was not proven to work`, health.provenAt(`channel:${kind}`)),
    ]),
  ];
};

const openHeartbeat = (context: Context, known: Knowing, canaries: ReadonlyMap<ChannelKind, number>): Turn[] => {
  const { config, maintenanceEveryMs, stopping, store, daemonId } = context;
  const { heartbeatUrl: url, heartbeatEvery: everyMs } = config.watchdog;
  if (url === undefined) return [];
  const withinMs = Math.max(everyMs, 3 * maintenanceEveryMs, 3 * longestIntervalMs(config.poll));
  const openedAt = monotonic();
  /** This daemon is the one that calls in this interval. */
  const take = async (): Promise<boolean> =>
    (await store.redis.set(`${store.prefix}:heartbeat`, daemonId, 'PX', TURN_PART * everyMs, 'NX')) !== null;
  const run = createHeartbeat({
    ...context,
    url,
    reason: async () => {
      const conditions = await withinTime(known.conditions(), ANSWER_MS);
      return reasonAgainst({ conditions, proofs: proofsOf(context, canaries), withinMs });
    },
    isStarting: () => monotonic() - openedAt < withinMs,
    // Without Redis nobody knows of the others.
    isOurs: async () => isSilent(known.own()) || withinTime(take(), ANSWER_MS),
    signal: stopping,
    everyMs,
  });
  return [{ name: 'heartbeat', everyMs, run }];
};

export type Watchdog = ReturnType<typeof openWatchdog>;

export const openWatchdog = (context: Context, verbs: Verbs, known: Knowing) => {
  const { config, maintenanceEveryMs: everyMs, now } = context;
  const detect = openDetectors(context, verbs);
  const canaries = new Map<ChannelKind, number>();
  const { announcer, outageNotifier } = verbs.dispatching;
  const announce = createWatchdogRound({ announcer, afterMs: config.watchdog.after, monotonic, now });
  const run = async (): Promise<void> => {
    await detect();
    const { daemons, conditions, broken } = await known.all();
    await announce(conditions, new Set(daemons.filter(isRunning).map(({ host }) => host)));
    await outageNotifier.complete(broken.map(({ outage }) => outage));
  };
  return {
    onCanary: (kind: ChannelKind): void => void canaries.set(kind, now()),
    turns: [{ name: 'troubles of Tocsin itself', everyMs, run }, ...openHeartbeat(context, known, canaries)],
  };
};
