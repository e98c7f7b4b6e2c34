/** The catalog of each service in Redis, whole, with a copy in memory that is read again only when it changed. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Source } from '../alert.ts';
import type { ListedAsset, ListedProtocol } from '../item.ts';

export interface CatalogEntry extends ListedProtocol {
  /** Listings in a row that did not have it. A page that shifted must not end a protocol's polling. */
  missed: number;
  /** Absent until they were listed once. */
  assets?: ListedAsset[];
  /**
   * Epoch milliseconds by our clock: when the last listing before it appeared was asked for; without one, as `begin` noted.
   * Nobody could read its items since then. Absent while the config leaves the protocol out.
   */
  owedSince?: number;
  /** Likewise: when the config had it again, after it had left it out. */
  includedSince?: number;
}

/** Since when the config has each source that it reads; 0: from the first. Epoch milliseconds by our clock. */
type SourcesSince = Partial<Record<Source, number>>;

export type Entries = ReadonlyMap<string, CatalogEntry>;

export const byName = (entries: readonly CatalogEntry[]): Entries =>
  new Map(entries.map((entry) => [entry.name, entry]));

interface Cached {
  version: string;
  entries: Entries;
  /** Absent before a config was noted. */
  sources?: SourcesSince | undefined;
  /** When Redis last had this version, in epoch milliseconds. */
  seenAt: number;
}

const RECENT_MS = 1000;

/** A protocol that is owed for longer than this has been read since. */
const FIRST_READ_MS = 3_600_000;

/**
 * What is put back after a loss of Redis. All cursors are lost, too: a protocol that the state file does not know would be
 * read, and forwarded, from when it appeared, months ago.
 */
const afterLoss = ({ entries, seenAt }: Cached): Entries => {
  const wasRead = ({ owedSince = seenAt }: CatalogEntry): boolean => seenAt - owedSince >= FIRST_READ_MS;
  return byName([...entries.values()].map((entry) => (wasRead(entry) ? { ...entry, owedSince: seenAt } : entry)));
};

export const createCatalogStore = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const cache = new Map<string, Cached>();
  const keyOf = (service: string): string => `${prefix}:catalog:${service}`;

  /** Reads on their way, by service. The alerts of one page ask at once, and share one. */
  const reads = new Map<string, { entries: Promise<Entries> }>();

  const save = async (service: string, entries: Entries, sources: SourcesSince | undefined): Promise<Entries> => {
    const version = randomUUID();
    const noted = sources === undefined ? {} : { sources: JSON.stringify(sources) };
    await redis.hset(keyOf(service), { version, entries: JSON.stringify([...entries.values()]), ...noted });
    cache.set(service, { version, entries, sources, seenAt: now() });
    // A read that began before may miss what was saved: nobody else joins it.
    reads.delete(service);
    return entries;
  };

  const read = async (service: string): Promise<Entries> => {
    const version = (await redis.hget(keyOf(service), 'version')) ?? '';
    const cached = cache.get(service);
    if (cached?.version === version) {
      cached.seenAt = now();
      return cached.entries;
    }
    // Redis lost its data: what we know is better than nothing, and is put back.
    if (cached && version === '') return save(service, afterLoss(cached), cached.sources);
    const [json, noted] = await redis.hmget(keyOf(service), 'entries', 'sources');
    const entries = byName(JSON.parse(json ?? '[]') as CatalogEntry[]);
    const sources = noted ? (JSON.parse(noted) as SourcesSince) : undefined;
    cache.set(service, { version, entries, sources, seenAt: now() });
    return entries;
  };

  const load = (service: string): Promise<Entries> => {
    const running = reads.get(service);
    if (running) return running.entries;
    const begun = { entries: read(service) };
    reads.set(service, begun);
    return begun.entries.finally(() => {
      if (reads.get(service) === begun) reads.delete(service);
    });
  };

  return {
    /** The same map as long as nothing changed; empty before the first listing. */
    load,
    /** The same, as it was at most a second ago: each alert asks. */
    recent: async (service: string): Promise<Entries> => {
      const { entries, seenAt = Number.NEGATIVE_INFINITY } = cache.get(service) ?? {};
      return entries && Math.abs(now() - seenAt) < RECENT_MS ? entries : load(service);
    },
    /** What the last `load` had of it. */
    sources: (service: string): SourcesSince | undefined => cache.get(service)?.sources,
    /** A new version only where something changed: every daemon reads it whole. `sources` left out: as they are. */
    keep: async (service: string, known: Entries, entries: Entries, sources?: SourcesSince): Promise<void> => {
      const before = cache.get(service)?.sources;
      const jsonOf = (of: Entries, from = before): string => JSON.stringify([[...of.values()], from]);
      if (jsonOf(entries, sources) !== jsonOf(known)) await save(service, entries, sources ?? before);
    },
    /** Notes when the service was asked for the first time; a later question changes nothing. */
    begin: async (service: string, at: number): Promise<void> => {
      await redis.hsetnx(keyOf(service), 'listedAt', at);
    },
    /** When the last listing that was answered was asked for, in epoch milliseconds; before that, as `begin` noted. */
    listedAt: async (service: string): Promise<number> => Number(await redis.hget(keyOf(service), 'listedAt')),
    setListedAt: async (service: string, at: number): Promise<void> => {
      await redis.hset(keyOf(service), 'listedAt', at);
    },
    /** A JSON list: what the last listing had and nobody could read. */
    unreadable: async (service: string): Promise<string> => (await redis.hget(keyOf(service), 'unreadable')) ?? '[]',
    setUnreadable: async (service: string, json: string): Promise<void> => {
      await redis.hset(keyOf(service), 'unreadable', json);
    },
  };
};
