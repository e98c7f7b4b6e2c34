/**
 * Notices when work has stopped although everything looks well: a canary job has to come through every queue, and the
 * maintenance loop has to run. A loop that is stuck for good ends the daemon, so that its supervisor starts it again;
 * what is queued stays queued.
 */
import type { Logger } from 'pino';
import type { ChannelKind } from '../alert.ts';
import type { Health } from './health.ts';
import type { LoopDelay } from './loop-delay.ts';
import { createRareWarning } from './rare-warning.ts';
import { createWatchdog } from './watchdog.ts';

export interface LoopWatchDependencies {
  kinds: readonly ChannelKind[];
  /** While Redis is away no loop can run, and a restart would not bring it back. */
  isRedisReady(): boolean;
  /** Queues a job that does nothing; gives when the last one came through, in epoch milliseconds, 0 for never. */
  sendCanary(kind: ChannelKind): Promise<number>;
  health: Pick<Health, 'watchLoop' | 'beat' | 'lastBeat'>;
  log: Pick<Logger, 'error' | 'warn'>;
  /** How long the event loop was blocked. */
  delay: Pick<LoopDelay, 'worstMs'>;
  /** Called once for each loop that has stopped, with a sentence. */
  onStuck(reason: string): void;
  now(): number;
}

/** Long enough for a Redis that comes back and for a send that takes its whole timeout in every place. */
const BOUND_MS = 180_000;
const LAG_TO_LOG_MS = 2000;
/** Nothing of ours blocks the event loop for longer, whatever comes; see `slices.ts`. */
const BLOCKED_TO_LOG_MS = 50;
const LOOK_AT_DELAY_MS = 10_000;
/** The maintenance loop, under the name that `/livez` has always shown. */
const MAINTENANCE = 'tend';

export const createLoopWatch = (dependencies: LoopWatchDependencies) => {
  const { kinds, isRedisReady, sendCanary, health, log, delay, onStuck, now } = dependencies;
  const loopOf = (kind: ChannelKind): string => `deliver:${kind}`;
  const loops = [MAINTENANCE, ...kinds.map(loopOf)];
  for (const loop of loops) health.watchLoop(loop, BOUND_MS);
  const seen = new Map<ChannelKind, number>();

  const lastBeat = (loop: string) => () => {
    if (!isRedisReady()) health.beat(loop);
    return health.lastBeat(loop) ?? now();
  };

  const watchdog = createWatchdog({
    probes: loops.map((name) => ({ name, boundMs: BOUND_MS, lastBeat: lastBeat(name) })),
    onStuck: ({ name, silentMs }) => onStuck(`the loop '${name}' has not run for ${Math.round(silentMs / 1000)} s`),
    onLag: (lagMs) => {
      if (lagMs > LAG_TO_LOG_MS) log.warn({ lagMs }, 'the event loop was late');
    },
    now,
  });

  const tellBlocked = createRareWarning({ log, text: 'the event loop was blocked', now });
  // The first look is at the start, which is busy by itself.
  let isFirst = true;
  const lookAtDelay = setInterval(() => {
    const worstMs = delay.worstMs();
    if (!isFirst && worstMs > BLOCKED_TO_LOG_MS) tellBlocked({ worstMs });
    isFirst = false;
  }, LOOK_AT_DELAY_MS).unref();

  return {
    sendCanaries: async (): Promise<void> => {
      health.beat(MAINTENANCE);
      for (const kind of kinds) {
        const passedAt = await sendCanary(kind);
        if (passedAt > (seen.get(kind) ?? 0)) health.beat(loopOf(kind));
        seen.set(kind, passedAt);
      }
    },
    stop: (): void => {
      clearInterval(lookAtDelay);
      watchdog.stop();
    },
  };
};
