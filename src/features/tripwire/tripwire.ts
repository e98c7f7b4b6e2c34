/** Compares each listing with what is remembered of a service's protocols, and has their people hear of changes. */
import { inSlices, mapSliced } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import { type HeldLock, type Locks, underLock } from '../../redis/lock.ts';
import { type ListedRoutes, type Listing, routesOf } from '../../service/listing.ts';
import { iso } from '../../time.ts';
import {
  afterChange,
  type Comparison,
  compare,
  type Remembered,
  stayedAmong,
  type Unannounced,
  untoldAmong,
  type WatchedSettings,
  watchedOf,
} from './changes.ts';
import { createNotifier, type NotifierDependencies } from './notifier.ts';
import type { TripwireStore } from './store.ts';

interface TripwireDependencies extends NotifierDependencies {
  store: Pick<TripwireStore, 'version' | 'read' | 'remember'>;
  locks: Locks;
}

type Answer = Pick<Listing, 'settings' | 'malformed' | 'unfinished'>;

/** By protocol: what people know of those of which they were not told what is listed now. */
type Untold = ReadonlyMap<string, ListedRoutes | undefined>;

interface Look {
  listed: ReadonlyMap<string, WatchedSettings>;
  unreadable: ReadonlySet<string>;
  isWhole: boolean;
  /** Of all that. */
  fingerprint: string;
}

const lookOf = async ({ settings, malformed }: Answer, isWhole: boolean): Promise<Look> => {
  const byName = [...Map.groupBy(settings, ({ name }) => name)];
  const listed = new Map(await inSlices(mapSliced(byName, ([name, all]) => [name, watchedOf(all)] as const)));
  const unreadable = new Set(malformed.map(({ name }) => name).filter((name) => !listed.has(name)));
  const texts = await inSlices(mapSliced([...listed], (one) => contentId(JSON.stringify(one))));
  const fingerprint = contentId(String(isWhole), ...texts.toSorted(), ...[...unreadable].toSorted());
  return { listed, unreadable, isWhole, fingerprint };
};

interface Memory {
  version: string;
  protocols: ReadonlyMap<string, Remembered>;
  unannounced: ReadonlyMap<string, Unannounced>;
}

/** What this daemon knows after its last look. */
interface Seen extends Memory {
  fingerprint: string;
  /** Nothing is left to see in the same listing, and nothing to be announced later. */
  isOver: boolean;
}

const NOTHING: Untold = new Map();

const withWrites = (protocols: Memory['protocols'], writes: Comparison['writes']): Memory['protocols'] => {
  const next = new Map(protocols);
  for (const [name, one] of writes) {
    if (one === undefined) next.delete(name);
    else next.set(name, one);
  }
  return next;
};

export const createTripwire = (dependencies: TripwireDependencies) => {
  const { store, locks, now } = dependencies;
  const notify = createNotifier(dependencies);
  const last = new Map<string, Seen>();

  /** Where Redis remembers nothing, as at the first start, the listing itself is; after a loss, what this daemon knows. */
  const rememberedOf = async (service: string, { listed }: Look): Promise<Memory & { isNew: boolean }> => {
    const known = await store.read(service);
    if (known !== undefined) return { ...known, isNew: false };
    const found = [...listed].map(([name, settings]): [string, Remembered] => [name, { settings }]);
    const { protocols, unannounced } = last.get(service) ?? { protocols: new Map(found), unannounced: new Map() };
    return { version: await store.version(service), protocols, unannounced, isNew: true };
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

  /** Undefined where others have written since the service was asked: they may have seen what is newer. */
  const compareWith = async (
    held: HeldLock,
    service: string,
    found: Look,
    asked: string,
  ): Promise<Seen | undefined> => {
    const { version, protocols, unannounced: before, isNew } = await rememberedOf(service, found);
    if (version !== asked) return undefined;
    const comparison = compare({ remembered: protocols, ...found, now: now() });
    const writes: Comparison['writes'] = new Map([...(isNew ? protocols : []), ...comparison.writes]);
    const present = (protocol: string) => (writes.has(protocol) ? writes.get(protocol) : protocols.get(protocol));
    const { all, unannounced, touched } = await announceNow(service, version, comparison, before, present);
    for (const protocol of touched) writes.set(protocol, present(protocol));
    const at = iso(now());
    const seen = new Map(
      all.map(({ protocol, kind, isCritical, differences }) => [protocol, { at, kind, isCritical, differences }]),
    );
    const isNothing = !isNew && writes.size === 0;
    const input = { version, writes, unannounced, seen };
    const written = isNothing ? version : await store.remember(held, service, input);
    if (written === undefined) return undefined;
    return {
      version: written,
      protocols: withWrites(protocols, writes),
      unannounced,
      fingerprint: found.fingerprint,
      isOver: comparison.isSettled && unannounced.size === 0,
    };
  };

  const untoldOf = ({ unannounced, protocols }: Memory): Untold => {
    const untold = untoldAmong(unannounced, (protocol) => protocols.get(protocol));
    return new Map([...untold].map(([protocol, settings]) => [protocol, settings && routesOf(settings)]));
  };

  return {
    version: store.version,
    /**
     * Durable when it resolves: people hear of all that has changed, but of what it gives. Undefined where another daemon
     * compares at this time. `asked`: the version before the service was asked. `isTurn`: the listing came in its turn. Only
     * those show what is missing, as there is one at a time over all daemons.
     */
    look: async (
      service: string,
      answer: Answer,
      { asked, isTurn }: { asked: string; isTurn: boolean },
    ): Promise<Untold | undefined> => {
      const found = await lookOf(answer, isTurn && answer.unfinished === undefined);
      const before = last.get(service);
      const isSame = before?.isOver && before.fingerprint === found.fingerprint && before.version === asked;
      if (isSame && asked === (await store.version(service))) return NOTHING;
      const seen = await underLock(locks, [`tripwire:${service}`], (held) => compareWith(held, service, found, asked));
      if (seen === undefined) return undefined;
      last.set(service, seen);
      return untoldOf(seen);
    },
  };
};
