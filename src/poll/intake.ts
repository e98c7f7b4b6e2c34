/** What a turn does: a listing, or a poll of one stream. */
import { ServiceError } from '../errors.ts';
import type { MalformedItem } from '../item.ts';
import type { Admission } from './admission.ts';
import type { Catalog, CatalogChange } from './catalog.ts';
import type { PollResult } from './poller.ts';
import { type Stream, streamKey } from './stream.ts';

interface ListingDependencies {
  catalog: Pick<Catalog, 'refresh' | 'refreshAssets'>;
  admission: Pick<Admission, 'admit' | 'answered' | 'failed' | 'silentSince'>;
  onListed(service: string, change: CatalogChange): void;
  /** Listed in part: the change, and what kept the rest from coming. */
  onListUnfinished(service: string, change: CatalogChange, error: ServiceError): void;
  /** What a listing has that cannot be read, or not whole. */
  onListMalformed(service: string, malformed: readonly MalformedItem[]): Promise<void>;
  onListFailed(service: string, error: unknown): void;
  onAssetsListed(service: string): void;
  onAssetsFailed(service: string, error: unknown): void;
  monotonic(): number;
}

/** Between a listing that failed and the next, while the service answers others; it doubles in between. */
const FIRST_AGAIN_MS = 1000;
const LONGEST_AGAIN_MS = 300_000;

/** Which services have to be listed again before their turn. */
const createOwedListings = ({ admission, monotonic }: Pick<ListingDependencies, 'admission' | 'monotonic'>) => {
  const owed = new Map<string, { from: number; againMs: number }>();
  return {
    failed: (service: string): void => {
      const againMs = Math.min(2 * (owed.get(service)?.againMs ?? FIRST_AGAIN_MS / 2), LONGEST_AGAIN_MS);
      owed.set(service, { from: monotonic() + againMs, againMs });
    },
    settled: (service: string): void => void owed.delete(service),
    /** A listing failed, came in part or had to wait, and the service has answered since. */
    isOwed: (service: string): boolean =>
      monotonic() >= (owed.get(service)?.from ?? Infinity) && admission.silentSince(service) === Infinity,
  };
};

/** The failure detector's name for a listing. */
const LISTING = 'listing';

export const isHeld = (error: unknown): boolean => error instanceof ServiceError && error.reason === 'held';

/** Lists a service's protocols, and their assets, into the catalog. */
export const createListing = (dependencies: ListingDependencies) => {
  const { catalog, admission } = dependencies;
  const owed = createOwedListings(dependencies);
  return {
    isOwed: owed.isOwed,
    /** False where it failed or has to wait; the last good catalog stays. */
    list: async (service: string, signal: AbortSignal): Promise<boolean> => {
      // It did not come whole until it has.
      owed.failed(service);
      if (!(await admission.admit(service, LISTING, signal)).admitted) return false;
      try {
        const change = await catalog.refresh(service, signal);
        const { unfinished, malformed = [] } = change;
        await dependencies.onListMalformed(service, malformed);
        // A bound of ours cuts the next one off as well.
        const isDone = (unfinished === undefined || unfinished.bound !== undefined) && !change.isUncompared;
        if (isDone) owed.settled(service);
        if (unfinished === undefined) {
          admission.answered(service, LISTING);
          dependencies.onListed(service, change);
        } else {
          await admission.failed(service, LISTING, unfinished, signal);
          if (!isHeld(unfinished)) dependencies.onListUnfinished(service, change, unfinished);
        }
        return true;
      } catch (error) {
        await admission.failed(service, LISTING, error, signal);
        if (!isHeld(error)) dependencies.onListFailed(service, error);
        return false;
      }
    },
    /** Only the context of alerts depends on assets: a failure is reported, and the last ones stay. */
    listAssets: async (service: string, signal: AbortSignal): Promise<void> => {
      try {
        await catalog.refreshAssets(service, signal);
      } catch (error) {
        if (!signal.aborted && !isHeld(error)) dependencies.onAssetsFailed(service, error);
        return;
      }
      dependencies.onAssetsListed(service);
    },
  };
};

interface IntakeDependencies extends ListingDependencies {
  admission: Admission;
  poll(stream: Stream, signal: AbortSignal): Promise<PollResult>;
  /** One cheap question, for `stream` where it is given: without its lock, which others need. Throws `ServiceError`. */
  probe(service: string, stream: Stream | undefined, signal: AbortSignal): Promise<void>;
  onCatalog(): Promise<void>;
  onPolled(stream: Stream, result: PollResult, durationMs: number): void;
  onProbed(service: string): void;
  onProbeFailed(service: string, error: unknown): void;
  /** `isDown`: the service as a whole is in trouble, not this stream alone. */
  onPollFailed(stream: Stream, error: unknown, isDown: boolean): void;
  now(): number;
}

/** The service refuses something about what was asked for: with several names, one of them may be at fault. */
const mayBeOneName = (error: unknown): boolean =>
  error instanceof ServiceError && (error.reason === 'missing' || error.reason === 'rejected');

/** The failure detector's name for a probe. */
const PROBE = 'probe';

const HELD: PollResult = { outcome: 'held', items: 0, alerts: 0, sweep: false };

/** Gives in how many milliseconds to try again, where that should be before the next turn. */
const createPollTurn = ({ admission, poll, onPolled, onPollFailed, now }: IntakeDependencies) => {
  const run = async (stream: Stream, signal: AbortSignal): Promise<number | undefined> => {
    const { service } = stream;
    const subject = streamKey(stream);
    const begun = now();
    const admitted = await admission.admit(service, subject, signal);
    if (!admitted.admitted) {
      onPolled(stream, HELD, 0);
      return admitted.againInMs;
    }
    try {
      const result = await poll(stream, signal);
      if (result.outcome === 'read') admission.answered(service, subject);
      else admission.unasked(service, subject);
      onPolled(stream, result, now() - begun);
    } catch (error) {
      await admission.failed(service, subject, error, signal);
      if (signal.aborted) return undefined;
      if (mayBeOneName(error) && stream.protocols.length > 1) return runHalves(stream, signal);
      if (isHeld(error)) onPolled(stream, HELD, now() - begun);
      else onPollFailed(stream, error, admission.trouble(service)?.kind === 'down');
    }
    return undefined;
  };

  /** One name that the service refuses must not silence the others of its request. */
  const runHalves = async (stream: Stream, signal: AbortSignal): Promise<undefined> => {
    const middle = Math.ceil(stream.protocols.length / 2);
    await run({ ...stream, protocols: stream.protocols.slice(0, middle) }, signal);
    await run({ ...stream, protocols: stream.protocols.slice(middle) }, signal);
  };
  return run;
};

export const createIntake = (dependencies: IntakeDependencies) => {
  const listing = createListing(dependencies);

  /** Lists a service's protocols again, so that they are polled. False where it failed or has to wait. */
  const list = async (service: string, signal: AbortSignal): Promise<boolean> => {
    if (!(await listing.list(service, signal))) return false;
    await dependencies.onCatalog();
    return true;
  };

  const { admission } = dependencies;
  const probe = async (service: string, stream: Stream | undefined, signal: AbortSignal): Promise<void> => {
    const subject = stream === undefined ? PROBE : streamKey(stream);
    if (!(await admission.admit(service, subject, signal)).admitted) return;
    try {
      await dependencies.probe(service, stream, signal);
      admission.answered(service, subject);
      dependencies.onProbed(service);
    } catch (error) {
      await admission.failed(service, subject, error, signal);
      if (!signal.aborted && !isHeld(error)) dependencies.onProbeFailed(service, error);
    }
  };

  return {
    isListingOwed: listing.isOwed,
    /** Finds out whether a service that is in trouble answers again, where no poll does. */
    probe,
    list,
    listAll: async (service: string, signal: AbortSignal): Promise<void> => {
      if (await list(service, signal)) await listing.listAssets(service, signal);
    },
    /** One poll. Gives in how many milliseconds to try again, where the service could not be asked now. */
    poll: createPollTurn(dependencies),
  };
};
