/**
 * Notices when work has stopped although everything looks well: a canary job has to come through every queue, polls have to
 * go on, and the maintenance loop has to run. A worker that has fallen silent is started anew. A loop that stays stuck ends
 * the daemon, so that its supervisor starts it again; what is queued stays queued.
 */
import type { Logger } from 'pino';
import type { ChannelKind } from '../alert.ts';
import { createRareWarning } from '../rarely.ts';
import type { Health } from './health.ts';
import type { LoopDelay } from './loop-delay.ts';
import type { Troubles } from './troubles.ts';

// Notices from inside what `/livez` shows outside: a loop that has stopped. An event loop that is blocked
// for good cannot notice itself; then `/livez` gives no answer, and the supervisor acts.

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

export interface WatchdogSettings {
  probes: readonly Probe[];
  /** Once for each time that a probe falls silent. */
  onStuck(stuck: Stuck): void;
  /** How late this round came: for this long the event loop was busy, or the machine slept. */
  onLag?(lagMs: number): void;
  now?(): number;
  /** Default 1000. */
  everyMs?: number;
}

export interface Watchdog {
  /** May be called again. */
  stop(): void;
}

/**
 * Looks at once every `everyMs`. After a round that came late itself, every bound begins again: while the machine slept
 * nobody could beat, and all the loops would look stuck in the moment of waking.
 */
export const createWatchdog = (settings: WatchdogSettings): Watchdog => {
  const { probes, onStuck, onLag = () => {}, now = Date.now, everyMs = 1000 } = settings;
  const stuck = new Set<string>();
  let dueAt = now() + everyMs;
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
    dueAt = now() + everyMs;
    onLag(lagMs);
    if (lagMs > everyMs) fairSince = now();
    for (const probe of probes) look(probe);
  };

  const timer = setInterval(round, everyMs).unref();
  return { stop: () => clearInterval(timer) };
};

export interface LoopWatchDependencies {
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
  /** Starts the worker of this kind anew. */
  rebuild(kind: ChannelKind): Promise<void>;
  health: Pick<Health, 'watchLoop' | 'beat' | 'lastBeat'>;
  log: Pick<Logger, 'error' | 'warn'>;
  /** How long the event loop was blocked. */
  delay: Pick<LoopDelay, 'worstMs'>;
  troubles: Pick<Troubles, 'report' | 'over'>;
  /** Called with each canary that has come through. */
  onCanary?(kind: ChannelKind): void;
  /** Called once for each loop that has stopped, with a sentence. */
  onStuck(reason: string): void;
  /** Default `CANARY_LATE_MS`. */
  canaryLateMs?: number;
  /** Default `LEAST_BOUND_MS`. */
  leastBoundMs?: number;
  /** Default `END_MS`. */
  endMs?: number;
  /** How often it is looked whether the event loop was blocked. Default `LOOK_AT_DELAY_MS`. */
  delayEveryMs?: number;
  now(): number;
}

/** Three rounds of the maintenance loop. A loop that has not turned for longer fails `/livez`. */
export const LEAST_BOUND_MS = 45_000;
/** A loop that has not turned for so long ends the daemon: by then a worker that was started anew has had its canary. */
export const END_MS = 180_000;
/** Canaries that other daemons take prove nothing of this one's worker; of so many it takes one, if it works. */
const ALONE_MS = 600_000;
const LAG_TO_LOG_MS = 2000;
/** Nothing of ours blocks the event loop for longer, whatever comes; see `slices.ts`. */
const BLOCKED_TO_LOG_MS = 50;
export const LOOK_AT_DELAY_MS = 10_000;
/** What is sent then comes late. */
const BLOCKED_TO_REPORT_MS = 500;
/** Four rounds, in each of which one is sent. */
export const CANARY_LATE_MS = 60_000;
/** The maintenance loop, under the name that `/livez` has always shown. */
const MAINTENANCE = 'tend';
/** The polls: they go on, or none is due. */
export const POLL_LOOP = 'poll';

const loopOf = (kind: ChannelKind): string => `deliver:${kind}`;

const boundsOf = (
  { kinds, pollBoundMs }: Pick<LoopWatchDependencies, 'kinds' | 'pollBoundMs'>,
  leastBoundMs: number,
): [string, number][] => [
  [MAINTENANCE, leastBoundMs],
  [POLL_LOOP, Math.max(leastBoundMs, pollBoundMs)],
  ...kinds.map(({ kind, boundMs }): [string, number] => [loopOf(kind), Math.max(leastBoundMs, boundMs)]),
];

const seconds = (ms: number): number => Math.round(ms / 1000);

/** Starts workers anew that have fallen silent; each once at a time. */
const createRebuilds = ({ rebuild, log }: Pick<LoopWatchDependencies, 'rebuild' | 'log'>) => {
  const running = new Set<ChannelKind>();
  return (kind: ChannelKind, silentMs: number): void => {
    if (running.has(kind)) return;
    running.add(kind);
    log.error({ kind, silentSeconds: seconds(silentMs) }, 'a worker takes no jobs; it is started anew');
    rebuild(kind)
      .catch((error: unknown) => log.error({ kind, err: error }, 'the worker could not be started anew'))
      .finally(() => running.delete(kind));
  };
};

type Delayed = Pick<LoopWatchDependencies, 'log' | 'delay' | 'troubles' | 'delayEveryMs' | 'now'>;

const watchDelay = ({ log, delay, troubles, delayEveryMs = LOOK_AT_DELAY_MS, now }: Delayed): NodeJS.Timeout => {
  const tellBlocked = createRareWarning({ log, text: 'the event loop was blocked', now });
  // The first look is at the start, which is busy by itself.
  let isFirst = true;
  return setInterval(() => {
    const worstMs = delay.worstMs();
    if (!isFirst && worstMs > BLOCKED_TO_LOG_MS) tellBlocked({ worstMs });
    if (isFirst || worstMs <= BLOCKED_TO_REPORT_MS) troubles.over('loop');
    else
      troubles.report('loop', `the daemon stands still for ${worstMs} ms at a time, and reads and sends nothing then`);
    isFirst = false;
  }, delayEveryMs).unref();
};

export const createLoopWatch = (dependencies: LoopWatchDependencies) => {
  const { kinds, isRedisReady, sendCanary, takenAt, health, log, troubles, onCanary, onStuck, now } = dependencies;
  const { canaryLateMs = CANARY_LATE_MS, leastBoundMs = LEAST_BOUND_MS, endMs = END_MS } = dependencies;
  const bounds = boundsOf(dependencies, leastBoundMs);
  for (const [loop, boundMs] of bounds) health.watchLoop(loop, boundMs);
  const seen = new Map<ChannelKind, number>();
  const rebuild = createRebuilds(dependencies);

  const lastBeat = (loop: string) => () => {
    if (!isRedisReady()) health.beat(loop);
    return health.lastBeat(loop) ?? now();
  };

  const probe = (name: string, boundMs: number): Probe => ({ name, boundMs, lastBeat: lastBeat(name) });
  const onSilent = (name: string, silentMs: number): void => {
    const silent = kinds.find(({ kind }) => loopOf(kind) === name);
    if (silent !== undefined) rebuild(silent.kind, silentMs);
  };
  const silence = createWatchdog({
    probes: bounds.map(([name, boundMs]) => probe(name, boundMs)),
    onStuck: ({ name, silentMs }) => onSilent(name, silentMs),
    onLag: (lagMs) => {
      if (lagMs > LAG_TO_LOG_MS) log.warn({ lagMs }, 'the event loop was late');
    },
    now,
  });
  const end = createWatchdog({
    probes: bounds.map(([name, boundMs]) => probe(name, endMs + boundMs - leastBoundMs)),
    onStuck: ({ name, silentMs }) => onStuck(`the loop '${name}' has not run for ${seconds(silentMs)} s`),
    now,
  });
  const delayTimer = watchDelay(dependencies);

  /** Since when each worker takes nothing while others do, as far as this daemon knows. */
  const aloneSince = new Map<ChannelKind, number>();
  const lookAtOwn = (kind: ChannelKind): void => {
    const since = Math.max(takenAt(kind), aloneSince.get(kind) ?? now());
    aloneSince.set(kind, since);
    if (now() - since <= ALONE_MS) return;
    rebuild(kind, now() - since);
    aloneSince.set(kind, now());
  };

  const lookAtQueue = (kind: ChannelKind, boundMs: number): void => {
    const isLate = now() - lastBeat(loopOf(kind))() > Math.max(canaryLateMs, boundMs);
    if (isLate) troubles.report('queue', `no job comes through the queue of ${kind}`, { of: kind });
    else troubles.over('queue', kind);
  };

  const lookAt = async ({ kind, boundMs }: (typeof kinds)[number]): Promise<void> => {
    const passedAt = await sendCanary(kind).catch((error: unknown) => {
      // Redis refuses it: this says nothing of the worker.
      health.beat(loopOf(kind));
      throw error;
    });
    if (passedAt > (seen.get(kind) ?? 0)) {
      health.beat(loopOf(kind));
      // The first that is seen may be as old as the last daemon.
      if (seen.has(kind)) onCanary?.(kind);
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
