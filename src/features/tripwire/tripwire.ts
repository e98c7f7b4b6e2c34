/** Compares each listing with what is remembered of a service's protocols, and has their people hear of changes. */
import { inSlices, mapSliced } from '../../chunks.ts';
import { contentId, type ListedAsset } from '../../item.ts';
import { type HeldLock, type Locks, underLock } from '../../redis/lock.ts';
import { type ListedRoutes, type Listing, routesOf } from '../../service/listing.ts';
import { iso } from '../../time.ts';
import { type Comparison, compare, type Remembered } from './changes.ts';
import { createNotifier, type NotifierDependencies } from './notifier.ts';
import type { TripwireStore } from './store.ts';
import { afterChange, stayedAmong, type Unannounced, untoldAmong } from './unannounced.ts';
import { type WatchedSettings, watchedAssets, watchedOf } from './watched.ts';

interface TripwireDependencies extends NotifierDependencies {
  store: Pick<TripwireStore, 'version' | 'read' | 'remember'>;
  locks: Locks;
}

type Answer = Pick<Listing, 'settings' | 'malformed' | 'unfinished'>;

/** By protocol: what people know of those of which they were not told what is listed now. */
type Untold = ReadonlyMap<string, ListedRoutes | undefined>;

interface Look {
  listed: ReadonlyMap<string, WatchedSettings>;
  /** What came of contracts, of protocols that are remembered. */
  assets?: ReadonlyMap<string, ReturnType<typeof watchedAssets>>;
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

const NO_NAMES: ReadonlySet<string> = new Set();

const assetLookOf = async (all: ReadonlyMap<string, readonly ListedAsset[]>): Promise<Look> => {
  const watched = await inSlices(mapSliced([...all], ([name, assets]) => [name, watchedAssets(assets)] as const));
  const texts = await inSlices(mapSliced(watched, (one) => contentId(JSON.stringify(one))));
  const fingerprint = contentId('assets', ...texts.toSorted());
  return { listed: new Map(), assets: new Map(watched), unreadable: NO_NAMES, isWhole: false, fingerprint };
};

/** With the contracts of protocols that are remembered: of others nothing has changed. */
const withAssets = (found: Look, protocols: ReadonlyMap<string, Remembered>): Look => {
  const listed = [...(found.assets ?? [])].flatMap(([name, assets]): [string, WatchedSettings][] => {
    const { settings, goneAt } = protocols.get(name) ?? {};
    return settings === undefined || goneAt !== undefined ? [] : [[name, { ...settings, ...assets }]];
  });
  return { ...found, listed: new Map([...found.listed, ...listed]) };
};

interface Memory {
  version: string;
  protocols: ReadonlyMap<string, Remembered>;
  unannounced: ReadonlyMap<string, Unannounced>;
}

interface Seen extends Memory {
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
  /** What this daemon knows of each service after its last look. */
  const last = new Map<string, Memory>();

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
    // Before the first listing nobody knows of what the contracts are.
    if (isNew && found.assets !== undefined) return undefined;
    const comparison = compare({ remembered: protocols, ...withAssets(found, protocols), now: now() });
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
      isOver: comparison.isSettled && unannounced.size === 0,
    };
  };

  /** The last look of each sort, by service: the same listing again costs two short questions. */
  const over = new Map<string, { version: string; fingerprint: string }>();

  /** Undefined where nothing could be compared; 'same' where there is nothing to see. */
  const lookAt = async (service: string, found: Look, asked: string): Promise<Seen | 'same' | undefined> => {
    const key = JSON.stringify([service, found.assets !== undefined]);
    const before = over.get(key);
    const isSame = before?.fingerprint === found.fingerprint && before.version === asked;
    if (isSame && asked === (await store.version(service))) return 'same';
    const seen = await underLock(locks, [`tripwire:${service}`], (held) => compareWith(held, service, found, asked));
    over.delete(key);
    if (seen === undefined) return undefined;
    const { isOver, ...memory } = seen;
    last.set(service, memory);
    if (isOver) over.set(key, { version: memory.version, fingerprint: found.fingerprint });
    return seen;
  };

  const untoldOf = ({ unannounced, protocols }: Memory) => untoldAmong(unannounced, (name) => protocols.get(name));

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
      const seen = await lookAt(service, await lookOf(answer, isTurn && answer.unfinished === undefined), asked);
      if (seen === undefined || seen === 'same') return seen && NOTHING;
      return new Map([...untoldOf(seen).routes].map(([name, settings]) => [name, settings && routesOf(settings)]));
    },
    /** The same of what is listed of contracts. Gives the protocols of which nobody was told what theirs are now. */
    lookAtAssets: async (
      service: string,
      assets: ReadonlyMap<string, readonly ListedAsset[]>,
      asked: string,
    ): Promise<ReadonlySet<string> | undefined> => {
      const seen = await lookAt(service, await assetLookOf(assets), asked);
      return seen === undefined || seen === 'same' ? seen && NO_NAMES : untoldOf(seen).assets;
    },
  };
};
