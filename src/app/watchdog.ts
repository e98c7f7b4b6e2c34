/** Composes the watchdog: what looks for troubles, what announces them, and the heartbeat. */
import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { ChannelKind } from '../alert.ts';
import type { GuardedPost } from '../channels/http.ts';
import { longestIntervalMs } from '../config/poll-section.ts';
import type { Config } from '../config/schema.ts';
import { currentOutages } from '../features/broken-destinations/store.ts';
import { type HeardDaemon, isRunning, servicesAsKnown } from '../features/status/daemons.ts';
import { troublesOf } from '../features/status/troubles.ts';
import { createDetectors } from '../features/watchdog/detectors.ts';
import { createHeartbeat, type Proof, reasonAgainst } from '../features/watchdog/heartbeat.ts';
import { createWatchdogRound, type Listed } from '../features/watchdog/watchdog.ts';
import type { FailureLog } from '../ops/failure-log.ts';
import type { Health } from '../ops/health.ts';
import type { Troubles } from '../ops/troubles.ts';
import { lookAtRedis } from '../redis/check.ts';
import type { openDispatch } from './dispatch.ts';
import type { Limits } from './limits.ts';
import type { openReading } from './poll.ts';
import type { Store } from './store.ts';

export interface OpenWatchdog {
  /** Of this run of the daemon. */
  daemonId: string;
  config: Config;
  store: Store;
  health: Pick<Health, 'provenAt'>;
  failureLog: Pick<FailureLog, 'failed' | 'worked'>;
  troubles: Troubles;
  dispatching: Pick<ReturnType<typeof openDispatch>, 'announce' | 'operators' | 'fallback'>;
  reading: Pick<ReturnType<typeof openReading>, 'serviceOf'>;
  channels: readonly { kind: ChannelKind }[];
  /** What the daemons say of themselves, this one included. */
  daemons(): Promise<readonly HeardDaemon[]>;
  post: GuardedPost;
  scrub(text: string): string;
  log: Logger;
  stopping: AbortSignal;
  maintenanceEveryMs: number;
  limits: Pick<Limits, 'detectEveryMs'>;
  now(): number;
}

/** A heartbeat vouches for each channel, so they are asked more often than once between two. Default where there is none. */
export const channelsAskedEvery = ({ watchdog: { heartbeatUrl, heartbeatEvery } }: Config): number | undefined =>
  heartbeatUrl === undefined ? undefined : heartbeatEvery / 2;

const monotonic = (): number => performance.now();

/**
 * What the watchdog announces, and whose channels it must not use: the outages of single destinations, and silent protocols,
 * are not asked for.
 */
const createList =
  ({ config, store, daemons }: OpenWatchdog) =>
  async (): Promise<Listed> => {
    const heard = await daemons();
    const names = config.services.map(({ name }) => name);
    const services = servicesAsKnown(names, heard);
    const [broken, dead] = await Promise.all([currentOutages(store.outageStore, []), store.dead.count()]);
    return {
      troubles: troublesOf({ daemons: heard, services, silent: [], broken, dead }),
      hosts: new Set(heard.filter(isRunning).map(({ host }) => host)),
    };
  };

const openDetectors = ({ config, store, troubles, reading, log, limits, now }: OpenWatchdog) =>
  createDetectors({
    troubles,
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
const proofsOf = ({ config, channels, health, now }: OpenWatchdog, canaries: ReadonlyMap<ChannelKind, number>) => {
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

const openHeartbeat = (dependencies: OpenWatchdog, list: () => Promise<Listed>, proofs: () => Proof[]) => {
  const { config, store, maintenanceEveryMs, stopping } = dependencies;
  const { heartbeatUrl: url, heartbeatEvery: everyMs } = config.watchdog;
  if (url === undefined) return undefined;
  const isRedisReady = (): boolean => store.redis.status === 'ready';
  const withinMs = Math.max(everyMs, 3 * maintenanceEveryMs, 3 * longestIntervalMs(config.poll));
  const openedAt = monotonic();
  const beat = createHeartbeat({
    ...dependencies,
    url,
    reason: async () => {
      const troubles = isRedisReady() ? (await list()).troubles : [];
      return reasonAgainst({ isRedisReady: isRedisReady(), troubles, proofs: proofs(), withinMs });
    },
    isStarting: () => monotonic() - openedAt < withinMs,
    // Without Redis nobody knows of the others.
    isOurs: async () => !isRedisReady() || store.watchdog.takesHeartbeat(dependencies.daemonId, TURN_PART * everyMs),
    signal: stopping,
    everyMs,
  });
  return { everyMs, run: beat };
};

export const openWatchdog = (dependencies: OpenWatchdog) => {
  const { config, store, dispatching, log, maintenanceEveryMs: everyMs, now } = dependencies;
  const list = createList(dependencies);
  const detect = openDetectors(dependencies);
  const canaries = new Map<ChannelKind, number>();
  const announce = createWatchdogRound({
    list,
    store: store.watchdog,
    outages: store.outageStore,
    locks: store.locks,
    announce: dispatching.announce,
    destinations: dispatching.operators,
    fallback: dispatching.fallback.destinations,
    afterMs: config.watchdog.after,
    log,
    monotonic,
    now,
  });
  return {
    everyMs,
    onCanary: (kind: ChannelKind): void => void canaries.set(kind, now()),
    round: async (): Promise<void> => {
      await detect();
      await announce();
    },
    heartbeat: openHeartbeat(dependencies, list, proofsOf(dependencies, canaries)),
  };
};
