/** Does what the verdict on one inspection says: forwards it, sends a follow-up, or reads it again later. */
import type { Alert, Change } from '../../alert.ts';
import type { Item } from '../../item.ts';
import type { Sighting } from '../../service/lookup.ts';
import type { RecheckStore, Watched } from './store.ts';
import { type FirstAlert, judge, nextRecheck, remains, toFollowUp, type Verdict } from './verdict.ts';

export interface RecheckSettings {
  /** Milliseconds after it was written. */
  offsets: readonly number[];
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
  /** Milliseconds after which an inspection that was not found is read once more before it counts as gone. */
  confirmAfter: number;
}

/** What a recheck led to. */
export type Outcome = 'same' | 'unsure' | 'forwarded' | Change;

export interface ActDependencies {
  store: Pick<RecheckStore, 'keep' | 'drop'>;
  settings: RecheckSettings;
  /** Undefined where the ledger has no alert of the inspection. */
  firstAlertOf(service: string, itemId: string): Promise<FirstAlert | undefined>;
  /** Forwards as a poll would: `busy` where that has to wait, `known` where there is nothing to forward. */
  forward(service: string, protocol: string, item: Item): Promise<'forwarded' | 'known' | 'busy'>;
  /** Queues a follow-up for those destinations. Durable when it resolves. */
  followUp(alert: Alert, destinations: readonly string[]): Promise<void>;
  /** The service's time in epoch milliseconds. */
  clock(service: string): number;
}

/** A poll reads its protocol just now and is done soon. */
const BUSY_MS = 1000;

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
    const last = item?.assessment === undefined ? {} : { told: item.assessment };
    if (item) await recheckLater(service, { ...watched, ...last, followUps: watched.followUps + 1, misses: 0 });
    else await store.drop(service, watched);
    return change;
  };

  /** On one inspection as it was seen now. */
  return async (service: string, watched: Watched, sighting: Sighting): Promise<Outcome> => {
    const first = await firstAlertOf(service, watched.itemId);
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
