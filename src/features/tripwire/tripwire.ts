/** Compares each whole listing with what is remembered of a service's protocols, and has their people hear of changes. */
import { inSlices, mapSliced } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import { type HeldLock, type Locks, underLock } from '../../redis/lock.ts';
import type { Listing } from '../../service/listing.ts';
import { iso } from '../../time.ts';
import {
  afterChange,
  type Comparison,
  compare,
  type Remembered,
  stayedAmong,
  type Unannounced,
  type WatchedSettings,
  watchedOf,
} from './changes.ts';
import { createNotifier, type NotifierDependencies } from './notifier.ts';
import type { TripwireStore } from './store.ts';

interface TripwireDependencies extends NotifierDependencies {
  store: Pick<TripwireStore, 'read' | 'remember'>;
  locks: Locks;
}

type Answer = Pick<Listing, 'settings' | 'malformed' | 'unfinished'>;

interface Look {
  listed: ReadonlyMap<string, WatchedSettings>;
  unreadable: ReadonlySet<string>;
  /** Of all that. */
  fingerprint: string;
}

/** So often it is looked whether anything stays to be announced, even where a listing is the same as the one before. */
const LOOK_AGAIN_MS = 3_600_000;

const lookOf = async ({ settings, malformed }: Answer): Promise<Look> => {
  const byName = [...Map.groupBy(settings, ({ name }) => name)];
  const listed = new Map(await inSlices(mapSliced(byName, ([name, all]) => [name, watchedOf(all)] as const)));
  const unreadable = new Set(malformed.map(({ name }) => name).filter((name) => !listed.has(name)));
  const texts = await inSlices(mapSliced([...listed], (one) => contentId(JSON.stringify(one))));
  return { listed, unreadable, fingerprint: contentId(...texts.toSorted(), ...[...unreadable].toSorted()) };
};

/** A look that this daemon has had. */
interface Seen extends Look {
  /** Nothing is left to see in the same listing, and nothing to be announced later. */
  isOver: boolean;
  at: number;
}

export const createTripwire = (dependencies: TripwireDependencies) => {
  const { store, locks, now } = dependencies;
  const notify = createNotifier(dependencies);
  /** The last listing of each service that this daemon looked at. */
  const last = new Map<string, Seen>();

  /** Where Redis remembers nothing, as at the first start, the listing itself is; after a loss, what this daemon knows. */
  const rememberedOf = async (service: string, { listed }: Look) => {
    const known = await store.read(service);
    if (known !== undefined) return { ...known, isNew: false };
    const found = [...(last.get(service)?.listed ?? listed)];
    const protocols = new Map(found.map(([name, settings]): [string, Remembered] => [name, { settings }]));
    return { version: '', protocols, unannounced: new Map<string, Unannounced>(), isNew: true };
  };

  /** Announces what is to be announced now. Gives what is unannounced then, and of which protocols that has ended. */
  const announceNow = async (
    service: string,
    version: string,
    { changes }: Comparison,
    before: ReadonlyMap<string, Unannounced>,
    present: (protocol: string) => Remembered | undefined,
  ) => {
    const all = await notify.changed(service, version, changes);
    const unannounced = new Map(before);
    const set = (protocol: string, one: Unannounced | undefined): void => {
      if (one === undefined) unannounced.delete(protocol);
      else unannounced.set(protocol, one);
    };
    for (const { change, isHeard } of all) {
      const { protocol } = change;
      set(protocol, afterChange(unannounced.get(protocol), change, { isHeard, at: now() }));
    }
    const stayed = stayedAmong(unannounced, present, now());
    await notify.stayed(service, version, stayed.changes);
    for (const protocol of stayed.protocols) unannounced.delete(protocol);
    return { all, unannounced, touched: stayed.protocols };
  };

  const compareWith = async (held: HeldLock, service: string, found: Look) => {
    const { version, protocols, unannounced: before, isNew } = await rememberedOf(service, found);
    const comparison = compare({ remembered: protocols, ...found });
    const writes: Comparison['writes'] = new Map([...(isNew ? protocols : []), ...comparison.writes]);
    const present = (protocol: string) => (writes.has(protocol) ? writes.get(protocol) : protocols.get(protocol));
    const { all, unannounced, touched } = await announceNow(service, version, comparison, before, present);
    for (const protocol of touched) writes.set(protocol, present(protocol));
    const at = iso(now());
    const seen = new Map(
      all.map(({ protocol, kind, isCritical, differences }) => [protocol, { at, kind, isCritical, differences }]),
    );
    const isNothing = !isNew && writes.size === 0;
    const isWritten = isNothing || (await store.remember(held, service, { version, writes, unannounced, seen }));
    const isSettled = isWritten && comparison.isSettled;
    return { isSettled, isOver: isSettled && unannounced.size === 0 };
  };

  /** Another daemon that compares just now is about to say it. */
  const BUSY = { isSettled: false, isOver: false };

  return {
    /** Of a listing that came in its turn: only those count where a protocol is missing, as there is one at a time. */
    look: async (service: string, answer: Answer): Promise<void> => {
      // What was cut off or did not come has not changed.
      if (answer.unfinished !== undefined) return;
      const found = await lookOf(answer);
      const before = last.get(service);
      const isSame = before?.fingerprint === found.fingerprint && Math.abs(now() - before.at) < LOOK_AGAIN_MS;
      if (before?.isOver && isSame) return;
      const compared = await underLock(locks, [`tripwire:${service}`], (held) => compareWith(held, service, found));
      const { isSettled, isOver } = compared ?? BUSY;
      if (isSettled || before === undefined) last.set(service, { ...found, isOver, at: now() });
      else last.set(service, { ...before, isOver });
    },
  };
};
