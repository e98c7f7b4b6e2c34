/**
 * What a poll writes about itself. Each write is one script, which demands that the poll still holds its lock, that the
 * Redis that runs it is the one that has its jobs, and that the cursor exists. So nothing is remembered, moved or copied
 * past items whose jobs a failover lost; they are read again.
 */

import { chunksOf } from '../chunks.ts';
import { fenced, type HeldLock } from '../redis/lock.ts';
import { cursorKey, type Moving, type Track } from './cursor.ts';
import { type Identity, seenKey } from './seen.ts';

/** Where the cursors go; a value that is missing or smaller changes nothing. */
export type Advance = { [Field in Moving]?: number | undefined };

/** Each rejects, and writes nothing, where what it demands is not so. */
export interface CommitStore {
  /** Remembers items that are queued; one whose date grew is kept for longer. */
  remember(lock: HeldLock, track: Track, identities: readonly Identity[]): Promise<void>;
  /** Moves the cursors forwards, while the read goes on. */
  advance(lock: HeldLock, tracks: readonly Track[], to: Advance): Promise<void>;
  /**
   * Moves them for the last time, forgets identities dated before `forgetBefore`, and releases the lock. Gives the date of
   * each track's oldest alert that is still on its way, in epoch milliseconds.
   */
  finish(
    lock: HeldLock,
    ends: readonly { track: Track; forgetBefore: number }[],
    to: Advance,
  ): Promise<(number | undefined)[]>;
}

/** Identities in one call. */
const CHUNK = 500;

/** keys: cursor, seen; args: the latest date and the id of each. */
const REMEMBER = fenced(`
if redis.call('EXISTS', keys[1]) == 0 then return false end
redis.call('ZADD', keys[2], 'GT', unpack(args))
return 1`);

/** `move`: sets each field of a cursor that grows. */
const MOVE = `
local function move(key, from, to)
  for i = from, to, 2 do
    local old = tonumber(redis.call('HGET', key, args[i]))
    if old == nil or tonumber(args[i + 1]) > old then redis.call('HSET', key, args[i], args[i + 1]) end
  end
end`;

/** keys: the cursors; args: field, value, field, value ... */
const ADVANCE = fenced(`${MOVE}
for _, key in ipairs(keys) do if redis.call('EXISTS', key) == 0 then return false end end
for _, key in ipairs(keys) do move(key, 1, #args) end
return 1`);

/** keys: cursor, seen, open alerts of each track; args: the date of each track, then as above. */
const FINISH = fenced(`${MOVE}
for i = 1, #keys, 3 do if redis.call('EXISTS', keys[i]) == 0 then return false end end
local oldest = {}
for i = 1, #keys, 3 do
  move(keys[i], #keys / 3 + 1, #args)
  redis.call('ZREMRANGEBYSCORE', keys[i + 1], '-inf', '(' .. args[(i + 2) / 3])
  oldest[#oldest + 1] = redis.call('ZRANGE', keys[i + 2], 0, 0, 'WITHSCORES')[2] or ''
end
return oldest`);

const pairsOf = (to: Advance): (string | number)[] =>
  Object.entries(to).flatMap(([field, value]) => (value === undefined ? [] : [field, Math.floor(value)]));

/** `openKey`: where the ledger keeps a track's open alerts, by date. */
export const createCommitStore = (prefix: string, openKey: (track: Track) => string): CommitStore => ({
  remember: async (lock, track, identities) => {
    for (const chunk of chunksOf(identities, CHUNK)) {
      const keys = [cursorKey(prefix, track), seenKey(prefix, track)];
      await lock.write(
        REMEMBER,
        keys,
        chunk.flatMap(({ id, latest }) => [latest, id]),
      );
    }
  },
  advance: async (lock, tracks, to) => {
    const pairs = pairsOf(to);
    if (pairs.length === 0) return;
    await lock.write(
      ADVANCE,
      tracks.map((track) => cursorKey(prefix, track)),
      pairs,
    );
  },
  finish: async (lock, ends, to) => {
    const keys = ends.flatMap(({ track }) => [cursorKey(prefix, track), seenKey(prefix, track), openKey(track)]);
    const dates = ends.map(({ forgetBefore }) => Math.floor(forgetBefore));
    const oldest = (await lock.writeLast(FINISH, keys, [...dates, ...pairsOf(to)])) as string[];
    return oldest.map((date) => (date === '' ? undefined : Number(date)));
  },
});
