/**
 * What a poll writes about itself. Each write is one script, which demands that the poll still holds its lock, that the
 * Redis that runs it is the one that has its jobs, and that the cursor exists. So nothing is remembered, moved or copied
 * past items whose jobs a failover lost; they are read again.
 */

import type { Cluster, Redis } from 'ioredis';
import { chunksOf } from '../chunks.ts';
import { fenced, type HeldLock, SERVER_FUNCTION } from '../redis/lock.ts';
import { type Cursor, cursorKey, type Moving, type Track } from './cursor.ts';
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

// The cursors of many quiet tracks, committed together. A quiet poll holds no lock, so a cursor moves only where it is
// still what the poll had read from: it was not lost, nobody set it, and nobody else moved its position. All of it only at
// the Redis that has the jobs of what was read before, see decision 033.

export interface QuietTrack {
  track: Track;
  /** As the quiet polls have moved it. */
  cursor: Cursor;
  /** Its position in Redis, where nobody has moved it meanwhile. */
  stored: number;
  /** Identities dated before this are forgotten; absent: none. */
  forgetBefore?: number;
}

/** `changed`: the cursor is another one by now. Else the date of the track's oldest alert that is still on its way. */
export type QuietAnswer = 'changed' | { oldest: number | undefined };

export interface QuietCommits {
  /** Undefined, and nothing is written, where Redis is not `server`, a run id. The answers are in the tracks' order. */
  commit(server: string, tracks: readonly QuietTrack[]): Promise<QuietAnswer[] | undefined>;
}

/** KEYS: cursor, seen, open alerts of each track; ARGV: server, then seven of each: begun, stored, four fields, date. */
const COMMIT = `${SERVER_FUNCTION}
if server() ~= ARGV[1] then return false end
local FIELDS = {'position', 'sweptTo', 'sweptAt', 'polledAt'}
local function grow(key, values, from)
  local set = {}
  for i, field in ipairs(FIELDS) do
    local to, old = tonumber(ARGV[from + i]), tonumber(values[i + 1] or '')
    if to ~= nil and (old == nil or to > old) then
      set[#set + 1] = field
      set[#set + 1] = ARGV[from + i]
    end
  end
  if #set > 0 then redis.call('HSET', key, unpack(set)) end
end
local answers = {}
for i = 1, #KEYS, 3 do
  local from = 1 + (i - 1) / 3 * 7
  local values = redis.call('HMGET', KEYS[i], 'begun', unpack(FIELDS))
  local begun, stored = tonumber(values[1] or ''), tonumber(values[2] or '')
  if stored == nil or begun ~= tonumber(ARGV[from + 1]) or stored ~= tonumber(ARGV[from + 2]) then
    answers[#answers + 1] = 'changed'
  else
    grow(KEYS[i], values, from + 2)
    if ARGV[from + 7] ~= '' then redis.call('ZREMRANGEBYSCORE', KEYS[i + 1], '-inf', '(' .. ARGV[from + 7]) end
    answers[#answers + 1] = redis.call('ZRANGE', KEYS[i + 2], 0, 0, 'WITHSCORES')[2] or ''
  end
end
return answers`;

const answerOf = (text: string): QuietAnswer =>
  text === 'changed' ? text : { oldest: text === '' ? undefined : Number(text) };

/** `openKey`: where the ledger keeps a track's open alerts, by date. */
export const createQuietCommits = (
  redis: Redis | Cluster,
  prefix: string,
  openKey: (track: Track) => string,
): QuietCommits => ({
  commit: async (server, tracks) => {
    const keys = tracks.flatMap(({ track }) => [cursorKey(prefix, track), seenKey(prefix, track), openKey(track)]);
    const args = tracks.flatMap(({ cursor, stored, forgetBefore = '' }) => {
      const { begun = '', position, sweptTo, sweptAt = '', polledAt = '' } = cursor;
      return [begun, stored, position, sweptTo, sweptAt, polledAt, forgetBefore];
    });
    const answers = await redis.eval(COMMIT, keys.length, ...keys, server, ...args);
    return answers === null ? undefined : (answers as string[]).map(answerOf);
  },
});
