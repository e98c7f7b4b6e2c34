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
}

const CHUNK = 500;

export const seenKey = (prefix: string, track: Track): string => `${prefix}:seen:${trackKey(track)}`;

export const createSeen = (redis: Redis | Cluster, prefix: string): Seen => {
  const unknownOf = async (key: string, chunk: readonly Identity[]): Promise<Identity[]> => {
    const scores = await redis.zmscore(key, ...chunk.map(({ id }) => id));
    return chunk.filter((_, index) => scores[index] === null);
  };

  return {
    unknown: async (track, identities) => {
      const unknown: Identity[] = [];
      for (const chunk of chunksOf(identities, CHUNK))
        unknown.push(...(await unknownOf(seenKey(prefix, track), chunk)));
      return unknown;
    },
  };
};
