/** Keeps the state of rate limits, shared by all daemons: a write counts only if nobody else wrote meanwhile. */
import { createHash } from 'node:crypto';
import type { RedisClient } from '../redis/connect.ts';
import type { Line } from './line-rule.ts';
import { EMPTY_STATE, type RateState } from './rate-limit-rule.ts';

/** A state as it was read or written; `version` is the store's own word for it. */
export interface KeptState {
  version: string;
  state: RateState;
}

export interface RateStateStore {
  /**
   * Writes `next` for this many milliseconds if `expected` is still what is kept; left out means nothing is. Without `next`
   * it only compares. Gives what is kept afterwards.
   */
  compareAndSet(
    id: string,
    expected: KeptState | undefined,
    next: RateState | undefined,
    keepMs: number,
  ): Promise<{ isMatch: boolean; kept: KeptState }>;
}

/**
 * KEYS: the hash, the latest slots. ARGV: the expected version; to write, the hash's six fields, for how many
 * milliseconds, when it was changed, and the slots. Answers with nothing where the version was the expected one, else with
 * when it was changed and what is kept. The version is a hash of the kept values but the time of the change, which an
 * older release does not write: so a write by a daemon of an older release, whose scripts know no version, is noticed, too.
 */
const COMPARE_AND_SET = `
local kept = redis.call('HMGET', KEYS[1], 'tat', 'hold', 'shift', 'rest', 'rests', 'lines')
for index = 1, 6 do kept[index] = kept[index] or '0' end
for _, slot in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do kept[#kept + 1] = slot end
local text = table.concat(kept, ' ')
if redis.sha1hex(text) ~= ARGV[1] then return (redis.call('HGET', KEYS[1], 'at') or '0') .. ' ' .. text end
if #ARGV == 1 then return false end
redis.call('HSET', KEYS[1], 'tat', ARGV[2], 'hold', ARGV[3], 'shift', ARGV[4], 'rest', ARGV[5], 'rests', ARGV[6], 'lines', ARGV[7], 'at', ARGV[9])
redis.call('PEXPIRE', KEYS[1], ARGV[8])
redis.call('DEL', KEYS[2])
for from = 10, #ARGV, 1000 do redis.call('RPUSH', KEYS[2], unpack(ARGV, from, math.min(from + 999, #ARGV))) end
redis.call('PEXPIRE', KEYS[2], ARGV[8])
return false`;

const versionOf = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A line's name is hex digits, or that of the line for all others; `0` means no lines. */
const linesText = (lines: readonly Line[]): string =>
  lines.map(({ name, served, last }) => `${name}:${served}:${last}`).join() || '0';

const parseLines = (text: string): Line[] =>
  (text === '0' ? [] : text.split(',')).map((line) => {
    const [name = '', served, last] = line.split(':');
    return { name, served: Number(served), last: Number(last) };
  });

const valuesOf = ({ tat, hold, shift, rest, rests, lines, latest }: RateState): (number | string)[] => [
  ...[tat, hold, shift, rest, rests, linesText(lines)],
  ...latest,
];

const keptOf = (state: RateState): KeptState => ({ version: versionOf(valuesOf(state).join(' ')), state });

const parseKept = (answer: string): KeptState => {
  const text = answer.slice(answer.indexOf(' ') + 1);
  const values = answer.split(' ');
  const lines = parseLines(values[6] ?? '0');
  const [at = 0, tat = 0, hold = 0, shift = 0, rest = 0, rests = 0, _lines, ...latest] = values.map(Number);
  return { version: versionOf(text), state: { tat, hold, shift, rest, rests, lines, at, latest } };
};

const NOTHING = keptOf(EMPTY_STATE);

export const createRateStateStore = (redis: RedisClient, prefix: string): RateStateStore => ({
  compareAndSet: async (id, expected = NOTHING, next, keepMs) => {
    const [tat, hold, shift, rest, rests, lines, ...latest] = next ? valuesOf(next) : [];
    const values = next ? [tat, hold, shift, rest, rests, lines, keepMs, next.at, ...latest] : [];
    const keys = [`${prefix}:slot:${id}`, `${prefix}:slots:${id}`];
    const args = [expected.version, ...values.map(String)];
    const other = (await redis.eval(COMPARE_AND_SET, 2, ...keys, ...args)) as string | null;
    if (other !== null) return { isMatch: false, kept: parseKept(other) };
    return { isMatch: true, kept: next ? keptOf(next) : expected };
  },
});
