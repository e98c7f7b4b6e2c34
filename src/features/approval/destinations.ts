/** What `tocsin destinations` works with: every destination that is known, and how it stands with the gate. */
import type { Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { UsageError } from '../../errors.ts';
import type { Target } from '../../ledger/record.ts';
import { fallbackRoutes } from '../fallback/fallback.ts';
import type { RouteReview } from '../routes/review.ts';
import { routeSettings } from '../routes/routes.ts';
import { createApprovalHold } from './hold.ts';
import { createApprovalPolicy, trustedBy } from './policy.ts';

/**
 * `config`: named by the config itself. `allowed`: by `destinations.allow`. `revoked`: to be approved by its name alone.
 * `held`: something waits for it.
 */
export type GateState = 'config' | 'allowed' | 'approved' | 'revoked' | 'held' | 'new';

export interface KnownDestination extends Target {
  state: GateState;
  /** Names of those that lead to it; none for the fallback, and for what is listed no more. */
  protocols: readonly string[];
  /** Alerts that wait for its approval. */
  waiting: number;
  /** ISO 8601: approved, revoked or held since. */
  since?: string;
  /** Present where its receiver wants nothing more, and nobody has enabled it since. */
  disabled?: true;
}

export interface DestinationsDependencies {
  config: Config;
  store: Store;
  review: Pick<RouteReview, 'destinations' | 'protocolsOf'>;
}

const NOBODY: ReadonlySet<string> = new Set();

export const createDestinations = ({ config, store, review }: DestinationsDependencies) => {
  const settings = routeSettings(config);
  const { allow } = config.destinations;
  const { held } = store;
  const approvalHold = createApprovalHold({ config, settings, store, now: Date.now });
  const trusted = trustedBy(config.fallback?.channels ?? [], settings);
  const isAllowed = createApprovalPolicy({ gate: true, allow, trusted: NOBODY })(NOBODY);

  const list = async (): Promise<KnownDestination[]> => {
    const [heldNow, approvals, revocations, disabled] = await Promise.all([
      held.list(),
      held.approvals(),
      held.revocations(),
      store.disabled.list(),
    ]);
    const waits = new Map(heldNow.map((one) => [one.destination.id, one]));
    const decided = new Map([
      ...revocations.map((one) => [one.id, { ...one, state: 'revoked' as GateState }] as const),
      ...approvals.map((one) => [one.id, { ...one, state: 'approved' as GateState }] as const),
    ]);
    const protocolsOf = review.protocolsOf();
    const addressed = [
      ...review.destinations(),
      ...fallbackRoutes(config, settings).destinations,
      ...heldNow.map(({ destination }) => destination),
    ];

    const stateOf = (destination: Destination): GateState => {
      const { id } = destination;
      if (trusted.has(id)) return 'config';
      if (isAllowed(destination)) return 'allowed';
      return decided.get(id)?.state ?? (waits.has(id) ? 'held' : 'new');
    };

    const known = new Map<string, KnownDestination>();
    // A decision tells no address: one on what is listed no more may still be changed.
    for (const { at: since, ...target } of decided.values()) {
      known.set(target.id, { ...target, protocols: [], waiting: 0, since });
    }
    for (const destination of addressed) {
      const { id, kind, label } = destination;
      const since = decided.get(id)?.at ?? waits.get(id)?.since;
      known.set(id, {
        id,
        kind,
        label,
        state: stateOf(destination),
        protocols: protocolsOf.get(id) ?? [],
        waiting: waits.get(id)?.waiting ?? 0,
        ...(since ? { since } : {}),
      });
    }
    for (const { id } of disabled) {
      const one = known.get(id);
      if (one) known.set(id, { ...one, disabled: true });
    }
    return [...known.values()].sort((a, b) => a.kind.localeCompare(b.kind) || a.label.localeCompare(b.label));
  };

  /** By id or label. Throws a `UsageError` where the name names none, or several. */
  const find = async (name: string): Promise<KnownDestination> => {
    const named = (await list()).filter(({ id, label }) => id === name || label === name);
    const [one, ...others] = named;
    if (one === undefined) throw new UsageError(`no destination is known by the name '${name}'`);
    if (others.length === 0) return one;
    throw new UsageError(`several destinations are called '${name}': ${named.map(({ id }) => id).join(', ')}`);
  };

  const heldAt = async (id: string): Promise<Destination | undefined> =>
    (await held.list()).find(({ destination }) => destination.id === id)?.destination;

  return {
    list,
    find,
    /** Gives, in their order, how many alerts of each are on their way now. */
    approve: async (destinations: readonly Target[]): Promise<number[]> => {
      await held.approve(destinations);
      const sent: number[] = [];
      for (const { id } of destinations) {
        const destination = await heldAt(id);
        sent.push(destination ? await approvalHold.release(destination) : 0);
      }
      return sent;
    },
    revoke: held.revoke,
    /** Gives up what waits for it; gives how many alerts. */
    drop: async ({ id }: Target): Promise<number> => {
      const destination = await heldAt(id);
      return destination ? approvalHold.drop(destination) : 0;
    },
  };
};
