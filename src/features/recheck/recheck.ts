/**
 * Reads inspections near the threshold again after a while. One that has turned critical is forwarded. Of one that is no
 * longer so, or gone, those who had the alert get a short follow-up.
 */
import type { Alert, Change } from '../../alert.ts';
import type { Item } from '../../item.ts';
import { createWalkDetector } from '../../poll/failure-detector.ts';
import type { Sighting } from '../../service/lookup.ts';
import type { RecheckStore, Watched } from './store.ts';
import { type FirstAlert, judge, nextRecheck, remains, toFollowUp, type Verdict } from './verdict.ts';

interface RecheckSettings {
  /** Milliseconds after it was written. */
  offsets: readonly number[];
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
  /** Milliseconds after which an inspection that was not found is read once more before it counts as gone. */
  confirmAfter: number;
}

export type Outcome = 'same' | 'unsure' | 'forwarded' | Change;

interface ActDependencies {
  store: Pick<RecheckStore, 'keep' | 'drop'>;
  settings: RecheckSettings;
  /** Undefined where the ledger has no alert of the inspection. */
  firstAlertOf(service: string, watched: Watched): Promise<FirstAlert | undefined>;
  /** Forwards as a poll would: `busy` where that has to wait, `known` where there is nothing to forward. */
  forward(service: string, protocol: string, item: Item): Promise<'forwarded' | 'known' | 'busy'>;
  /** Queues a follow-up for those destinations. Durable when it resolves. */
  followUp(alert: Alert, destinations: readonly string[]): Promise<void>;
  /** The service's time in epoch milliseconds. */
  clock(service: string): number;
}

/** A poll reads its protocol just now and is done soon. */
const BUSY_MS = 1000;

/** Does what the verdict on one inspection says: forwards it, sends a follow-up, or reads it again later. */
export const createAct = ({ store, settings, clock, firstAlertOf, ...dependencies }: ActDependencies) => {
  const recheckLater = async (service: string, watched: Watched): Promise<void> => {
    const dueAt = nextRecheck(watched.writtenAt, clock(service), settings.offsets);
    await (dueAt === undefined ? store.drop(service, watched) : store.keep(service, { watched, dueAt }));
  };

  const recheckIn = (service: string, watched: Watched, inMs: number): Promise<void> =>
    store.keep(service, { watched, dueAt: clock(service) + inMs });

  const forward = async (service: string, watched: Watched, item: Item): Promise<Outcome> => {
    const outcome = await dependencies.forward(service, watched.protocol, item);
    if (outcome === 'busy') await recheckIn(service, watched, BUSY_MS);
    else await recheckLater(service, { ...watched, item: remains(item), misses: 0 });
    if (outcome === 'forwarded') return outcome;
    return outcome === 'busy' ? 'unsure' : 'same';
  };

  /** Queued first, noted second: a crash in between sends the same again, under the same identity. */
  const followUp = async (
    service: string,
    watched: Watched,
    verdict: Extract<Verdict, { kind: 'follow-up' }>,
  ): Promise<Outcome> => {
    const { first, change, item } = verdict;
    await dependencies.followUp(toFollowUp(service, watched, verdict, clock(service)), first.destinations);
    const last = item?.assessment === undefined ? {} : { announced: item.assessment };
    if (item) await recheckLater(service, { ...watched, ...last, followUps: watched.followUps + 1, misses: 0 });
    else await store.drop(service, watched);
    return change;
  };

  /** On one inspection as it was seen now. */
  return async (service: string, watched: Watched, sighting: Sighting): Promise<Outcome> => {
    const first = await firstAlertOf(service, watched);
    const verdict = judge(watched, sighting, first, settings.assessments);
    switch (verdict.kind) {
      case 'forward':
        return forward(service, watched, verdict.item);
      case 'follow-up':
        return followUp(service, watched, verdict);
      case 'confirm':
        await recheckIn(service, { ...watched, misses: watched.misses + 1 }, settings.confirmAfter);
        return 'unsure';
      case 'gone':
        await store.drop(service, watched);
        return 'same';
      case 'same':
        await recheckLater(service, { ...watched, misses: 0 });
        return 'same';
      case 'unsure':
        await recheckLater(service, watched);
        return 'unsure';
    }
  };
};

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
  /** Nothing of what failed is watched any more. */
  onGivenUp(service: string, protocol: string): void;
}

const BATCH = 200;
/** Longer than a batch takes; what a killed daemon had claimed is due again after it. */
const LEASE_MS = 120_000;
/** What failed is asked for again after this. */
const AGAIN_MS = 15_000;
/** An inspection that could not be asked for this long after its last recheck is given up: its protocol may be gone. */
const GIVE_UP_MS = 3_600_000;

export const createRecheck = (dependencies: RecheckDependencies) => {
  const { store, settings, lookUp, clock } = dependencies;
  const act = createAct(dependencies);

  const againOrGivenUp = async (service: string, protocol: string, all: readonly Watched[]): Promise<void> => {
    const now = clock(service);
    const last = Math.max(...settings.offsets, 0);
    const isOld = ({ writtenAt }: Watched): boolean => now > writtenAt + last + GIVE_UP_MS;
    for (const watched of all) {
      if (isOld(watched)) await store.drop(service, watched);
      else await store.keep(service, { watched, dueAt: now + AGAIN_MS });
    }
    if (all.every(isOld)) dependencies.onGivenUp(service, protocol);
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
        detector.worked();
      } catch (error) {
        if (signal.aborted) return false;
        detector.failed(protocol, error);
        dependencies.onFailed(service, protocol, error);
        await againOrGivenUp(service, protocol, all);
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
