/**
 * Cursors as they are in Redis, each with the oldest alert of its track that was on its way at that very moment. So a daemon
 * can copy also the cursors that others move; what it read of the two at different moments could pass an alert.
 */
import type { Cluster, Redis } from 'ioredis';
import { chunksOf } from '../chunks.ts';
import { CURSOR_FIELDS, type Cursor, cursorKey, type Track, toCursor } from './cursor.ts';

export interface CursorSnapshot {
  /** Undefined where Redis has none. */
  cursor: Cursor | undefined;
  /** The date of the oldest alert that is on its way, in epoch milliseconds. */
  oldest: number | undefined;
}

export interface CursorSnapshots {
  /** In the tracks' order. */
  read(tracks: readonly Track[]): Promise<CursorSnapshot[]>;
}

/** Tracks in one script: a few milliseconds of Redis. */
const READ_AT_ONCE = 200;

/** KEYS: cursor, open alerts of each track; ARGV: the fields of a cursor. */
const READ = `
local found = {}
for i = 1, #KEYS, 2 do
  local oldest = redis.call('ZRANGE', KEYS[i + 1], 0, 0, 'WITHSCORES')[2]
  found[#found + 1] = { redis.call('HMGET', KEYS[i], unpack(ARGV)), oldest or '' }
end
return found`;

/** `openKey`: where the ledger keeps a track's open alerts, by date. */
export const createCursorSnapshots = (
  redis: Redis | Cluster,
  prefix: string,
  openKey: (track: Track) => string,
): CursorSnapshots => ({
  read: async (tracks) => {
    const all: CursorSnapshot[] = [];
    for (const chunk of chunksOf(tracks, READ_AT_ONCE)) {
      const keys = chunk.flatMap((track) => [cursorKey(prefix, track), openKey(track)]);
      const found = await redis.eval(READ, keys.length, ...keys, ...CURSOR_FIELDS);
      for (const [values, oldest] of found as [(string | null)[], string][]) {
        all.push({ cursor: toCursor(values), oldest: oldest === '' ? undefined : Number(oldest) });
      }
    }
    return all;
  },
});
