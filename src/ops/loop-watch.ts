/**
 * Notices when work has stopped although everything looks well: a canary job has to come through every queue, and the
 * loop that looks after the daemon has to turn. What is stuck for good ends the daemon, so that its supervisor starts it
 * again; nothing that waits is lost by that.
 */
import type { Logger } from 'pino';
import type { ChannelKind } from '../alert.ts';
import type { Store } from '../app/store.ts';
import type { Health } from './health.ts';
import { createWatchdog } from './watchdog.ts';

export interface LoopWatchDependencies {
  kinds: readonly ChannelKind[];
  store: Store;
  health: Health;
  log: Pick<Logger, 'error' | 'warn'>;
  onStuck(reason: string): void;
  now(): number;
}

/** Long enough for a Redis that comes back and for a send that takes its whole timeout in every place. */
const BOUND_MS = 180_000;
const LAG_WORTH_SAYING_MS = 2000;
const TEND = 'tend';

export const createLoopWatch = ({ kinds, store, health, log, onStuck, now }: LoopWatchDependencies) => {
  const loopOf = (kind: ChannelKind): string => `deliver:${kind}`;
  const loops = [TEND, ...kinds.map(loopOf)];
  for (const loop of loops) health.watchLoop(loop, BOUND_MS);
  const seen = new Map<ChannelKind, number>();

  /** While Redis is away nothing can turn, and a restart would not bring it back. */
  const lastBeat = (loop: string) => () => {
    if (store.redis.status !== 'ready') health.beat(loop);
    return health.lastBeat(loop) ?? now();
  };

  const watchdog = createWatchdog({
    probes: loops.map((name) => ({ name, boundMs: BOUND_MS, lastBeat: lastBeat(name) })),
    onStuck: ({ name, silentMs }) => onStuck(`the loop '${name}' has not turned for ${Math.round(silentMs / 1000)} s`),
    onLag: (lagMs) => {
      if (lagMs > LAG_WORTH_SAYING_MS) log.warn({ lagMs }, 'the event loop was late');
    },
    now,
  });

  return {
    sendCanaries: async (): Promise<void> => {
      health.beat(TEND);
      for (const kind of kinds) {
        const passedAt = await store.queues.sendCanary(kind);
        if (passedAt > (seen.get(kind) ?? 0)) health.beat(loopOf(kind));
        seen.set(kind, passedAt);
      }
    },
    stop: watchdog.stop,
  };
};
