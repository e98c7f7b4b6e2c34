/**
 * Notices when work has stopped although everything looks well: a canary job has to come through every queue, polls have to
 * go on, and the maintenance loop has to run. A worker that has fallen silent is restarted. A loop that stays stuck ends the
 * daemon, so that its supervisor starts it again; what is queued stays queued.
 */
import type { Logger } from 'pino';
import type { ChannelKind } from '../alert.ts';
import { createRareWarning } from '../rarely.ts';
import type { Conditions } from './conditions.ts';
import type { Health } from './health.ts';
import type { LoopDelay } from './loop-delay.ts';

interface Probe {
  name: string;
  boundMs: number;
  /** Epoch milliseconds: when it last turned, or when the canary last came through. */
  lastBeat(): number;
}

export interface Stuck {
  name: string;
  /** Since its last beat. */
  silentMs: number;
}

interface SilenceWatchSettings {
  probes: readonly Probe[];
  /** Once for each time that a probe falls silent. */
  onStuck(stuck: Stuck): void;
  /** How late this round came: for this long the event loop was busy, or the machine slept. */
  onLag?(lagMs: number): void;
  now(): number;
}

const LOOK_EVERY_MS = 1000;

/**
 * Looks at its probes once a second. After a round that came late itself, every bound begins again: while the machine slept
 * nobody could beat, and all the loops would look stuck in the moment of waking. An event loop that is blocked for good
 * cannot notice itself; then `/livez` gives no answer, and the supervisor acts.
 */
export const createSilenceWatch = ({ probes, onStuck, onLag = () => {}, now }: SilenceWatchSettings) => {
  const stuck = new Set<string>();
  let dueAt = now() + LOOK_EVERY_MS;
  let fairSince = Number.NEGATIVE_INFINITY;

  const look = ({ name, boundMs, lastBeat }: Probe): void => {
    const beatAt = lastBeat();
    if (now() - Math.max(beatAt, fairSince) <= boundMs) {
      // A beat, not our own lateness, ends the silence.
      if (now() - beatAt <= boundMs) stuck.delete(name);
      return;
    }
    if (stuck.has(name)) return;
    stuck.add(name);
    onStuck({ name, silentMs: now() - beatAt });
  };

  const round = (): void => {
    const lagMs = Math.max(0, now() - dueAt);
    dueAt = now() + LOOK_EVERY_MS;
    onLag(lagMs);
    if (lagMs > LOOK_EVERY_MS) fairSince = now();
    for (const probe of probes) look(probe);
  };

  const timer = setInterval(round, LOOK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
};

export type SilenceWatch = ReturnType<typeof createSilenceWatch>;

/** Three rounds of the maintenance loop. A loop that has not turned for longer fails `/livez`. */
export const LEAST_BOUND_MS = 45_000;
/** A loop that has not turned for so long ends the daemon: by then a worker that was restarted has had its canary. */
export const END_MS = 180_000;
/** Four rounds, in each of which one is sent. */
export const CANARY_LATE_MS = 60_000;
export const LOOK_AT_DELAY_MS = 10_000;
/** Canaries that other daemons take prove nothing of this one's worker; of so many it takes one, if it works. */
const ALONE_MS = 600_000;
const LAG_TO_LOG_MS = 2000;
/** Nothing of ours blocks the event loop for longer, however much there is; see `chunks.ts`. */
const BLOCKED_TO_LOG_MS = 50;
/** What is sent then comes late. */
const BLOCKED_TO_REPORT_MS = 500;
/** The maintenance loop, as `/livez` names it. */
const MAINTENANCE = 'tend';
/** The polls: they go on, or none is due. */
export const POLL_LOOP = 'poll';

interface LoopWatchDependencies {
  /** `boundMs`: how long a canary may take, if that is more than `leastBoundMs`. */
  kinds: readonly { kind: ChannelKind; boundMs: number }[];
  /** Three poll intervals. */
  pollBoundMs: number;
  /** While Redis is away no loop can run, and a restart would not bring it back. */
  isRedisReady(): boolean;
  /** Queues a job that does nothing; gives when the last one came through, in epoch milliseconds, 0 for never. */
  sendCanary(kind: ChannelKind): Promise<number>;
  /** When this daemon's worker last took a job, a canary included, in epoch milliseconds. */
  takenAt(kind: ChannelKind): number;
  /** Restarts the worker of this kind. */
  rebuild(kind: ChannelKind): Promise<void>;
  health: Health;
  log: Pick<Logger, 'error' | 'warn'>;
  /** How long the event loop was blocked. */
  delay: Pick<LoopDelay, 'worstMs'>;
  conditions: Pick<Conditions, 'settle'>;
  /** Called once for each loop that has stopped, with a sentence. */
  onStuck(reason: string): void;
  canaryLateMs?: number;
  leastBoundMs?: number;
  endMs?: number;
  delayEveryMs?: number;
  now(): number;
}

const loopOf = (kind: ChannelKind): string => `deliver:${kind}`;

const seconds = (ms: number): number => Math.round(ms / 1000);

/** Restarts workers that have fallen silent; each once at a time. */
const createRebuilds = ({ rebuild, log }: LoopWatchDependencies) => {
  const running = new Set<ChannelKind>();
  return (kind: ChannelKind, silentMs: number): void => {
    if (running.has(kind)) return;
    running.add(kind);
    log.error({ kind, silentSeconds: seconds(silentMs) }, 'a worker takes no jobs; it is restarted');
    rebuild(kind)
      .catch((error: unknown) => log.error({ kind, err: error }, 'the worker could not be restarted'))
      .finally(() => running.delete(kind));
  };
};

const watchDelay = (dependencies: LoopWatchDependencies): NodeJS.Timeout => {
  const { log, delay, conditions, delayEveryMs = LOOK_AT_DELAY_MS, now } = dependencies;
  const sayBlocked = createRareWarning({ log, text: 'the event loop was blocked', now });
  // The first look is at the start, which is busy by itself.
  let isFirst = true;
  return setInterval(() => {
    const worstMs = delay.worstMs();
    if (!isFirst && worstMs > BLOCKED_TO_LOG_MS) sayBlocked({ worstMs });
    const what = `the daemon stands still for ${worstMs} ms at a time, and reads and sends nothing then`;
    conditions.settle('loop', isFirst || worstMs <= BLOCKED_TO_REPORT_MS ? undefined : what);
    isFirst = false;
  }, delayEveryMs).unref();
};

export const createLoopWatch = (dependencies: LoopWatchDependencies) => {
  const { kinds, pollBoundMs, isRedisReady, sendCanary, takenAt, health, log, conditions, onStuck, now } = dependencies;
  const { canaryLateMs = CANARY_LATE_MS, leastBoundMs = LEAST_BOUND_MS, endMs = END_MS } = dependencies;
  const bounds: [name: string, boundMs: number][] = [
    [MAINTENANCE, leastBoundMs],
    [POLL_LOOP, Math.max(leastBoundMs, pollBoundMs)],
    ...kinds.map(({ kind, boundMs }): [string, number] => [loopOf(kind), Math.max(leastBoundMs, boundMs)]),
  ];
  for (const [loop, boundMs] of bounds) health.watchLoop(loop, boundMs);
  const seen = new Map<ChannelKind, number>();
  const rebuild = createRebuilds(dependencies);
  /** Since when each worker takes nothing while others do, as far as this daemon knows. */
  const aloneSince = new Map<ChannelKind, number>();

  const lastBeat = (loop: string) => () => {
    if (!isRedisReady()) health.beat(loop, true);
    return health.lastBeat(loop) ?? now();
  };

  const probes = (moreMs = 0): Probe[] =>
    bounds.map(([name, boundMs]) => ({ name, boundMs: boundMs + moreMs, lastBeat: lastBeat(name) }));
  const onSilent = (name: string, silentMs: number): void => {
    const silent = kinds.find(({ kind }) => loopOf(kind) === name);
    if (silent !== undefined) rebuild(silent.kind, silentMs);
  };
  const silence = createSilenceWatch({
    probes: probes(),
    onStuck: ({ name, silentMs }) => onSilent(name, silentMs),
    onLag: (lagMs) => {
      if (lagMs <= LAG_TO_LOG_MS) return;
      log.warn({ lagMs }, 'the event loop was late');
      // Nobody could take a job meanwhile; or the clock was set.
      for (const { kind } of kinds) aloneSince.set(kind, now());
    },
    now,
  });
  const end = createSilenceWatch({
    probes: probes(endMs - leastBoundMs),
    onStuck: ({ name, silentMs }) => onStuck(`the loop '${name}' has not run for ${seconds(silentMs)} s`),
    now,
  });
  const delayTimer = watchDelay(dependencies);

  const lookAtOwn = (kind: ChannelKind): void => {
    const since = Math.max(takenAt(kind), aloneSince.get(kind) ?? now());
    aloneSince.set(kind, since);
    if (now() - since <= ALONE_MS) return;
    rebuild(kind, now() - since);
    aloneSince.set(kind, now());
  };

  const lookAtQueue = (kind: ChannelKind, boundMs: number): void => {
    const isLate = now() - lastBeat(loopOf(kind))() > Math.max(canaryLateMs, boundMs);
    conditions.settle('queue', isLate ? `no job comes through the queue of ${kind}` : undefined, { of: kind });
  };

  const lookAt = async ({ kind, boundMs }: (typeof kinds)[number]): Promise<void> => {
    const passedAt = await sendCanary(kind).catch((error: unknown) => {
      // Redis refuses it: this says nothing of the worker.
      health.beat(loopOf(kind), true);
      throw error;
    });
    if (passedAt > (seen.get(kind) ?? 0)) {
      // The first that is seen may be as old as the last daemon.
      health.beat(loopOf(kind), !seen.has(kind));
      lookAtOwn(kind);
    }
    seen.set(kind, passedAt);
    lookAtQueue(kind, boundMs);
  };

  return {
    /** The maintenance loop has turned. */
    turned: (): void => health.beat(MAINTENANCE),
    /** One for each worker. Throws where Redis refuses one. */
    sendCanaries: async (): Promise<void> => {
      await Promise.all(kinds.map(lookAt));
    },
    stop: (): void => {
      clearInterval(delayTimer);
      silence.stop();
      end.stop();
    },
  };
};
