/**
 * Which protocols there are and where each one's alerts go. The last good listing of each key is kept in Redis:
 * a start while the service is down polls with it, and every daemon reads the same one.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { ListedAsset, ListedProtocol } from '../alert.ts';

export interface CatalogEntry extends ListedProtocol {
  /** Listings in a row that did not have it. A page that shifted must not end a protocol's polling. */
  missed: number;
  /** Absent until they were listed once. */
  assets?: ListedAsset[];
  /**
   * Epoch milliseconds by our clock: the listing before the first that had it, for the very first one the first question.
   * What happened since then is news to nobody yet. Absent while the config leaves the protocol out.
   */
  owedSince?: number;
}

export interface CatalogDependencies {
  redis: Redis | Cluster;
  prefix: string;
  /** Every page of one key's listing, at once or not at all. Throws `ServiceError`. */
  list(service: string, signal: AbortSignal): Promise<ListedProtocol[]>;
  /** The assets of one key's protocols by name, those that it tells. Throws `ServiceError`. Default: none. */
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

/** So many listings in a row must lack a protocol before it is polled no more. */
const MISSED_LIMIT = 3;

interface Cached {
  version: string;
  entries: ReadonlyMap<string, CatalogEntry>;
}

const byName = (entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> =>
  new Map(entries.map((entry) => [entry.name, entry]));

const withAssets = (assets: ListedAsset[] | undefined) => (assets === undefined ? {} : { assets });

/** The new listing, with those that it lacks kept for a while. */
const merge = (known: ReadonlyMap<string, CatalogEntry>, listed: readonly CatalogEntry[]): CatalogEntry[] => {
  const names = new Set(listed.map(({ name }) => name));
  const absent = [...known.values()]
    .filter(({ name }) => !names.has(name))
    .map((entry) => ({ ...entry, missed: entry.missed + 1 }));
  return [...listed, ...absent.filter(({ missed }) => missed < MISSED_LIMIT)];
};

export const createCatalog = (dependencies: CatalogDependencies): Catalog => {
  const { redis, prefix, list, listAssets, isIncluded, now = Date.now } = dependencies;
  const cache = new Map<string, Cached>();
  const keyOf = (service: string): string => `${prefix}:catalog:${service}`;

  const save = async (service: string, catalog: Cached): Promise<Cached> => {
    const { version, entries } = catalog;
    await redis.hset(keyOf(service), { version, entries: JSON.stringify([...entries.values()]) });
    cache.set(service, catalog);
    return catalog;
  };

  const load = async (service: string): Promise<Cached> => {
    const version = (await redis.hget(keyOf(service), 'version')) ?? '';
    const cached = cache.get(service);
    if (cached?.version === version) return cached;
    // Redis lost its data: what we know is better than nothing, and is put back.
    if (cached && version === '') return save(service, cached);
    const json = await redis.hget(keyOf(service), 'entries');
    const loaded = { version, entries: byName(json === null ? [] : (JSON.parse(json) as CatalogEntry[])) };
    cache.set(service, loaded);
    return loaded;
  };

  /** Asked for each alert and each new cursor, so the globs are tried once a listing and not once a question. */
  const selections = new WeakMap<Cached, ReadonlyMap<string, CatalogEntry>>();
  const included = (catalog: Cached): ReadonlyMap<string, CatalogEntry> => {
    const known = selections.get(catalog);
    if (known) return known;
    const selection = new Map([...catalog.entries].filter(([name]) => isIncluded(name)));
    selections.set(catalog, selection);
    return selection;
  };

  /** What the service lists now, and what was known of it before. */
  const listAll = async (service: string, signal: AbortSignal) => {
    const key = keyOf(service);
    const askedAt = now();
    await redis.hsetnx(key, 'listedAt', askedAt);
    const listed = await list(service, signal);
    const listedBefore = Number(await redis.hget(key, 'listedAt'));
    const { entries: known } = await load(service);
    const owedSince = (name: string) =>
      isIncluded(name) ? { owedSince: known.get(name)?.owedSince ?? listedBefore } : {};
    const kept = (name: string) => ({ ...owedSince(name), ...withAssets(known.get(name)?.assets) });
    return { known, listed: listed.map((entry) => ({ ...entry, missed: 0, ...kept(entry.name) })), askedAt };
  };

  /** A new version only where something changed: every daemon reads it whole. */
  const keep = async (service: string, known: Cached['entries'], entries: Cached['entries']): Promise<void> => {
    const isSame = JSON.stringify([...entries.values()]) === JSON.stringify([...known.values()]);
    if (!isSame) await save(service, { version: randomUUID(), entries });
  };

  return {
    refresh: async (service, signal) => {
      const { known, listed, askedAt } = await listAll(service, signal);
      const merged = merge(known, listed);
      const next = byName(merged);
      await keep(service, known, next);
      await redis.hset(keyOf(service), 'listedAt', askedAt);
      return {
        added: [...next.keys()].filter((name) => !known.has(name) && isIncluded(name)),
        removed: [...known.keys()].filter((name) => !next.has(name) && isIncluded(name)),
        missing: merged.filter(({ missed, name }) => missed > 0 && isIncluded(name)).map(({ name }) => name),
      };
    },
    refreshAssets: async (service, signal) => {
      const assets = await listAssets?.(service, signal);
      const { entries: known } = await load(service);
      const told = (entry: CatalogEntry) => ({ ...entry, ...withAssets(assets?.get(entry.name)) });
      await keep(service, known, byName([...known.values()].map(told)));
    },
    protocols: async (service) => included(await load(service)),
    protocolOf: async ({ service, protocol }) => included(await load(service)).get(protocol),
  };
};
