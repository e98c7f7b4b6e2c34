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
const proofsOf = ({ config, channels, health, now }: Context, canaries: ReadonlyMap<ChannelKind, number>) => {
  const ago = (at: number | undefined): number | undefined => (at === undefined ? undefined : Math.abs(now() - at));
  return (): Proof[] => [
    ...config.services.map(({ name }) => ({
      lacking: `the service ${name} was not read`,
      agoMs: ago(health.provenAt(`service:${name}`)),
    })),
    ...channels.flatMap(({ kind }) => [
      { lacking: `no job has come through the queue of ${kind}`, agoMs: ago(canaries.get(kind)) },
      { lacking: `${kind} was not proven to work`, agoMs: ago(health.provenAt(`channel:${kind}`)) },
    ]),
  ];
};

/** This daemon is the one that calls in this interval. */
const takesHeartbeat = async ({ store: { redis, prefix }, daemonId }: Context, everyMs: number): Promise<boolean> =>
  (await redis.set(`${prefix}:heartbeat`, daemonId, 'PX', everyMs, 'NX')) !== null;

const openHeartbeat = (context: Context, known: Knowing, proofs: () => Proof[]): Turn[] => {
  const { config, maintenanceEveryMs, stopping } = context;
  const { heartbeatUrl: url, heartbeatEvery: everyMs } = config.watchdog;
  if (url === undefined) return [];
  const withinMs = Math.max(everyMs, 3 * maintenanceEveryMs, 3 * longestIntervalMs(config.poll));
  const openedAt = monotonic();
  const run = createHeartbeat({
    ...context,
    url,
    reason: async () =>
      reasonAgainst({ conditions: await withinTime(known.conditions(), ANSWER_MS), proofs: proofs(), withinMs }),
    isStarting: () => monotonic() - openedAt < withinMs,
    // Without Redis nobody knows of the others.
    isOurs: async () => isSilent(known.own()) || withinTime(takesHeartbeat(context, TURN_PART * everyMs), ANSWER_MS),
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
    turns: [
      { name: 'troubles of Tocsin itself', everyMs, run },
      ...openHeartbeat(context, known, proofsOf(context, canaries)),
    ],
  };
};
