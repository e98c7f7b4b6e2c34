/** Identities of items that are queued already, by track: what overlap, sweep or a crash repeats is not queued twice. */
import type { Cluster, Redis } from 'ioredis';
import { chunksOf } from '../chunks.ts';
import { type Track, trackKey } from './cursor.ts';

export interface Identity {
  /** The alert's id. */
  id: string;
  /** The item's latest date in epoch milliseconds: it is remembered as long as a read can bring it again. */
  latest: number;
}

export interface Seen {
  /** Those of `identities` that were never remembered, in their order. */
  unknown(track: Track, identities: readonly Identity[]): Promise<Identity[]>;
  /** The same, and those that have to be kept for longer than was known. */
  compare(track: Track, identities: readonly Identity[]): Promise<{ unknown: Identity[]; later: Identity[] }>;
}

const CHUNK = 500;

export const seenKey = (prefix: string, track: Track): string => `${prefix}:seen:${trackKey(track)}`;

export const createSeen = (redis: Redis | Cluster, prefix: string): Seen => {
  const compare: Seen['compare'] = async (track, identities) => {
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
  return { compare, unknown: async (track, identities) => (await compare(track, identities)).unknown };
};
