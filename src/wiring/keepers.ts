/** What keeps deliveries back, put together: mutes and the gate, and the turn that ends both. */
import type { Logger } from 'pino';
import type { Destination } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { RouteSettings } from '../dispatch/routes.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Fallback } from './fallback.ts';
import { createGatekeeper } from './gatekeeper.ts';
import { createHeldNews } from './held-news.ts';
import { createMuteEnds } from './mute-ends.ts';
import { createMuting } from './muting.ts';
import { createRestraints } from './restraints.ts';
import type { Store } from './store.ts';

export interface KeeperDependencies {
  config: Config;
  settings: RouteSettings;
  store: Store;
  metrics: Metrics;
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  log: Logger;
  now(): number;
}

export const createKeepers = ({ config, settings, store, metrics, fallback, log, now }: KeeperDependencies) => {
  const gatekeeper = createGatekeeper({
    config,
    settings,
    store,
    onHeld: createHeldNews({ store, fallback, log }),
    now,
  });
  const onMuted = (muted: readonly Destination[]): void => {
    for (const { kind, id } of muted) metrics.muted.inc({ kind, destination: id });
  };
  const muting = createMuting({ config, mutes: store.mutes, onMuted, now });
  const endMutes = createMuteEnds({
    store,
    muting,
    fallback: fallback.destinations,
    isOpen: gatekeeper.isOpen,
    isConfigured: ({ kind }) => settings.configured.has(kind),
    log,
    now,
  });

  return {
    restrain: createRestraints({ muting, gatekeeper }),
    openOf: gatekeeper.openOf,
    /** Tells of mutes that have ended, and sends what is held for nothing. Never throws. */
    release: async (): Promise<void> => {
      try {
        await endMutes();
        await gatekeeper.releaseOpen();
      } catch (error) {
        log.error({ err: error }, 'ending mutes and sending what was held failed; trying again');
      }
    },
  };
};
