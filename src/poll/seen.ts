/** What was read before: identities that are queued already, items that are counted, malformed ones that are reported. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Source } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { alertId, contentId, type Item, type MalformedItem } from '../item.ts';
import { createRarely } from '../rarely.ts';
import { iso } from '../time.ts';
import { type Track, trackKey } from './cursor.ts';

export interface Identity {
  id: string;
  /** The item's latest date in epoch milliseconds: it is remembered as long as a read can bring it again. */
  latest: number;
}

type Identified = Pick<Alert, 'service' | 'source' | 'itemId' | 'txHash'>;

/** Of the item, whichever alert it is: under one id a service may give another transaction. `id`: where `alertId` is known. */
export const identityOf = (
  { service, source, itemId, txHash }: Identified,
  latest = 0,
  id = alertId(service, source, itemId),
): Identity => ({ id: txHash === undefined ? id : contentId(id, txHash), latest });

const CHUNK = 500;

export const seenKey = (prefix: string, track: Track): string => `${prefix}:seen:${trackKey(track)}`;

/** Identities of items that are queued already, by track: what overlap, sweep or a crash repeats is not queued twice. */
export const createSeen = (redis: Redis | Cluster, prefix: string) => {
  /** Those that were never remembered, in their order, and those that have to be kept for longer than was known. */
  const compare = async (track: Track, identities: readonly Identity[]) => {
    const [unknown, later]: [Identity[], Identity[]] = [[], []];
    for (const chunk of chunksOf(identities, CHUNK)) {
      const scores = await redis.zmscore(seenKey(prefix, track), ...chunk.map(({ id }) => id));
      for (const [index, identity] of chunk.entries()) {
        const score = scores[index] ?? null;
        if (score === null) unknown.push(identity);
        else if (identity.latest > Number(score)) later.push(identity);
      }
    }
    return { unknown, later };
  };
  return {
    compare,
    unknown: async (track: Track, identities: readonly Identity[]): Promise<Identity[]> =>
      (await compare(track, identities)).unknown,
  };
};

export type Seen = ReturnType<typeof createSeen>;

/** Of one service and source; beyond it the oldest are forgotten, and would count again. */
const MOST_REMEMBERED = 100_000;
/** How often what is too old or too much is forgotten, while one of them is remembered. */
const TIDIED_IN_THAT_TIME = 60;

/**
 * Which items are read for the first time: overlap and sweep read most of them again, in any daemon. `keepMs`: how long a
 * read may bring an item again.
 */
export const createFirstReads = (
  redis: Redis | Cluster,
  prefix: string,
  { keepMs, now, most = MOST_REMEMBERED }: { keepMs: number; now(): number; most?: number },
) => {
  const rarely = createRarely(now, keepMs / TIDIED_IN_THAT_TIME);
  return {
    /** Gives those that were not read before, and remembers them. */
    admit: async (service: string, source: Source, items: readonly Item[]): Promise<Item[]> => {
      const byId = new Map(items.map((item) => [alertId(service, source, item.itemId), item]));
      if (byId.size === 0) return [];
      const key = `${prefix}:read:${JSON.stringify([service, source])}`;
      // No other read has the same moment: so it shows which of them are new.
      const at = now() + Math.random();
      const asked: Promise<number>[] = [redis.zadd(key, 'NX', ...[...byId.keys()].flatMap((id) => [at, id]))];
      rarely(key, () => {
        asked.push(redis.zremrangebyscore(key, '-inf', now() - keepMs), redis.zremrangebyrank(key, 0, -(most + 1)));
        asked.push(redis.pexpire(key, 2 * keepMs));
      });
      const [added] = await Promise.all(asked);
      if (added === byId.size) return [...byId.values()];
      const readAt = added === 0 ? [] : await redis.zmscore(key, ...byId.keys());
      return [...byId.values()].filter((_, index) => Number(readAt[index] ?? Number.NaN) === at);
    },
  };
};

/** Where it was read: in one of the two lists of items, or in the listing of protocols. */
type ReadFrom = Source | 'protocols';

interface Quarantined extends MalformedItem {
  service: string;
  source: ReadFrom;
  /** ISO 8601: when it was first read. */
  at: string;
}

/** Beyond it new ones are reported but not kept: a service that gives nothing else must not fill Redis. */
const KEPT = 1000;
const RAW_CHARACTERS = 4000;

const bounded = ({ problem, raw }: MalformedItem): MalformedItem => {
  const json = JSON.stringify(raw);
  return json.length <= RAW_CHARACTERS ? { problem, raw } : { problem, raw: json.slice(0, RAW_CHARACTERS) };
};

/** Malformed items: kept for people to see, reported once, and never in the way of the items beside them. */
export const createQuarantine = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const key = `${prefix}:quarantine`;
  return {
    /** Keeps those that are not kept yet, and gives them. */
    admit: async (service: string, source: ReadFrom, malformed: readonly MalformedItem[]): Promise<MalformedItem[]> => {
      const fresh: MalformedItem[] = [];
      for (const item of malformed) {
        const id = contentId(service, source, JSON.stringify(item.raw));
        const entry: Quarantined = { service, source, at: iso(now()), ...bounded(item) };
        if ((await redis.hsetnx(key, id, JSON.stringify(entry))) === 0) continue;
        fresh.push(item);
        if ((await redis.hlen(key)) > KEPT) await redis.hdel(key, id);
      }
      return fresh;
    },
    list: async (): Promise<Quarantined[]> =>
      Object.values(await redis.hgetall(key))
        .map((json) => JSON.parse(json) as Quarantined)
        .sort((a, b) => a.at.localeCompare(b.at)),
    count: (): Promise<number> => redis.hlen(key),
  };
};

export type Quarantine = ReturnType<typeof createQuarantine>;
