/**
 * The cursors of many quiet tracks, committed together. A quiet poll holds no lock, so a cursor moves only where it is
 * still what the poll had read from: it was not lost, nobody set it, and nobody else moved its position. All of it only at
 * the Redis that has the jobs of what was read before, see decision 033.
 */
import type { Cluster, Redis } from 'ioredis';
import { SERVER_FUNCTION } from '../redis/server-id.ts';
import { type Cursor, cursorKey, type Track } from './cursor.ts';
import { seenKey } from './seen.ts';

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
