/**
 * Reads inspections near the threshold again after a while: what has turned critical is forwarded, and of what is no
 * longer so, or gone, those who were told get a short follow-up.
 */
import type { Alert, Change, Item } from '../../alert.ts';
import { createWalkDetector } from '../../poll/failure-detector.ts';
import type { RecheckStore, Watched } from './store.ts';
import { judge, nextRecheck, remains, type Sighting, type Told, toFollowUp, type Verdict } from './verdict.ts';

export interface RecheckSettings {
  /** Milliseconds after it was written. */
  offsets: readonly number[];
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
  /** Milliseconds after which what was not found is looked for once more before it is called gone. */
  confirmAfter: number;
}

/** What a look led to. */
export type Outcome = 'same' | 'unsure' | 'forwarded' | Change;

export interface RecheckDependencies {
  looks: RecheckStore;
  settings: RecheckSettings;
  /** By item id. Throws `ServiceError`. */
  lookUp(
    service: string,
    protocol: string,
    wanted: readonly Watched[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Sighting>>;
  /** Undefined where no alert of the inspection is in the books. */
  toldOf(service: string, itemId: string): Promise<Told | undefined>;
  /** Forwards as a poll would: `busy` where that has to wait, `known` where there is nothing to forward. */
  forward(service: string, protocol: string, item: Item): Promise<'forwarded' | 'known' | 'busy'>;
  /** Queues a follow-up for those destinations. Durable when it resolves. */
  followUp(alert: Alert, destinations: readonly string[]): Promise<void>;
  onLooked(service: string, watched: Watched, outcome: Outcome): void;
  onFailed(service: string, protocol: string, error: unknown): void;
  /** The service's time in epoch milliseconds. */
  clock(service: string): number;
}

const BATCH = 200;
/** Longer than a batch takes; what a killed daemon had taken is due again after it. */
const LEASE_MS = 120_000;
/** A protocol's cursor is being read just now: soon it is not. */
const BUSY_MS = 1000;
/** What could not be asked for so long after its last look is given up: the protocol is gone, for one. */
const GIVE_UP_MS = 3_600_000;

export const createRecheck = (dependencies: RecheckDependencies) => {
  const { looks, settings, lookUp, toldOf, clock } = dependencies;

  const lookLater = async (service: string, watched: Watched): Promise<void> => {
    const dueAt = nextRecheck(watched.writtenAt, clock(service), settings.offsets);
    await (dueAt === undefined ? looks.drop(service, watched) : looks.keep(service, { watched, dueAt }));
  };

  const lookSoon = (service: string, watched: Watched, inMs: number): Promise<void> =>
    looks.keep(service, { watched, dueAt: clock(service) + inMs });

  const forward = async (service: string, watched: Watched, item: Item): Promise<Outcome> => {
    const outcome = await dependencies.forward(service, watched.protocol, item);
    if (outcome === 'busy') await lookSoon(service, watched, BUSY_MS);
    else await lookLater(service, { ...watched, item: remains(item), misses: 0 });
    if (outcome === 'forwarded') return outcome;
    return outcome === 'busy' ? 'unsure' : 'same';
  };

  /** Told first, noted second: a crash in between tells the same again, under the same identity. */
  const tell = async (
    service: string,
    watched: Watched,
    verdict: Extract<Verdict, { kind: 'tell' }>,
  ): Promise<Outcome> => {
    const { first, change, item } = verdict;
    await dependencies.followUp(toFollowUp(service, watched, verdict, clock(service)), first.destinations);
    const told = item?.assessment === undefined ? {} : { told: item.assessment };
    if (item) await lookLater(service, { ...watched, ...told, followUps: watched.followUps + 1, misses: 0 });
    else await looks.drop(service, watched);
    return change;
  };

  const act = async (service: string, watched: Watched, sighting: Sighting): Promise<Outcome> => {
    const first = await toldOf(service, watched.itemId);
    const verdict = judge(watched, sighting, first, settings.assessments);
    switch (verdict.kind) {
      case 'forward':
        return forward(service, watched, verdict.item);
      case 'tell':
        return tell(service, watched, verdict);
      case 'confirm':
        await lookSoon(service, { ...watched, misses: watched.misses + 1 }, settings.confirmAfter);
        return 'unsure';
      case 'gone':
        await looks.drop(service, watched);
        return 'same';
      case 'same':
        await lookLater(service, { ...watched, misses: 0 });
        return 'same';
      case 'unsure':
        await lookLater(service, watched);
        return 'unsure';
    }
  };

  /** What cannot be asked stays due, and is asked again when its lease is over. */
  const giveUpOld = async (service: string, all: readonly Watched[]): Promise<void> => {
    const last = Math.max(...settings.offsets, 0);
    const old = all.filter(({ writtenAt }) => clock(service) > writtenAt + last + GIVE_UP_MS);
    for (const watched of old) await looks.drop(service, watched);
  };

  const lookAt = async (service: string, protocol: string, all: readonly Watched[], signal: AbortSignal) => {
    const sightings = await lookUp(service, protocol, all, signal);
    for (const watched of all) {
      const sighting = sightings.get(watched.itemId) ?? { kind: 'unsure' };
      dependencies.onLooked(service, watched, await act(service, watched, sighting));
    }
  };

  /** Gives back what was claimed and not asked for, as the service is in trouble: it comes before what failed. */
  const release = async (service: string, all: readonly Watched[]): Promise<void> => {
    for (const watched of all) await lookSoon(service, watched, 0);
  };

  /** False where the service is in trouble. */
  const lookAtAll = async (service: string, due: readonly Watched[], signal: AbortSignal): Promise<boolean> => {
    const detector = createWalkDetector();
    for (const [protocol, all] of Map.groupBy(due, (watched) => watched.protocol)) {
      if (detector.isDown()) {
        await release(service, all);
        continue;
      }
      try {
        await lookAt(service, protocol, all, signal);
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

  /** Looks at everything of a service that is due. */
  return async (service: string, signal: AbortSignal): Promise<void> => {
    for (let more = true; more && !signal.aborted; ) {
      const due = await looks.claim(service, clock(service), BATCH, LEASE_MS);
      more = (await lookAtAll(service, due, signal)) && due.length === BATCH;
    }
  };
};
