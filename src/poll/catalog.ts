/**
 * Which protocols there are and where each one's alerts go. The last good listing of each key is kept in Redis:
 * a start while the service is down polls with it, and every daemon reads the same one.
 */
import type { Cluster, Redis } from 'ioredis';
import type { ListedAsset, ListedProtocol } from '../alert.ts';
import { byName, type CatalogEntry, createCatalogStore, type Entries } from './catalog-store.ts';

export type { CatalogEntry } from './catalog-store.ts';

export interface CatalogDependencies {
  redis: Redis | Cluster;
  prefix: string;
  /** Every page of one key's listing. Throws `ServiceError` rather than give a part. */
  list(service: string, signal: AbortSignal): Promise<ListedProtocol[]>;
  /** The assets of one key's protocols by name, as far as it lists them. Throws `ServiceError`. Default: none. */
  listAssets?(service: string, signal: AbortSignal): Promise<ReadonlyMap<string, ListedAsset[]>>;
  /** By include and exclude. */
  isIncluded(protocol: string): boolean;
  /** Default `Date.now`. */
  now?(): number;
}

export interface CatalogChange {
  added: string[];
  removed: string[];
  /** In the catalog but not in this listing; still polled. */
  missing: string[];
}

export interface Catalog {
  /** Lists again and keeps the result. */
  refresh(service: string, signal: AbortSignal): Promise<CatalogChange>;
  /** Lists the assets again and keeps them. Apart from `refresh`: a heavy answer must not hold up what polling needs. */
  refreshAssets(service: string, signal: AbortSignal): Promise<void>;
  /** The included protocols of a service by name, from the last good listing. Empty before the first. */
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  /** The one of them that is named. */
  protocolOf(named: { service: string; protocol: string }): Promise<CatalogEntry | undefined>;
}

/** Listings in a row that must lack a protocol before it is polled no more. */
const MISSED_LIMIT = 3;

const withAssets = (assets: ListedAsset[] | undefined) => (assets === undefined ? {} : { assets });

/** The new listing, with those that it lacks kept for a while. */
const merge = (known: Entries, listed: readonly CatalogEntry[]): CatalogEntry[] => {
  const names = new Set(listed.map(({ name }) => name));
  const absent = [...known.values()]
    .filter(({ name }) => !names.has(name))
    .map((entry) => ({ ...entry, missed: entry.missed + 1 }));
  return [...listed, ...absent.filter(({ missed }) => missed < MISSED_LIMIT)];
};

/** Asked for each alert and each new cursor, so the globs are tried once a listing and not once a question. */
const createSelection = (isIncluded: (protocol: string) => boolean) => {
  const selections = new WeakMap<Entries, Entries>();
  return (entries: Entries): Entries => {
    const known = selections.get(entries);
    if (known) return known;
    const selection = new Map([...entries].filter(([name]) => isIncluded(name)));
    selections.set(entries, selection);
    return selection;
  };
};

export const createCatalog = (dependencies: CatalogDependencies): Catalog => {
  const { redis, prefix, list, listAssets, isIncluded, now = Date.now } = dependencies;
  const store = createCatalogStore(redis, prefix);
  const included = createSelection(isIncluded);

  /** What the service lists now, and what was known of it before. */
  const listAll = async (service: string, signal: AbortSignal) => {
    const askedAt = now();
    await store.begin(service, askedAt);
    const listed = await list(service, signal);
    const listedBefore = await store.listedAt(service);
    const known = await store.load(service);
    const owedSince = (name: string) =>
      isIncluded(name) ? { owedSince: known.get(name)?.owedSince ?? listedBefore } : {};
    const kept = (name: string) => ({ ...owedSince(name), ...withAssets(known.get(name)?.assets) });
    return { known, listed: listed.map((entry) => ({ ...entry, missed: 0, ...kept(entry.name) })), askedAt };
  };

  return {
    refresh: async (service, signal) => {
      const { known, listed, askedAt } = await listAll(service, signal);
      const merged = merge(known, listed);
      const next = byName(merged);
      await store.keep(service, known, next);
      await store.setListedAt(service, askedAt);
      return {
        added: [...next.keys()].filter((name) => !known.has(name) && isIncluded(name)),
        removed: [...known.keys()].filter((name) => !next.has(name) && isIncluded(name)),
        missing: merged.filter(({ missed, name }) => missed > 0 && isIncluded(name)).map(({ name }) => name),
      };
    },
    refreshAssets: async (service, signal) => {
      const assets = await listAssets?.(service, signal);
      const known = await store.load(service);
      const fresh = (entry: CatalogEntry) => ({ ...entry, ...withAssets(assets?.get(entry.name)) });
      await store.keep(service, known, byName([...known.values()].map(fresh)));
    },
    protocols: async (service) => included(await store.load(service)),
    protocolOf: async ({ service, protocol }) => included(await store.load(service)).get(protocol),
  };
};
