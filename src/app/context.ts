/** What the parts of a daemon are opened with: it is built once and handed on whole, and a part takes what it needs. */
import type { Logger } from 'pino';
import type { openConfiguredChannels } from '../channels/open.ts';
import { LASTING_MS } from '../condition.ts';
import { collectSecrets } from '../config/remarks.ts';
import type { Config } from '../config/schema.ts';
import { HOLD_BOUNDS } from '../features/approval/store.ts';
import type { DaemonReport } from '../features/conditions/daemons.ts';
import type { Standing } from '../features/standby/standing.ts';
import { MOST_DEAD } from '../ledger/dead-letters.ts';
import type { OnNewerJob } from '../ops/checks.ts';
import type { Conditions } from '../ops/conditions.ts';
import type { FailureLog } from '../ops/failure-log.ts';
import type { Health } from '../ops/health.ts';
import { createLogger } from '../ops/log.ts';
import { createMetrics, type Metrics } from '../ops/metrics.ts';
import type { Tracing } from '../ops/tracing.ts';
import { createScrubber } from '../secret.ts';
import { build } from '../version.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { OpenRedis } from './redis.ts';
import { createStore, type openStore, type Store } from './store.ts';

/** Bounds and waits that no config key sets. A test hands a daemon smaller ones. */
export const LIMITS = {
  /** Dead letters that are kept. */
  dead: MOST_DEAD,
  /** What is held for destinations that nobody has approved. */
  held: HOLD_BOUNDS,
  /** A trouble that may pass by itself needs somebody when it has lasted for so long. */
  lastingMs: LASTING_MS,
  /** How long the maintenance loop pauses after each round. */
  maintenanceEveryMs: 15_000,
  /** No job has come through a queue for so long, or for as long as its canary may take: one is sent in every second round. */
  canaryLateMs: 60_000,
  /** A loop may stand still for so long, or for three of its intervals; longer fails `/livez`. */
  loopBoundMs: 45_000,
  /** A loop that stands still for so long ends the daemon: by then a worker that was restarted would have asked for jobs. */
  loopEndMs: 180_000,
  /** How often it is looked whether the event loop was blocked. */
  delayEveryMs: 10_000,
  /** How often Redis and the disk are looked at. */
  detectEveryMs: 60_000,
  /** Jobs of a newer version come up every few seconds; they are gone when none has for so long. */
  newerJobsGoneMs: 60_000,
  /** How often a protocol is asked for its newest inspection, where there are few protocols. */
  silenceProbeMs: 600_000,
  /** The protocol that an inspection names has so long to read it, before those are told for whom it was listed. */
  misfitWaitMs: 60_000,
  /** What was odd of a protocol's inspections is over when nothing was seen for so long. */
  misfitLastsMs: 3_600_000,
  /** How often the config file is looked at; what is the same at two looks is read. */
  configLookMs: 2000,
  /** A daemon with another config waits for so long until it works in place of those that are gone. */
  configVacantMs: 30_000,
  /** Daemons have different configs while one is rolled out; when it lasts for so long, somebody has to know. */
  configDiffersMs: 300_000,
  /** A changed config file comes into force within this time, or somebody has to know. */
  configTakenMs: 60_000,
};

export type Limits = typeof LIMITS;

/** What commands have as well. */
export interface Shared {
  config: Config;
  store: Store;
  metrics: Metrics;
  log: Logger;
  scrub(text: string): string;
  /** Where the traces of alerts go. Absent: nowhere. */
  tracing?: Tracing | undefined;
  now(): number;
}

/** What outlives every config: Redis and what is kept there, the counters, the address of the ops endpoints. */
export interface Host extends Omit<Shared, 'config'>, Awaited<ReturnType<typeof openStore>> {
  limits: Limits;
  /** Of this run of the daemon, under which it reports; and since when it runs. */
  daemonId: string;
  startedAt: number;
  uptimeMs(): number;
  reportConfig(): Pick<DaemonReport, 'config' | 'reload'>;
  /** What is found wrong whatever the config says. */
  hostConditions: Conditions;
}

/** How long what runs may go on when a generation ends, in milliseconds. */
export interface Grace {
  /** For sends. Then they are aborted, and wait in the queue. */
  sends: number;
  /** For polls, which go on from their cursors. */
  polls: number;
  /** For work on a timer, which is aborted, and comes again. */
  turns: number;
  /** Bound of each step of the stop. */
  step: number;
}

/** One generation: everything that its config decides. */
export interface Context extends Host, Pick<Awaited<ReturnType<typeof openConfiguredChannels>>, 'channels' | 'post'> {
  config: Config;
  /** Of this generation, as others know it that share its work. */
  id: string;
  health: Health;
  failureLog: FailureLog;
  onNewerJob: OnNewerJob;
  /** What is found wrong under this config; it ends with it. */
  conditions: Conditions;
  /** Whether this config is in force. */
  standing: Standing;
  lifecycle: Lifecycle;
  grace: Grace;
  stopping: AbortSignal;
  /** The generation cannot go on. */
  fail(reason: string): void;
}

export const monotonic = (): number => performance.now();

/** For commands that do what a daemon does, in the Redis of the daemons. */
export const commandContext = (config: Config, redis: OpenRedis, level: 'silent' | 'fatal'): Shared => {
  const scrub = createScrubber(collectSecrets(config));
  const now = Date.now;
  const store = createStore({ redis: redis.redis, prefix: redis.prefix, onError: () => {}, now });
  return { config, store, metrics: createMetrics(build()), log: createLogger({ level, scrub }), scrub, now };
};

export const onTurnFailed =
  ({ log }: Pick<Shared, 'log'>) =>
  (turn: string, error: unknown): void =>
    log.error({ turn, err: error }, 'work on a timer failed; trying again');
