/**
 * What a poll writes about itself. Each write is one script, which does all or nothing: it demands the Redis that has the
 * jobs of what was read, and that the cursor exists. So nothing is remembered, moved or copied past items whose jobs a
 * failover lost; they are read again. See decision 033.
 */
import type { Cluster, Redis } from 'ioredis';
import { fenced, type HeldLock, SERVER_FUNCTION } from '../redis/lock.ts';
import { execute } from '../redis/pipeline.ts';
import { type Advance, type Cursor, cursorKey, type Track } from './cursor.ts';
import { type Identity, seenKey } from './seen.ts';

/** A track that polls without its lock have read. */
interface UnlockedTrack {
  track: Track;
  /** As these polls have moved it. */
  cursor: Cursor;
  /** Its position in Redis, where nobody has moved it meanwhile. */
  stored: number;
  /** Identities dated before this are forgotten; absent: none. */
  forgetBefore?: number | undefined;
}

/** `changed`: the cursor is another one by now. Else the date of the track's oldest alert that is still on its way. */
export type UnlockedAnswer = 'changed' | { oldest: number | undefined };

/** Identities in one call. */
const CHUNK = 500;

/** keys: cursor, seen; args: the latest date and the id of each. */
const REMEMBER = fenced(`
if redis.call('EXISTS', keys[1]) == 0 then return false end
redis.call('ZADD', keys[2], 'GT', unpack(args))
return 1`);

/**
 * `load`: the values of a cursor. `move`: sets the first two where they grow, and when it was swept and polled as it is
 * given: a clock that was ahead is no reason to stay there. `args` has the new ones from `from`. `forget`: after a sweep;
 * what would expire stays, too.
 */
const MOVE = `
local FIELDS = {'position', 'sweptTo', 'sweptAt', 'polledAt', 'begun'}
local function load(key) return redis.call('HMGET', key, unpack(FIELDS)) end
local function move(key, values, args, from)
  local grown = {}
  for i = 1, 4 do
    local to, old = tonumber(args[from + i - 1]), tonumber(values[i] or '')
    if to ~= nil and (i > 2 or old == nil or to > old) then
      grown[#grown + 1] = FIELDS[i]
      grown[#grown + 1] = args[from + i - 1]
    end
  end
  if #grown > 0 then redis.call('HSET', key, unpack(grown)) end
end
local function forget(cursor, seen, before)
  if before == '' then return end
  redis.call('PERSIST', cursor)
  redis.call('PERSIST', seen)
  redis.call('ZREMRANGEBYSCORE', seen, '-inf', '(' .. before)
end
local function oldest(open)
  return redis.call('ZRANGE', open, 0, 0, 'WITHSCORES')[2] or ''
end`;

/** keys: the cursors; args: the four values. */
const ADVANCE = fenced(`${MOVE}
for _, key in ipairs(keys) do if redis.call('EXISTS', key) == 0 then return false end end
for _, key in ipairs(keys) do move(key, load(key), args, 1) end
return 1`);

/** keys: cursor, seen, open deliveries of each track; args: the four values, then the date of each track. */
const FINISH = fenced(`${MOVE}
local cursors, answers = {}, {}
for i = 1, #keys, 3 do
  cursors[i] = load(keys[i])
  if not cursors[i][1] then return false end
end
for i = 1, #keys, 3 do
  move(keys[i], cursors[i], args, 1)
  forget(keys[i], keys[i + 1], args[4 + (i + 2) / 3])
  answers[#answers + 1] = oldest(keys[i + 2])
end
return answers`);

/** KEYS: cursor, seen, open deliveries of each track; ARGV: server, then seven of each: the four values, begun, stored, date. */
const FINISH_UNLOCKED = `${SERVER_FUNCTION}${MOVE}
if server() ~= ARGV[1] then return false end
local open, answers = {}, {}
for i = 3, #KEYS, 3 do open[#open + 1] = KEYS[i] end
local isNoneOpen = redis.call('EXISTS', unpack(open)) == 0
for i = 1, #KEYS, 3 do
  local from = 2 + (i - 1) / 3 * 7
  local values = load(KEYS[i])
  local stored, begun = tonumber(values[1] or ''), tonumber(values[5] or '')
  if stored == nil or begun ~= tonumber(ARGV[from + 4]) or stored ~= tonumber(ARGV[from + 5]) then
    answers[#answers + 1] = 'changed'
  else
    move(KEYS[i], values, ARGV, from)
    forget(KEYS[i], KEYS[i + 1], ARGV[from + 6])
    answers[#answers + 1] = isNoneOpen and '' or oldest(KEYS[i + 2])
  end
end
return answers`;

const valuesOf = ({ position, sweptTo, sweptAt, polledAt }: Advance): (string | number)[] =>
  [position, sweptTo, sweptAt, polledAt].map((at) => (at === undefined ? '' : Math.floor(at)));

const oldestOf = (date: string): number | undefined => (date === '' ? undefined : Number(date));

/** `openKey`: where the ledger keeps a track's open deliveries, by date. Each write rejects if its demands are not met. */
export const createCommitStore = (redis: Redis | Cluster, prefix: string, openKey: (track: Track) => string) => {
  const keysOf = (track: Track): string[] => [cursorKey(prefix, track), seenKey(prefix, track), openKey(track)];
  return {
    /** Remembers items that are queued; one whose date grew is kept for longer. `isLast`: releases the lock with the last write. */
    remember: async (lock: HeldLock, track: Track, identities: readonly Identity[], isLast = false): Promise<void> => {
      for (let from = 0; from < identities.length; from += CHUNK) {
        const dated = identities.slice(from, from + CHUNK).flatMap(({ id, latest }) => [latest, id]);
        const write = isLast && from + CHUNK >= identities.length ? lock.writeLast : lock.write;
        await write(REMEMBER, keysOf(track).slice(0, 2), dated);
      }
    },
    /** Nobody reads these any more: they are forgotten after `keepMs`, unless somebody sweeps them again. */
    expire: async (tracks: readonly Track[], keepMs: number): Promise<void> => {
      for (const track of tracks) {
        const [cursor = '', seen = ''] = keysOf(track);
        await execute(redis.pipeline().pexpire(cursor, keepMs).pexpire(seen, keepMs));
      }
    },
    /** Moves the cursors forwards, while the read goes on. */
    advance: async (lock: HeldLock, tracks: readonly Track[], to: Advance): Promise<void> => {
      const values = valuesOf(to);
      if (values.every((value) => value === '')) return;
      const keys = tracks.map((track) => cursorKey(prefix, track));
      await lock.write(ADVANCE, keys, values);
    },
    /**
     * Moves them for the last time, forgets identities dated before `forgetBefore` if it was a sweep, and releases the lock.
     * Gives the date of each track's oldest alert that is still on its way, in epoch milliseconds.
     */
    finish: async (
      lock: HeldLock,
      ends: readonly { track: Track; forgetBefore: number }[],
      to: Advance,
    ): Promise<(number | undefined)[]> => {
      const keys = ends.flatMap(({ track }) => keysOf(track));
      const dates = ends.map(({ forgetBefore }) => (to.sweptAt === undefined ? '' : Math.floor(forgetBefore)));
      const oldest = (await lock.writeLast(FINISH, keys, [...valuesOf(to), ...dates])) as string[];
      return oldest.map(oldestOf);
    },
    /**
     * The same for many tracks that were read without a lock. A cursor moves only if it is still the one that the polls had
     * read from: it was not lost, nobody set it, and nobody else moved its position. Undefined, and nothing is written,
     * where Redis is not `server`, a run id. The answers are in the tracks' order.
     */
    finishUnlocked: async (server: string, tracks: readonly UnlockedTrack[]): Promise<UnlockedAnswer[] | undefined> => {
      const keys = tracks.flatMap(({ track }) => keysOf(track));
      const args = tracks.flatMap(({ cursor, stored, forgetBefore = '' }) => [
        ...valuesOf(cursor),
        ...[cursor.begun ?? '', stored, forgetBefore],
      ]);
      const answers = (await redis.eval(FINISH_UNLOCKED, keys.length, ...keys, server, ...args)) as string[] | null;
      return answers?.map((text) => (text === 'changed' ? text : { oldest: oldestOf(text) }));
    },
  };
};

export type CommitStore = ReturnType<typeof createCommitStore>;
