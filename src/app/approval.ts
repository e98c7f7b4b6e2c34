/** Composes the approval of destinations: the policy of the config, the hold, and an enqueue that obeys both. */
import type { Destination } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import { createDestinations } from '../features/approval/destinations.ts';
import { type ApprovalHoldDependencies, createApprovalHold, createEnqueueApproved } from '../features/approval/hold.ts';
import { createApprovalPolicy, trustedBy } from '../features/approval/policy.ts';
import type { RouteReview } from '../features/routes/review.ts';
import { fallbackRoutes, routeSettings } from '../features/routes/routes.ts';
import type { RouteSettings } from '../features/routes/rules.ts';
import type { Store } from './store.ts';

export interface OpenApproval {
  config: Pick<Config, 'destinations' | 'fallback' | 'watchdog'>;
  settings: RouteSettings;
  store: Pick<Store, 'held' | 'ledger' | 'dead' | 'queues' | 'locks'>;
  /** Trusted besides the destinations that the config names. */
  trusted?: readonly Destination[];
  onHeld?: ApprovalHoldDependencies['onHeld'];
  onFull?: ApprovalHoldDependencies['onFull'];
  now(): number;
}

/** Entries of channels that the operator's own config names. */
const namedIn = ({ fallback, watchdog }: Pick<Config, 'fallback' | 'watchdog'>) => [
  ...(fallback?.channels ?? []),
  ...(watchdog.channels ?? []),
];

export const openApproval = ({ config, settings, store, trusted = [], onHeld, onFull, now }: OpenApproval) => {
  const { gate, allow } = config.destinations;
  const named = trustedBy(namedIn(config), settings);
  const dependencies: ApprovalHoldDependencies = {
    isGateOn: gate,
    policy: createApprovalPolicy({ gate, allow, trusted: new Set([...named, ...trusted.map(({ id }) => id)]) }),
    held: store.held,
    ledger: store.ledger,
    deadLetters: store.dead,
    enqueue: store.queues.enqueue,
    locks: store.locks,
    ...(onHeld ? { onHeld } : {}),
    ...(onFull ? { onFull } : {}),
    now,
  };
  const approval = createApprovalHold(dependencies);
  return { ...approval, enqueueApproved: createEnqueueApproved({ approval, enqueue: store.queues.enqueue }) };
};

export interface OpenDestinations {
  config: Config;
  store: Store;
  review: Pick<RouteReview, 'destinations' | 'protocolsOf'>;
}

/** What `tocsin destinations` works with. */
export const openDestinations = ({ config, store, review }: OpenDestinations) => {
  const settings = routeSettings(config);
  const trusted = trustedBy(namedIn(config), settings);
  const nobody: ReadonlySet<string> = new Set();
  return createDestinations({
    held: store.held,
    names: store.names.all,
    listDisabled: store.disabled.list,
    approval: openApproval({ config, settings, store, now: Date.now }),
    fallback: fallbackRoutes(config, settings).destinations,
    review,
    isTrusted: ({ id }) => trusted.has(id),
    isAllowed: createApprovalPolicy({ gate: true, allow: config.destinations.allow, trusted: nobody })(nobody),
  });
};
