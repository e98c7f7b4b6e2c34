/**
 * Notices when work has stopped although everything looks well: workers have to ask for jobs, polls have to go on, and the
 * maintenance loop has to run. A worker that has fallen silent is restarted. A loop that stays stuck ends the daemon, so that
 * its supervisor starts it again; what is queued stays queued. And a canary job has to come through every queue, as one that
 * somebody has paused gives a worker nothing, however often it asks.
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

/** A canary is sixty Redis commands, and to look whether it came is one. */
const CANARY_EACH_ROUNDS = 2;
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
  /** `boundMs`: how long a worker, or a canary, may wait for a place, if that is more than `loopBoundMs`. */
  kinds: readonly { kind: ChannelKind; boundMs: number }[];
  /** Three poll intervals. */
  pollBoundMs: number;
  /** While Redis is away no loop can run, and a restart would not bring it back. */
  isRedisReady(): boolean;
  /** Queues a job that does nothing. */
  sendCanary(kind: ChannelKind): Promise<void>;
  /** When any daemon last took one, in epoch milliseconds; 0 for never. */
  canaryAt(kind: ChannelKind): Promise<number>;
  rebuild(kind: ChannelKind): Promise<void>;
  health: Health;
  log: Pick<Logger, 'error' | 'warn'>;
  /** How long the event loop was blocked. */
  delay: Pick<LoopDelay, 'worstMs'>;
  conditions: Pick<Conditions, 'settle'>;
  /** Called once for each loop that has stopped, with a sentence. */
  onStuck(reason: string): void;
  canaryLateMs: number;
  loopBoundMs: number;
  loopEndMs: number;
  delayEveryMs: number;
  now(): number;
}

/** The worker of this kind, which beats whenever it asks for a job or begins one. */
export const loopOf = (kind: ChannelKind): string => `deliver:${kind}`;

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
  const { log, delay, conditions, delayEveryMs, now } = dependencies;
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
  const { kinds, isRedisReady, sendCanary, canaryAt, health, log, conditions, onStuck, now } = dependencies;
  const { pollBoundMs, canaryLateMs, loopBoundMs, loopEndMs } = dependencies;
  const bounds: [name: string, boundMs: number][] = [
    [MAINTENANCE, loopBoundMs],
    [POLL_LOOP, Math.max(loopBoundMs, pollBoundMs)],
    ...kinds.map(({ kind, boundMs }): [string, number] => [loopOf(kind), Math.max(loopBoundMs, boundMs)]),
  ];
  for (const [loop, boundMs] of bounds) health.watchLoop(loop, boundMs);
  /** When each queue's last canary came through, and since when that is known. */
  const passed = new Map<ChannelKind, { at: number; since: number }>();
  const rebuild = createRebuilds(dependencies);
  let rounds = 0;
  /** Until then no canary could come through: Redis was away or stood still, the machine slept, or the clock was set. */
  let excusedUntil = now();

  const lastBeat = (loop: string) => () => {
    if (!isRedisReady()) {
      health.beat(loop, true);
      excusedUntil = now();
    }
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
      excusedUntil = now();
    },
    now,
  });
  const end = createSilenceWatch({
    probes: probes(loopEndMs - loopBoundMs),
    onStuck: ({ name, silentMs }) => onStuck(`the loop '${name}' has not run for ${seconds(silentMs)} s`),
    now,
  });
  const delayTimer = watchDelay(dependencies);

  const lookAt = async ({ kind, boundMs }: (typeof kinds)[number]): Promise<void> => {
    const askedAt = now();
    const at = await canaryAt(kind);
    // It stood still, and no canary moved.
    if (now() - askedAt > LAG_TO_LOG_MS) excusedUntil = now();
    const before = passed.get(kind);
    const since = before?.at === at ? before.since : now();
    passed.set(kind, { at, since });
    const isLate = now() - Math.max(since, excusedUntil) > Math.max(canaryLateMs, boundMs);
    conditions.settle('queue', isLate ? `no job comes through the queue of ${kind}` : undefined, { of: kind });
    if (rounds % CANARY_EACH_ROUNDS === 0) await sendCanary(kind);
  };

  return {
    turned: (): void => health.beat(MAINTENANCE),
    /** To be called in every round of that loop. Throws where Redis refuses a canary. */
    lookAtCanaries: async (): Promise<void> => {
      await Promise.all(kinds.map(lookAt)).catch((error: unknown) => {
        // This says nothing of the queues.
        excusedUntil = now();
        throw error;
      });
      rounds += 1;
    },
    stop: (): void => {
      clearInterval(delayTimer);
      silence.stop();
      end.stop();
    },
  };
};
