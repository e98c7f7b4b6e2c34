/** Composes the watchdog: what looks for troubles, what announces them, and the heartbeat. */
import { statfs } from 'node:fs/promises';
import type { ChannelKind } from '../alert.ts';
import { type Condition, rowOf } from '../condition.ts';
import { longestIntervalMs } from '../config/poll-section.ts';
import { isRunning } from '../features/conditions/daemons.ts';
import { isSilent, type Knowing } from '../features/conditions/list.ts';
import { createDetectors } from '../features/watchdog/detectors.ts';
import { createHeartbeat, type Proof, reasonAgainst } from '../features/watchdog/heartbeat.ts';
import { createWatchdogRound, type Listed } from '../features/watchdog/watchdog.ts';
import { lookAtRedis } from '../redis/check.ts';
import type { Turn } from '../redis/turns.ts';
import type { Verbs } from './compose.ts';
import { type Context, monotonic } from './context.ts';

/** What is announced here: the others are told where they are found. */
const createList = (known: Knowing) => async (): Promise<Listed> => {
  const { daemons, conditions } = await known.all();
  const isAnnounced = ({ name, announcedTo }: Condition): boolean => {
    const { severity, hears, announcedWhen } = rowOf(name);
    return announcedTo !== undefined || announcedWhen === 'found' || hears === 'nobody' || severity === 'note';
  };
  return {
    troubles: conditions.map((one) => ({ ...one, isAnnounced: isAnnounced(one) })),
    hosts: new Set(daemons.filter(isRunning).map(({ host }) => host)),
  };
};

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

const openHeartbeat = (context: Context, known: Knowing, proofs: () => Proof[]): Turn[] => {
  const { config, store, maintenanceEveryMs, stopping } = context;
  const { heartbeatUrl: url, heartbeatEvery: everyMs } = config.watchdog;
  if (url === undefined) return [];
  const withinMs = Math.max(everyMs, 3 * maintenanceEveryMs, 3 * longestIntervalMs(config.poll));
  const openedAt = monotonic();
  const run = createHeartbeat({
    ...context,
    url,
    reason: async () => reasonAgainst({ conditions: await known.conditions(), proofs: proofs(), withinMs }),
    isStarting: () => monotonic() - openedAt < withinMs,
    // Without Redis nobody knows of the others.
    isOurs: async () => isSilent(known.own()) || store.watchdog.takesHeartbeat(context.daemonId, TURN_PART * everyMs),
    signal: stopping,
    everyMs,
  });
  return [{ name: 'heartbeat', everyMs, run }];
};

export type Watchdog = ReturnType<typeof openWatchdog>;

export const openWatchdog = (context: Context, verbs: Verbs, known: Knowing) => {
  const { config, store, maintenanceEveryMs: everyMs, now } = context;
  const { dispatching } = verbs;
  const detect = openDetectors(context, verbs);
  const canaries = new Map<ChannelKind, number>();
  const announce = createWatchdogRound({
    ...context,
    list: createList(known),
    store: store.watchdog,
    outages: store.outageStore,
    locks: store.locks,
    announce: dispatching.announce,
    destinations: dispatching.operators,
    fallback: dispatching.fallback.destinations,
    afterMs: config.watchdog.after,
    monotonic,
  });
  const run = async (): Promise<void> => {
    await detect();
    await announce();
  };
  return {
    onCanary: (kind: ChannelKind): void => void canaries.set(kind, now()),
    turns: [
      { name: 'troubles of Tocsin itself', everyMs, run },
      ...openHeartbeat(context, known, proofsOf(context, canaries)),
    ],
  };
};
