/**
 * Rates as slots: the free moments of a destination or sender, shared by all daemons. A job waits for one as a delayed job,
 * until it is likely to come; "try again in a second" would collapse under a storm.
 */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { RedisClient } from '../redis/connect.ts';
import type { Line } from './line-rule.ts';
import {
  EMPTY_STATE,
  hold,
  isFree,
  lastMoment,
  movedBack,
  type Rate,
  type RateState,
  reserve,
  rest,
  type Slot,
  take,
} from './rate-limit-rule.ts';
import { type Held, type Queued, queue } from './slot-turns.ts';

// Keeps the state of rate limits, shared by all daemons: a write counts only if nobody else wrote meanwhile.

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

export { LATE_MS, NEAR_MS, type Rate, type Slot } from './rate-limit-rule.ts';

/** What a rate limits: a destination, or a sender that several destinations share. */
export interface Paced {
  id: string;
}

export interface RateLimiter {
  /** The next slot, now or later; for one that is `held` already, where it is by now, unless it was missed. */
  reserve(paced: Paced, rate: Rate, held?: Slot): Promise<Slot>;
  /** The slot of this moment, if it is the turn of this line; else a ticket, with which to ask again. */
  queue(paced: Paced, rate: Rate, line: string, held: Held): Promise<Queued>;
  /** The slot of this moment, where it is free and nobody waits for it; else nothing is reserved. */
  take(paced: Paced, rate: Rate): Promise<Slot | undefined>;
  /** The provider said to wait until then: every slot moves by what that adds. Gives the first slot afterwards. */
  hold(paced: Paced, until: number, rate?: Rate): Promise<Slot>;
  /** A digest goes out now: the more of them follow each other, the longer until the next message. */
  rest(paced: Paced): Promise<void>;
}

export interface RateLimiterDependencies {
  store: RateStateStore;
  now(): number;
  /** Milliseconds by a clock that nobody sets. Default: the process' own. */
  elapsed?(): number;
}

/** A state is kept a day beyond its last moment: jobs that hold its slots may come late. */
const KEEP_MS = 86_400_000;

/** States that a process remembers, so that the usual request is one command. */
const MOST_REMEMBERED = 5000;

/** A destination without a rate is asked after once in this time: what held it up in another daemon shows that much later. */
const RECENT_MS = 1000;

/** A request fails after this many conflicts in a row with other daemons; the queue then runs its job again. */
const MOST_CONFLICTS = 100;

/** At every fifth conflict it waits a little longer than before, so that a busier daemon gets through first. */
const WAIT_EVERY = 5;

type Step<T> = (state: RateState, at: number) => { state: RateState; slot: T };

/** A request that waits for a write; `step` runs again after a conflict, and its last run counts. */
interface Request {
  step(state: RateState, at: number): RateState;
  done(): void;
  failed(error: unknown): void;
}

/** The latest states by id; the one that was used longest ago goes first. */
const createMemory = (elapsed: () => number) => {
  const states = new Map<string, { kept: KeptState; at: number }>();
  return {
    get: (id: string): KeptState | undefined => states.get(id)?.kept,
    /** What was kept a moment ago. */
    recent: (id: string): RateState | undefined => {
      const known = states.get(id);
      return known && elapsed() - known.at < RECENT_MS ? known.kept.state : undefined;
    },
    set: (id: string, kept: KeptState): void => {
      states.delete(id);
      states.set(id, { kept, at: elapsed() });
      for (const oldest of states.keys()) {
        if (states.size <= MOST_REMEMBERED) break;
        states.delete(oldest);
      }
    },
  };
};

/**
 * Group commit: requests for one id that arrive while a write for it is on its way wait, and are then applied together,
 * in order, by one write. So fifty jobs of one destination cost a few commands, not fifty.
 */
const createGroupCommit = ({ store, now, elapsed = () => performance.now() }: RateLimiterDependencies) => {
  const memory = createMemory(elapsed);
  const waiting = new Map<string, Request[]>();

  /** A group that changes nothing is compared, too: another daemon may have moved the slots. */
  const commit = async (id: string, group: readonly Request[]): Promise<void> => {
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts += 1) {
      if (conflicts % WAIT_EVERY === WAIT_EVERY - 1) await setTimeout(conflicts);
      const at = now();
      const known = memory.get(id);
      const before = known?.state ?? EMPTY_STATE;
      const stepped = group.reduce((state, { step }) => step(state, at), movedBack(before, at));
      const after = stepped === before ? before : { ...stepped, at };
      const keepMs = Math.max(0, Math.ceil(lastMoment(after) - at)) + KEEP_MS;
      const { isMatch, kept } = await store.compareAndSet(id, known, after === before ? undefined : after, keepMs);
      memory.set(id, kept);
      if (isMatch) return;
    }
    throw new Error(
      `other daemons changed the rate limit of ${id} ${MOST_CONFLICTS} times in a row while this one tried to`,
    );
  };

  const drain = async (id: string, requests: Request[]): Promise<void> => {
    while (requests.length > 0) {
      const group = requests.splice(0);
      try {
        await commit(id, group);
        for (const { done } of group) done();
      } catch (error) {
        for (const { failed } of group) failed(error);
      }
    }
    waiting.delete(id);
  };

  /** What was kept a moment ago, unless it is about to change. */
  const known = ({ id }: Paced): RateState | undefined => (waiting.has(id) ? undefined : memory.recent(id));

  const commitStep = <T>({ id }: Paced, step: Step<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let answer: () => void = () => {};
    const request: Request = {
      step: (before, at) => {
        const { state, slot } = step(before, at);
        answer = () => resolve(slot);
        return state;
      },
      done: () => answer(),
      failed: reject,
    };
    const requests = waiting.get(id);
    if (requests) requests.push(request);
    else {
      const first = [request];
      waiting.set(id, first);
      void drain(id, first);
    }
    return promise;
  };
  return { commit: commitStep, known };
};

export const createRateLimiter = (dependencies: RateLimiterDependencies): RateLimiter => {
  const { now } = dependencies;
  const { commit, known } = createGroupCommit(dependencies);

  /** The slot of this moment, where the destination has no rate and nothing held it up when it was asked after last. */
  const freeSlot = (paced: Paced, rate: Rate): Slot | undefined => {
    const at = now();
    const state = known(paced);
    return state && isFree(state, at, rate) ? reserve(state, at, rate).slot : undefined;
  };

  return {
    reserve: async (paced, rate, held) =>
      (held === undefined ? freeSlot(paced, rate) : undefined) ??
      commit(paced, (state, at) => reserve(state, at, rate, held)),
    take: async (paced, rate) => freeSlot(paced, rate) ?? commit(paced, (state, at) => take(state, at, rate)),
    queue: (paced, rate, line, held) => commit(paced, (state, at) => queue(state, at, rate, line, held)),
    hold: (paced, until, rate) => commit(paced, (state, at) => hold(state, at, until, rate)),
    rest: (paced) => commit(paced, (state, at) => ({ state: rest(state, at), slot: undefined })),
  };
};
