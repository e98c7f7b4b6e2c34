/** Malformed items: kept for people to see, reported once, and never in the way of the items beside them. */
import type { Cluster, Redis } from 'ioredis';
import type { Source } from '../alert.ts';
import { contentId } from '../identity.ts';
import type { MalformedItem } from '../item.ts';
import { iso } from '../time.ts';

/** Where it was read: in one of the two lists of items, or in the listing of protocols. */
type ReadFrom = Source | 'protocols';

export interface Quarantined extends MalformedItem {
  service: string;
  source: ReadFrom;
  /** ISO 8601: when it was first read. */
  at: string;
}

export interface Quarantine {
  /** Keeps those that are not kept yet, and gives them. */
  admit(service: string, source: ReadFrom, malformed: readonly MalformedItem[]): Promise<MalformedItem[]>;
  list(): Promise<Quarantined[]>;
  count(): Promise<number>;
}

/** Beyond it new ones are reported but not kept: a service that gives nothing else must not fill Redis. */
const KEPT = 1000;
const RAW_CHARACTERS = 4000;

const bounded = ({ problem, raw }: MalformedItem): MalformedItem => {
  const json = JSON.stringify(raw);
  return json.length <= RAW_CHARACTERS ? { problem, raw } : { problem, raw: json.slice(0, RAW_CHARACTERS) };
};

export const createQuarantine = (redis: Redis | Cluster, prefix: string, now: () => number): Quarantine => {
  const key = `${prefix}:quarantine`;
  return {
    admit: async (service, source, malformed) => {
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
    list: async () =>
      Object.values(await redis.hgetall(key))
        .map((json) => JSON.parse(json) as Quarantined)
        .sort((a, b) => a.at.localeCompare(b.at)),
    count: () => redis.hlen(key),
  };
};
