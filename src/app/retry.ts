/** Composes what `tocsin dead retry`, `replay` and `destinations enable` send again with. */
import type { Destination } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import { createQueuedOrHeld } from '../features/approval/queued-or-held.ts';
import { createEnable, type Enable } from '../features/outages/enable.ts';
import { createRetry } from '../features/replay/retry.ts';
import { createRouting, routeSettings } from '../features/routes/routes.ts';
import type { Catalog } from '../poll/catalog.ts';
import { openApproval } from './approval.ts';
import type { Store } from './store.ts';

export interface OpenRetry {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocolOf'>;
  /** Named by hand, so that nobody has to approve them. Default: none. */
  trusted?: readonly Destination[];
  /** Called for a destination whose alerts are held until it is approved. */
  onHeld?(destination: Destination): void;
}

export const openEnable = ({ disabled, circuits, outageStore }: Store): Enable =>
  createEnable({ disabled, circuits, outages: outageStore, now: Date.now });

export const openRetry = ({ config, store, catalog, trusted = [], onHeld }: OpenRetry) => {
  const settings = routeSettings(config);
  const { routesOf } = createRouting({ config, settings, protocolOf: catalog.protocolOf });
  const { enqueueApproved } = openApproval({
    config,
    settings,
    store,
    trusted,
    onHeld: async (destination) => onHeld?.(destination),
    now: Date.now,
  });
  return createRetry({
    corrections: store.corrections,
    deadLetters: store.dead,
    enqueueApproved,
    queuedOrHeld: createQueuedOrHeld(store),
    enable: openEnable(store),
    routesOf,
    isConfigured: (kind) => settings.configured.has(kind),
    workers: store.queues.workers,
  });
};
