/** How far each protocol's source is durably queued. Kept in Redis; only `commit-store` moves it on, and only forwards. */
import type { Cluster, Redis } from 'ioredis';
import type { Source } from '../alert.ts';
import { getOrCreate } from '../bounded-map.ts';
import { chunksOf } from '../chunks.ts';
import type { HeldLock, Locks } from '../redis/lock.ts';

/** One protocol's source behind one key: what a cursor belongs to. */
export interface Track {
  service: string;
  source: Source;
  protocol: string;
}

/** All in epoch milliseconds by the service's clock, but `polledAt`, which is by ours. */
export interface Cursor {
  /** Where the very first poll began: nothing written before this is forwarded. */
  start: number;
  /** Everything up to here is durably queued. */
  position: number;
  /** The last sweep that found something was begun at this time; the next reads `lookback` before it. */
  sweptTo: number;
  /** When the last sweep was completed, also one that found nothing. Absent before the first. */
  sweptAt?: number;
  /** When a read was last completed, also one that found nothing. Absent before the first. */
  polledAt?: number;
  /** Where it was begun or set. */
  begun?: number;
  /** The token of the `Reason` for which it is read. */
  reason?: string;
}

/** Where a cursor goes; a value that is missing changes nothing, nor does a smaller position. */
export type Advance = { [Field in 'position' | 'sweptTo' | 'sweptAt' | 'polledAt']?: number | undefined };

const keys = new WeakMap<Track, string>();

/** Reckoned once, as each poll asks for it. */
export const trackKey = (track: Track): string =>
  getOrCreate(keys, track, () => JSON.stringify([track.service, track.source, track.protocol]));

export const cursorKey = (prefix: string, track: Track): string => `${prefix}:cursor:${trackKey(track)}`;

const FIELDS = ['start', 'position', 'sweptTo', 'sweptAt', 'polledAt', 'begun', 'reason'] as const;

/** Of the values of `FIELDS`; undefined where it is none. */
const toCursor = (values: readonly (string | null)[]): Cursor | undefined => {
  const [start, position, sweptTo, sweptAt, polledAt, begun, reason] = values;
  if (!start || !position || !sweptTo) return undefined;
  return {
    start: Number(start),
    position: Number(position),
    sweptTo: Number(sweptTo),
    ...(sweptAt ? { sweptAt: Number(sweptAt) } : {}),
    ...(polledAt ? { polledAt: Number(polledAt) } : {}),
    ...(begun ? { begun: Number(begun) } : {}),
    ...(reason ? { reason } : {}),
  };
};

export const createCursors = (redis: Redis | Cluster, prefix: string) => {
  const keyOf = (track: Track): string => cursorKey(prefix, track);
  return {
    get: (tracks: readonly Track[]): Promise<(Cursor | undefined)[]> =>
      Promise.all(tracks.map(async (track) => toCursor(await redis.hmget(keyOf(track), ...FIELDS)))),
    /** Sets a cursor that does not exist yet; an existing one is left as it is. */
    begin: async (
      track: Track,
      beginning: Pick<Cursor, 'start' | 'position' | 'sweptTo' | 'reason'>,
    ): Promise<void> => {
      const { start, position, sweptTo, reason } = beginning;
      const noted = reason === undefined ? {} : { reason };
      const fields = Object.entries({ start, position, sweptTo, begun: position, ...noted });
      await Promise.all(fields.map(([field, value]) => redis.hsetnx(keyOf(track), field, String(value))));
    },
    /** Why it is read. */
    setReason: async (track: Track, reason: string): Promise<void> => {
      await redis.hset(keyOf(track), { reason });
    },
    /** What an operator sets: moves in any direction, and reading begins again there. */
    set: async (track: Track, position: number, reason?: string): Promise<void> => {
      const at = Math.floor(position);
      const fields = { start: at, position: at, sweptTo: at, begun: at, ...(reason === undefined ? {} : { reason }) };
      await redis.multi().del(keyOf(track)).hset(keyOf(track), fields).exec();
    },
    /** Where each track was begun or set: the ledger in this Redis knows nothing before it, but by chance. */
    begun: async (tracks: readonly Track[]): Promise<(number | undefined)[]> => {
      const found = await Promise.all(tracks.map((track) => redis.hget(keyOf(track), 'begun')));
      return found.map((at) => (at === null ? undefined : Number(at)));
    },
  };
};

export type Cursors = ReturnType<typeof createCursors>;

/** Tracks in one script: a few milliseconds of Redis. */
export const TRACKS_AT_ONCE = 200;

/** KEYS: cursor, open alerts of each track; ARGV: the fields of a cursor. */
const READ = `
local found = {}
for i = 1, #KEYS, 2 do
  local oldest = redis.call('ZRANGE', KEYS[i + 1], 0, 0, 'WITHSCORES')[2]
  found[#found + 1] = { redis.call('HMGET', KEYS[i], unpack(ARGV)), oldest or '' }
end
return found`;

/**
 * Cursors as they are in Redis, each with the oldest alert of its track that was on its way at that very moment. So a daemon
 * can also copy cursors that others move: a cursor read at another moment could already be past an alert. `openKey`:
 * where the ledger keeps a track's open alerts, by date.
 */
export const createCursorSnapshots = (redis: Redis | Cluster, prefix: string, openKey: (track: Track) => string) => ({
  /** In the tracks' order; no cursor where Redis has none, and the date of the alert in epoch milliseconds. */
  read: async (tracks: readonly Track[]) => {
    const all: { cursor: Cursor | undefined; oldest: number | undefined }[] = [];
    for (const chunk of chunksOf(tracks, TRACKS_AT_ONCE)) {
      const keys = chunk.flatMap((track) => [cursorKey(prefix, track), openKey(track)]);
      const found = await redis.eval(READ, keys.length, ...keys, ...FIELDS);
      for (const [values, oldest] of found as [(string | null)[], string][]) {
        all.push({ cursor: toCursor(values), oldest: oldest === '' ? undefined : Number(oldest) });
      }
    }
    return all;
  },
});

export type CursorSnapshots = ReturnType<typeof createCursorSnapshots>;

/** One poll at a time for a track, over all daemons. */
export const createPollLock = (locks: Locks) => ({
  /** Takes all of the tracks or none: `undefined` when somebody else polls one of them. */
  take: (tracks: readonly Track[]): Promise<HeldLock | undefined> => locks.take(tracks.map(trackKey)),
});

export type PollLock = ReturnType<typeof createPollLock>;
