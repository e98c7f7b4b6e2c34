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
  /** Remembers; an item whose date grew is kept for longer. */
  remember(track: Track, identities: readonly Identity[]): Promise<void>;
  /** Forgets what no read can bring any more: everything dated before `before`. */
  forget(track: Track, before: number): Promise<void>;
}

const CHUNK = 500;

export const createSeen = (redis: Redis | Cluster, prefix: string): Seen => {
  const keyOf = (track: Track): string => `${prefix}:seen:${trackKey(track)}`;

  const unknownOf = async (key: string, chunk: readonly Identity[]): Promise<Identity[]> => {
    const scores = await redis.zmscore(key, ...chunk.map(({ id }) => id));
    return chunk.filter((_, index) => scores[index] === null);
  };

  return {
    unknown: async (track, identities) => {
      const unknown: Identity[] = [];
      for (const chunk of chunksOf(identities, CHUNK)) unknown.push(...(await unknownOf(keyOf(track), chunk)));
      return unknown;
    },
    remember: async (track, identities) => {
      for (const chunk of chunksOf(identities, CHUNK)) {
        await redis.zadd(keyOf(track), 'GT', ...chunk.flatMap(({ id, latest }) => [latest, id]));
      }
    },
    forget: async (track, before) => {
      await redis.zremrangebyscore(keyOf(track), '-inf', `(${before}`);
    },
  };
};
