/**
 * Which protocols there are and where each one's alerts go. The last good listing of each key is kept in Redis:
 * a start while the service is down polls with it, and every daemon reads the same one.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Source } from '../alert.ts';
import { getOrCreate } from '../bounded-map.ts';
import type { ServiceError } from '../errors.ts';
import { createGlobs } from '../globs.ts';
import { type ListedAsset, type ListedProtocol, type MalformedItem, MOST_PROTOCOLS } from '../item.ts';
import { isPathSegment, plainName } from '../text.ts';
import { DAY_MS } from '../time.ts';
import { byName, type CatalogEntry, createCatalogStore, type Entries } from './catalog-store.ts';
import type { Track } from './cursor.ts';

/** `protocols.include` and `exclude` as one question. */
export const createNameFilter = (include: readonly string[], exclude: readonly string[]) => {
  const [isIncluded, isExcluded] = [createGlobs(include), createGlobs(exclude)];
  return (name: string): boolean => isIncluded(name) && !isExcluded(name);
};

export type { CatalogEntry } from './catalog-store.ts';

interface CatalogSettings {
  redis: Redis | Cluster;
  prefix: string;
  /** One key's listing, as far as it can be read. Throws `ServiceError` where nothing of it can. */
  list(service: string, signal: AbortSignal): Promise<Listed>;
  /** The assets of one key's protocols by name, likewise. Default: none. */
  listAssets?(service: string, signal: AbortSignal): Promise<Pick<Listed, 'unfinished'> & ListedAssets>;
  isIncluded(protocol: string): boolean;
  now?(): number;
}

interface Listed {
  protocols: readonly ListedProtocol[];
  /** What could not be read, or not whole. `name`: as far as it has one. Default: nothing. */
  malformed?: readonly (MalformedItem & { name: string })[];
  unfinished?: ServiceError;
  heard?: Heard;
}

/** How far the people of what is listed know of it. Alerts follow only that. */
export interface Heard {
  /** Its turn: what it lacks, if it is whole, is missing. */
  isTurn: boolean;
  /**
   * Protocols of which nobody was told where alerts would go, or that they are gone, with what people know instead, where
   * they know something. Undefined: nothing could be compared now.
   */
  untold: ReadonlyMap<string, KnownRoutes | undefined> | undefined;
}

interface ListedAssets {
  assets: ReadonlyMap<string, ListedAsset[]>;
  heard?: HeardOfAssets;
}

/** The same of their contracts: protocols of which nobody was told what theirs are now. */
export interface HeardOfAssets {
  untold: ReadonlySet<string> | undefined;
}

/** Whether people know of a protocol what is listed now. */
const isTold = (heard: { untold: { has(name: string): boolean } | undefined } | undefined, name: string): boolean =>
  heard === undefined || heard.untold?.has(name) === false;

type KnownRoutes = Pick<ListedProtocol, 'channels' | 'notifyOn' | 'triggers'>;

export interface CatalogChange {
  added: string[];
  removed: string[];
  /** In the catalog but not in this listing; still polled. */
  missing: string[];
  /** Why the listing was read in part only; what it did not reach stays as it was known. */
  unfinished?: ServiceError;
  /** Changes of routes are not followed yet, as nothing could be compared. */
  isUncompared?: true;
  /** What could not be read, or not whole; absent where there is nothing. */
  malformed?: readonly (MalformedItem & { name: string })[];
}

/** Why a track is read: the config has its protocol and source, and the service lists it. */
export interface Reason {
  /** Another one where it was left out meanwhile, by the config or by the service. */
  token: string;
  /** Since when this is the reason, in epoch milliseconds by our clock. */
  since: number;
  /** Since when the config has it again, or its source newly; 0: from the first. */
  includedSince: number;
}

/** A protocol that the service lists, and nobody reads, or not all of it. */
export interface Unwatched {
  name: string;
  /** `excluded`: by the config. `unaskable`: by its name, which no URL can carry. `unreadable`: as it is listed. */
  why: 'excluded' | 'unaskable' | 'unreadable';
  problem?: string;
}

/** Unreadable protocols of a listing that are named, and how much of each name. */
const MOST_UNREADABLE = 20;
const NAME_EXCERPT = 80;

const unreadableOf = ({ protocols, malformed = [] }: Listed): Unwatched[] => {
  const read = new Set(protocols.map(({ name }) => name));
  return malformed
    .filter(({ name }) => !read.has(name))
    .slice(0, MOST_UNREADABLE)
    .map(({ name, problem }) => ({ name: name.slice(0, NAME_EXCERPT), why: 'unreadable', problem }));
};

/** Listings in a row that must lack a protocol before it is polled no more. */
const MISSED_LIMIT = 3;

/** A service may list several protocols of one name: their alerts are one protocol's, and go to the channels of each. */
const byOwnName = (protocols: readonly ListedProtocol[], known: Entries): ListedProtocol[] =>
  [...Map.groupBy(protocols, ({ name }) => name)].flatMap(([name, all]) => {
    const [first] = all;
    if (first === undefined || all.length === 1) return all;
    const severities = new Set(all.flatMap(({ triggers = {} }) => Object.keys(triggers)));
    const groupsOf = (severity: string) => all.flatMap(({ triggers = {} }) => triggers[severity] ?? []);
    return {
      ...(all.find(({ protocolId }) => protocolId === known.get(name)?.protocolId) ?? first),
      channels: all.flatMap(({ channels }) => channels),
      notifyOn: [...new Set(all.flatMap(({ notifyOn }) => notifyOn))],
      triggers: Object.fromEntries([...severities].map((severity) => [severity, groupsOf(severity)])),
    };
  });

/** As people know it; what is new to everybody, as it is listed. */
const asHeard = (listed: ListedProtocol, known: Entries, heard: Heard | undefined): ListedProtocol => {
  if (isTold(heard, listed.name)) return listed;
  const { channels, notifyOn, triggers } = known.get(listed.name) ?? heard?.untold?.get(listed.name) ?? listed;
  return { ...listed, channels, notifyOn, ...(triggers === undefined ? {} : { triggers }) };
};

/** So long it is said of an admin since when it is one. */
const RECENT_ADMIN_MS = DAY_MS;

/** With since when each admin is one, where that is recent. Of the first listing nobody knows. */
const withAdminsSince = (
  before: readonly ListedAsset[] | undefined,
  { adminsSince: _, ...asset }: ListedAsset,
  now: number,
): ListedAsset => {
  if (before === undefined) return asset;
  const known = before.find(({ address, chainId }) => address === asset.address && chainId === asset.chainId);
  const sinceOf = (admin: string): number | undefined =>
    known?.admins?.includes(admin) ? known.adminsSince?.[admin] : now;
  const recent = (asset.admins ?? []).flatMap((admin): [string, number][] => {
    const since = sinceOf(admin);
    return since === undefined || Math.abs(now - since) > RECENT_ADMIN_MS ? [] : [[admin, since]];
  });
  return recent.length === 0 ? asset : { ...asset, adminsSince: Object.fromEntries(recent) };
};

const withAssets = (assets: ListedAsset[] | undefined) => (assets === undefined ? {} : { assets });

/**
 * The new listing, with those that it lacks kept for a while. One that was not read to its end lacks nothing, so it may
 * only add what there is room for: an endless one could bring others each time.
 */
const merge = (
  known: Entries,
  all: readonly CatalogEntry[],
  { isWhole, heard }: { isWhole: boolean; heard: Heard | undefined },
): CatalogEntry[] => {
  const counts = isWhole && (heard === undefined || (heard.isTurn && heard.untold !== undefined));
  const fresh = all.filter(({ name }) => !known.has(name));
  const refused = new Set(isWhole ? [] : fresh.slice(Math.max(0, MOST_PROTOCOLS - known.size)));
  const listed = all.filter((entry) => !refused.has(entry));
  const names = new Set(listed.map(({ name }) => name));
  const absent = [...known.values()]
    .filter(({ name }) => !names.has(name))
    .map((entry) => (counts ? { ...entry, missed: entry.missed + 1 } : entry));
  const isKept = ({ name, missed }: CatalogEntry): boolean =>
    missed < MISSED_LIMIT || heard?.untold?.has(name) === true;
  return [...listed, ...absent.filter(isKept)];
};

/** What follows from a listing is reckoned once a listing, and not at each question: each alert and each read asks. */
const oncePerListing = <T extends object>(reckon: (entries: Entries) => T) => {
  const known = new WeakMap<Entries, T>();
  return (entries: Entries): T => getOrCreate(known, entries, () => reckon(entries));
};

export const createCatalog = (settings: CatalogSettings) => {
  const { redis, prefix, list, listAssets, isIncluded, now = Date.now } = settings;
  const store = createCatalogStore(redis, prefix, now);
  const included = oncePerListing((entries): Entries => new Map([...entries].filter(([name]) => isIncluded(name))));
  const namesOf = oncePerListing((entries): ReadonlySet<string> => new Set([...entries.keys()].map(plainName)));

  const unwatchedOf = (name: string): Unwatched[] => {
    if (!isIncluded(name)) return [{ name, why: 'excluded' }];
    return isPathSegment(name) ? [] : [{ name, why: 'unaskable' }];
  };

  return {
    /**
     * The config that reads these sources is in force since then: what it has and did not have before is owed from then on.
     * To be called before anything is read by it. Gives the tracks that were read, and are not any more.
     */
    adopt: async (service: string, sources: readonly Source[], since: number): Promise<Track[]> => {
      const known = await store.load(service);
      const adopted = [...known.values()].map((entry): CatalogEntry => {
        const { owedSince, includedSince: _, ...rest } = entry;
        if (!isIncluded(entry.name)) return rest;
        return owedSince === undefined ? { ...rest, owedSince: since, includedSince: since } : entry;
      });
      const before = store.sources(service);
      const sourcesSince = sources.map((source) => [source, before === undefined ? 0 : (before[source] ?? since)]);
      await store.keep(service, known, byName(adopted), Object.fromEntries(sourcesSince));
      const former = Object.keys(before ?? {}) as Source[];
      return [...known.values()].flatMap(({ name: protocol, owedSince }) => {
        if (owedSince === undefined) return [];
        const left = isIncluded(protocol) ? former.filter((source) => !sources.includes(source)) : former;
        return left.map((source) => ({ service, source, protocol }));
      });
    },
    /** Undefined where it is not read. */
    reasonFor: async ({ service, source, protocol }: Track): Promise<Reason | undefined> => {
      const entry = included(await store.load(service)).get(protocol);
      if (entry === undefined) return undefined;
      const { protocolId, owedSince = 0 } = entry;
      const includedSince = Math.max(entry.includedSince ?? 0, store.sources(service)?.[source] ?? 0);
      const token = JSON.stringify([protocolId ?? owedSince, includedSince]);
      return { token, since: Math.max(owedSince, includedSince), includedSince };
    },
    refresh: async (service: string, signal: AbortSignal): Promise<CatalogChange> => {
      const askedAt = now();
      await store.begin(service, askedAt);
      const answer = await list(service, signal);
      const { malformed = [], unfinished, heard } = answer;
      const listedBefore = await store.listedAt(service);
      const known = await store.load(service);
      const owedSince = (name: string) =>
        isIncluded(name) ? { owedSince: known.get(name)?.owedSince ?? listedBefore } : {};
      const includedSince = (name: string) => {
        const since = known.get(name)?.includedSince;
        return since === undefined ? {} : { includedSince: since };
      };
      const kept = (name: string) => ({
        ...owedSince(name),
        ...includedSince(name),
        ...withAssets(known.get(name)?.assets),
      });
      const protocols = byOwnName(answer.protocols, known).map((entry) => asHeard(entry, known, heard));
      const listed = protocols.map((entry) => ({ ...entry, missed: 0, ...kept(entry.name) }));
      const merged = merge(known, listed, { isWhole: unfinished === undefined, heard });
      const next = byName(merged);
      await store.keep(service, known, next);
      await store.setUnreadable(service, JSON.stringify(unreadableOf(answer)));
      // What a later listing reaches is owed since the last one that was whole.
      if (unfinished === undefined) await store.setListedAt(service, askedAt);
      return {
        added: [...next.keys()].filter((name) => !known.has(name) && isIncluded(name)),
        removed: [...known.keys()].filter((name) => !next.has(name) && isIncluded(name)),
        missing: merged.filter(({ missed, name }) => missed > 0 && isIncluded(name)).map(({ name }) => name),
        ...(unfinished === undefined ? {} : { unfinished }),
        ...(heard !== undefined && heard.untold === undefined ? { isUncompared: true } : {}),
        ...(malformed.length === 0 ? {} : { malformed }),
      };
    },
    /**
     * Lists the assets again and keeps what came; throws what kept the rest from coming. Apart from `refresh`: a heavy answer
     * must not hold up what polling needs.
     */
    refreshAssets: async (service: string, signal: AbortSignal): Promise<void> => {
      const { assets, heard, unfinished } = (await listAssets?.(service, signal)) ?? {};
      const known = await store.load(service);
      const at = now();
      const fresh = (entry: CatalogEntry): CatalogEntry => {
        const listed = isTold(heard, entry.name) || entry.assets === undefined ? assets?.get(entry.name) : undefined;
        return { ...entry, ...withAssets(listed?.map((asset) => withAdminsSince(entry.assets, asset, at))) };
      };
      await store.keep(service, known, byName([...known.values()].map(fresh)));
      if (unfinished !== undefined) throw unfinished;
    },
    /** The included protocols of a service by name, from the last good listing. Empty before the first. */
    protocols: async (service: string): Promise<Entries> => included(await store.load(service)),
    /** The one of them that is named. */
    protocolOf: async (named: { service: string; protocol: string }): Promise<CatalogEntry | undefined> =>
      included(await store.recent(named.service)).get(named.protocol),
    /** Names of all that the service lists, each as `plainName` writes it. */
    names: async (service: string): Promise<ReadonlySet<string>> => namesOf(await store.load(service)),
    /** What the service lists beside them, and those of them that cannot be read whole. */
    unwatched: async (service: string): Promise<Unwatched[]> => [
      ...[...(await store.load(service)).keys()].flatMap(unwatchedOf),
      ...(JSON.parse(await store.unreadable(service)) as Unwatched[]),
    ],
  };
};

export type Catalog = ReturnType<typeof createCatalog>;
