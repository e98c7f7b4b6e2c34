/** Every destination that is known, whether it is approved, and the decisions that people make on it. */
import type { Destination } from '../../alert.ts';
import { didYouMean } from '../../config/problems.ts';
import type { DisabledDestination } from '../../deliver/destinations.ts';
import { UsageError } from '../../errors.ts';
import type { Target } from '../../ledger/record.ts';
import { withName } from '../names/names.ts';
import type { RouteReview } from '../routes/review.ts';
import type { ApprovalHold } from './hold.ts';
import type { ApprovalStore, Decision, HeldDestination } from './store.ts';

/**
 * `config`: named by the config itself. `allowed`: by `destinations.allow`. `revoked`: only `approve NAME` opens it
 * again. `held`: alerts wait for its approval.
 */
type ApprovalState = 'config' | 'allowed' | 'approved' | 'revoked' | 'held' | 'new';

export interface KnownDestination extends Target {
  state: ApprovalState;
  /** Names of the protocols that lead to it; none for the fallback, and for one that no service lists any more. */
  protocols: readonly string[];
  /** Alerts that wait for its approval. */
  waiting: number;
  /** ISO 8601: approved, revoked or held since. */
  since?: string;
  /** Present where its receiver wants nothing more, and nobody has enabled it since. */
  disabled?: true;
}

interface DestinationsDependencies {
  held: Pick<ApprovalStore, 'list' | 'approvals' | 'revocations' | 'approve' | 'revoke'>;
  names(): Promise<ReadonlyMap<Destination['id'], string>>;
  listDisabled(): Promise<readonly Pick<DisabledDestination, 'id'>[]>;
  approval: Pick<ApprovalHold, 'release' | 'drop'>;
  fallback: readonly Destination[];
  review: Pick<RouteReview, 'destinations' | 'protocolsOf'>;
  isTrusted(destination: Destination): boolean;
  /** `destinations.allow` lets it through. */
  isAllowed(destination: Destination): boolean;
}

type Decided = Decision & { state: ApprovalState };

/** Revocations first, so that an approval since then wins. */
const decisionsOf = (approvals: readonly Decision[], revocations: readonly Decision[]): Map<string, Decided> =>
  new Map<string, Decided>([
    ...revocations.map((one) => [one.id, { ...one, state: 'revoked' }] as const),
    ...approvals.map((one) => [one.id, { ...one, state: 'approved' }] as const),
  ]);

const byName = (a: Target, b: Target): number => a.kind.localeCompare(b.kind) || a.label.localeCompare(b.label);

const createListing = (dependencies: DestinationsDependencies) => {
  const { held, fallback, review, isTrusted, isAllowed } = dependencies;

  const stateOf = (destination: Destination, decided: Decided | undefined, isHeld: boolean): ApprovalState => {
    if (isTrusted(destination)) return 'config';
    if (isAllowed(destination)) return 'allowed';
    return decided?.state ?? (isHeld ? 'held' : 'new');
  };

  /** Those with an address: listed now, of the fallback, or with alerts that wait. */
  const addressed = (holds: readonly HeldDestination[], decisions: ReadonlyMap<string, Decided>) => {
    const heldBy = new Map(holds.map((one) => [one.destination.id, one]));
    const protocolsOf = review.protocolsOf();
    const all = [...review.destinations(), ...fallback, ...holds.map(({ destination }) => destination)];
    return all.map((destination): KnownDestination => {
      const { id, kind, label } = destination;
      const [decided, hold] = [decisions.get(id), heldBy.get(id)];
      const since = decided?.at ?? hold?.since;
      return {
        ...{ id, kind, label, state: stateOf(destination, decided, hold !== undefined) },
        protocols: protocolsOf.get(id) ?? [],
        waiting: hold?.waiting ?? 0,
        ...(since ? { since } : {}),
      };
    });
  };

  return async (): Promise<KnownDestination[]> => {
    const [names, holds, approvals, revocations, disabled] = await Promise.all([
      dependencies.names(),
      held.list(),
      held.approvals(),
      held.revocations(),
      dependencies.listDisabled(),
    ]);
    const decisions = decisionsOf(approvals, revocations);
    // A decision has no address: one on a destination that is listed no more can still be changed.
    const decidedOnly = [...decisions.values()].map(
      ({ at: since, ...target }): KnownDestination => ({ ...target, protocols: [], waiting: 0, since }),
    );
    const known = new Map([...decidedOnly, ...addressed(holds, decisions)].map((one) => [one.id, one]));
    const isDisabled = new Set(disabled.map(({ id }) => id));
    return [...known.values()]
      .map((one) => ({ ...withName(one, names), ...(isDisabled.has(one.id) && { disabled: true as const }) }))
      .sort(byName);
  };
};

export const createDestinations = (dependencies: DestinationsDependencies) => {
  const { held, approval } = dependencies;
  const list = createListing(dependencies);

  /** By id or label. Throws a `UsageError` where the name fits none, or several. */
  const find = async (name: string): Promise<KnownDestination> => {
    const known = await list();
    const named = known.filter(({ id, label }) => id === name || label === name);
    const [one, ...others] = named;
    if (one === undefined) {
      const labels = known.map(({ label }) => label);
      const hint = didYouMean(name, labels) || '; `tocsin destinations list` has all';
      throw new UsageError(`no destination is known by the name '${name}'${hint}`);
    }
    if (others.length === 0) return one;
    throw new UsageError(`several destinations are called '${name}': ${named.map(({ id }) => id).join(', ')}`);
  };

  const heldAt = async (id: string): Promise<Destination | undefined> =>
    (await held.list()).find(({ destination }) => destination.id === id)?.destination;

  return {
    list,
    find,
    /**
     * Approves them, and sends the alerts that were held. Gives, in their order, how many alerts of each are queued: also
     * where a daemon saw the approval first and queues them.
     */
    approve: async (destinations: readonly Target[]): Promise<number[]> => {
      const before = await held.list();
      await held.approve(destinations);
      const sent: number[] = [];
      for (const { id } of destinations) {
        const hold = before.find(({ destination }) => destination.id === id);
        sent.push(hold ? Math.max(hold.waiting, await approval.release(hold.destination)) : 0);
      }
      return sent;
    },
    revoke: held.revoke,
    /** Drops the alerts that are held for it; gives how many. */
    drop: async ({ id }: Target): Promise<number> => {
      const destination = await heldAt(id);
      return destination ? approval.drop(destination) : 0;
    },
  };
};
