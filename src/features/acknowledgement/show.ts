/** Says in every message about an alert who acknowledged it, as far as the message can be changed. */
import type { Alert, Destination } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type ChangeDependencies, createChange, type Place, placeKey } from './change.ts';

export interface ShowDependencies extends ChangeDependencies {
  ledger: Pick<Ledger, 'read'>;
}

/** Both go on by themselves: whoever pressed does not wait for them. */
export interface Show {
  /** In every message about these alerts. */
  alerts(ids: readonly Alert['id'][]): void;
  /** In the one that stands there, if it does not say so yet. */
  message(destination: Pick<Destination, 'id'>, handle: string): void;
}

/** Changes have no send slots, and share the sender's rate with alerts, which come first. */
const BETWEEN_MS = 1000;
const READ_AT_ONCE = 50;

/**
 * Changes messages in the background: one at a time at each destination, a second apart. A message that is asked for several
 * times while it waits is changed once. Nothing of it rejects; what could not be changed is logged, and keeps its button. `ended` is for a stop.
 */
export const createShow = (dependencies: ShowDependencies) => {
  const { ledger, log, signal, sleep } = dependencies;
  const change = createChange(dependencies);
  const running = new Set<Promise<unknown>>();
  /** What has to be changed at each destination: each message once, and one after the other. */
  const waiting = new Map<Destination['id'], Map<string, Place>>();

  const safely = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'messages may not show who acknowledged them');
      return undefined;
    });

  const goOn = (work: Promise<void>): void => {
    const safe = safely(work);
    running.add(safe);
    void safe.finally(() => running.delete(safe));
  };

  const run = async (destination: Destination['id'], places: Map<string, Place>): Promise<void> => {
    try {
      // A map gives what is added while it is read; what is added again meanwhile is changed again.
      for (const [key, place] of places) {
        places.delete(key);
        const hasAsked = await safely(change(place));
        if (hasAsked && places.size > 0) await sleep(BETWEEN_MS, signal);
        if (signal.aborted) return;
      }
    } finally {
      waiting.delete(destination);
    }
  };

  const add = (place: Place): void => {
    const { destination } = place;
    const places = waiting.get(destination);
    if (places !== undefined) {
      places.set(placeKey(place), place);
      return;
    }
    const begun = new Map([[placeKey(place), place]]);
    waiting.set(destination, begun);
    goOn(run(destination, begun));
  };

  const placesOf = async (id: Alert['id']): Promise<Place[]> => {
    const { deliveries = [] } = (await ledger.read(id)) ?? {};
    return deliveries.flatMap(({ destination, handle }) =>
      handle === undefined ? [] : [{ destination: destination.id, handle }],
    );
  };

  const find = async (alerts: readonly Alert['id'][]): Promise<void> => {
    const places = new Map<string, Place>();
    for (const some of chunksOf(alerts, READ_AT_ONCE)) {
      for (const place of (await Promise.all(some.map(placesOf))).flat()) places.set(placeKey(place), place);
    }
    for (const place of places.values()) add(place);
  };

  const ended = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
  };

  return {
    alerts: (ids) => goOn(find(ids)),
    message: ({ id }, handle) => add({ destination: id, handle }),
    /** Everything that was asked for has been tried, or given up as `signal` has aborted. */
    ended,
  } satisfies Show & { ended(): Promise<void> };
};
