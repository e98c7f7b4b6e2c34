/** Composes the approval of destinations, and what sends again what failed: both enqueue only where that is allowed. */
import type { Destination } from '../alert.ts';
import { createDestinations } from '../features/approval/destinations.ts';
import { type ApprovalHoldDependencies, createApprovalHold, createQueuedOrHeld } from '../features/approval/hold.ts';
import { createApprovalPolicy, trustedBy } from '../features/approval/policy.ts';
import { createEnable, type Enable } from '../features/broken-destinations/notifier.ts';
import { createRetry } from '../features/replay/retry.ts';
import type { RouteReview } from '../features/routes/review.ts';
import { createRouting, fallbackRoutes, routeSettings } from '../features/routes/routes.ts';
import type { Catalog } from '../poll/catalog.ts';
import type { Shared } from './context.ts';

interface OpenApproval extends Pick<Shared, 'config' | 'store' | 'now'> {
  /** Trusted besides the destinations that the config names. */
  trusted?: readonly Destination[];
  onHeld?: ApprovalHoldDependencies['onHeld'];
  onFull?: ApprovalHoldDependencies['onFull'];
}

export const openApproval = ({ config, store, trusted = [], onHeld, onFull, now }: OpenApproval) => {
  const named = trustedBy(config, routeSettings(config));
  return createApprovalHold({
    ...config.destinations,
    ...store,
    trusted: new Set([...named, ...trusted.map(({ id }) => id)]),
    deadLetters: store.dead,
    enqueue: store.queues.enqueue,
    ...(onHeld ? { onHeld } : {}),
    ...(onFull ? { onFull } : {}),
    now,
  });
};

/** What `tocsin destinations` works with. */
export const openDestinations = ({ config, store }: Pick<Shared, 'config' | 'store'>, review: RouteReview) => {
  const settings = routeSettings(config);
  const trusted = trustedBy(config, settings);
  const nobody: ReadonlySet<string> = new Set();
  return createDestinations({
    held: store.held,
    names: store.names.all,
    listDisabled: store.disabled.list,
    approval: openApproval({ config, store, now: Date.now }),
    fallback: fallbackRoutes(config, settings).destinations,
    review,
    isTrusted: ({ id }) => trusted.has(id),
    isAllowed: createApprovalPolicy({ gate: true, allow: config.destinations.allow, trusted: nobody })(nobody),
  });
};

interface OpenRetry extends Pick<Shared, 'config' | 'store'> {
  catalog: Pick<Catalog, 'protocolOf'>;
  /** Named by hand, so that nobody has to approve them. Default: none. */
  trusted?: readonly Destination[];
  onHeld?(destination: Destination): void;
}

export const openEnable = ({ disabled, circuits, outageStore }: Shared['store']): Enable =>
  createEnable({ disabled, circuits, outages: outageStore, now: Date.now });

/** What `tocsin dead retry`, `replay` and `destinations enable` send again with. */
export const openRetry = ({ config, store, catalog, trusted = [], onHeld }: OpenRetry) => {
  const settings = routeSettings(config);
  const { routesOf } = createRouting({ config, settings, protocolOf: catalog.protocolOf });
  const tellHeld = async (destination: Destination) => onHeld?.(destination);
  const { enqueueApproved } = openApproval({ config, store, trusted, onHeld: tellHeld, now: Date.now });
  return createRetry({
    corrections: store.corrections,
    deadLetters: store.dead,
    enqueueApproved,
    queuedOrHeld: createQueuedOrHeld(store.jobScan, store.held),
    enable: openEnable(store),
    routesOf,
    isConfigured: (kind) => settings.configured.has(kind),
    workers: store.queues.workers,
  });
};
