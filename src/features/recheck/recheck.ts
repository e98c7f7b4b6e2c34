/**
 * Reads inspections near the threshold again after a while. One that has turned critical is forwarded. Of one that is no
 * longer so, or gone, those who had the alert get a short follow-up.
 */
import { createWalkDetector } from '../../poll/failure-detector.ts';
import type { Sighting } from '../../service/lookup.ts';
import { type ActDependencies, createAct, type Outcome } from './act.ts';
import type { RecheckStore, Watched } from './store.ts';

export type { Outcome } from './act.ts';

export interface RecheckDependencies extends ActDependencies {
  store: Pick<RecheckStore, 'claim' | 'keep' | 'drop'>;
  /** By item id. Throws `ServiceError`. */
  lookUp(
    service: string,
    protocol: string,
    wanted: readonly Watched[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Sighting>>;
  onRechecked(service: string, watched: Watched, outcome: Outcome): void;
  onFailed(service: string, protocol: string, error: unknown): void;
}

const BATCH = 200;
/** Longer than a batch takes; what a killed daemon had claimed is due again after it. */
const LEASE_MS = 120_000;
/** An inspection that could not be asked for this long after its last recheck is given up: its protocol may be gone. */
const GIVE_UP_MS = 3_600_000;

export const createRecheck = (dependencies: RecheckDependencies) => {
  const { store, settings, lookUp, clock } = dependencies;
  const act = createAct(dependencies);

  /** The others stay due, and are asked for again when their lease is over. */
  const giveUpOld = async (service: string, all: readonly Watched[]): Promise<void> => {
    const last = Math.max(...settings.offsets, 0);
    const old = all.filter(({ writtenAt }) => clock(service) > writtenAt + last + GIVE_UP_MS);
    for (const watched of old) await store.drop(service, watched);
  };

  const recheck = async (service: string, protocol: string, all: readonly Watched[], signal: AbortSignal) => {
    const sightings = await lookUp(service, protocol, all, signal);
    for (const watched of all) {
      const sighting = sightings.get(watched.itemId) ?? { kind: 'unsure' };
      dependencies.onRechecked(service, watched, await act(service, watched, sighting));
    }
  };

  /** Gives back what was claimed and not asked for, as the service is in trouble: it is due before what failed. */
  const release = async (service: string, all: readonly Watched[]): Promise<void> => {
    for (const watched of all) await store.keep(service, { watched, dueAt: clock(service) });
  };

  /** False where the service is in trouble. */
  const recheckAll = async (service: string, due: readonly Watched[], signal: AbortSignal): Promise<boolean> => {
    const detector = createWalkDetector();
    for (const [protocol, all] of Map.groupBy(due, (watched) => watched.protocol)) {
      if (detector.isDown()) {
        await release(service, all);
        continue;
      }
      try {
        await recheck(service, protocol, all, signal);
        detector.worked(protocol);
      } catch (error) {
        if (signal.aborted) return false;
        detector.failed(protocol, error);
        dependencies.onFailed(service, protocol, error);
        await giveUpOld(service, all);
      }
    }
    return !detector.isDown();
  };

  /** Reads everything of a service that is due. */
  return async (service: string, signal: AbortSignal): Promise<void> => {
    for (let more = true; more && !signal.aborted; ) {
      const due = await store.claim(service, clock(service), BATCH, LEASE_MS);
      more = (await recheckAll(service, due, signal)) && due.length === BATCH;
    }
  };
};
