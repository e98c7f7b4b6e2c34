/**
 * Rates as slots: the free moments of a destination or sender, shared by all daemons. A job waits for one as a delayed job,
 * until it is likely to come; "try again in a second" would collapse under a storm.
 */
import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createBoundedMap } from '../bounded-map.ts';
import type { Slot } from '../queue/job.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createGroupCommit, mayExist } from '../redis/pipeline.ts';
import {
  EMPTY_STATE,
  hold,
  isFree,
  lastMoment,
  movedBack,
  type Pace,
  type Rate,
  type RateState,
  reserve,
  rest,
  take,
} from './rate-limit-rule.ts';
import { type Asking, type Queued, queue } from './slot-turns.ts';

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
 * KEYS: the state, as JSON. ARGV: the expected version; to write, the new state and for how many milliseconds. Answers with
 * nothing where the version was the expected one, else with what is kept. A version is a hash of the kept text: states may
 * have thousands of slots. Mostly it is the expected one: so it is written first, and else put back.
 */
const COMPARE_AND_SET = `
local function put(text) return redis.call('SET', KEYS[1], text, 'PX', ARGV[3], 'GET') end
local kept
if ARGV[2] then kept = put(ARGV[2]) else kept = redis.call('GET', KEYS[1]) end
kept = kept or ''
if redis.sha1hex(kept) == ARGV[1] then return false end
if ARGV[2] and kept ~= '' then put(kept) elseif ARGV[2] then redis.call('DEL', KEYS[1]) end
return kept`;

const keptOf = (text: string): KeptState => ({
  version: createHash('sha1').update(text).digest('hex'),
  state: text === '' ? EMPTY_STATE : (JSON.parse(text) as RateState),
});

const NOTHING = keptOf('');

export const createRateStateStore = (redis: RedisClient, prefix: string): RateStateStore => ({
  compareAndSet: async (id, expected = NOTHING, next, keepMs) => {
    const key = `${prefix}:rate:${id}`;
    const text = next && JSON.stringify(next);
    if (text === undefined && expected === NOTHING && !(await mayExist(redis, key)))
      return { isMatch: true, kept: expected };
    const written = text === undefined ? [] : [text, keepMs];
    const other = await redis.eval(COMPARE_AND_SET, 1, key, expected.version, ...written);
    if (typeof other === 'string') return { isMatch: false, kept: keptOf(other) };
    return { isMatch: true, kept: text === undefined ? expected : keptOf(text) };
  },
});

/** What a rate limits: a destination, or a sender that several destinations share. */
type Paced = Pick<Pace, 'id'>;

/** A state is kept a day beyond its last moment: jobs that hold its slots may come late. */
const KEEP_MS = 86_400_000;

/** States that a process remembers, so that the usual request is one command. */
const MOST_REMEMBERED = 5000;

/** Lines whose latest round a process remembers: those of protocols at destinations. One that is forgotten begins anew. */
const MOST_LINES = 50_000;

/** Redis is asked about a destination without a rate once in this time, so another daemon's hold shows that much later. */
const RECENT_MS = 1000;

/** A request fails after this many conflicts in a row with other daemons; the queue then runs its job again. */
const MOST_CONFLICTS = 100;

/** At every fifth conflict it waits a little longer than before, so that a busier daemon gets through first. */
const WAIT_EVERY = 5;

/** What a request does to a state. After a conflict it is applied again, to the new state. */
type Step<T = unknown> = (state: RateState, at: number) => { state: RateState; slot: T };

const takeSteps = (steps: readonly Step[], begin: RateState, at: number): { state: RateState; slots: unknown[] } => {
  let state = begin;
  const slots = steps.map((step) => {
    const taken = step(state, at);
    state = taken.state;
    return taken.slot;
  });
  return { state, slots };
};

export const createRateLimiter = ({
  store,
  now,
  monotonic = () => performance.now(),
}: {
  store: RateStateStore;
  now(): number;
  monotonic?(): number;
}) => {
  const remembered = createBoundedMap<string, { kept: KeptState; at: number }>(MOST_REMEMBERED);
  const rounds = createBoundedMap<string, number>(MOST_LINES);

  /** Steps that change nothing are compared, too: another daemon may have moved the slots. */
  const write = async (steps: readonly Step[], id: string): Promise<readonly unknown[]> => {
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts += 1) {
      if (conflicts % WAIT_EVERY === WAIT_EVERY - 1) await setTimeout(conflicts);
      const at = now();
      const known = remembered.get(id)?.kept;
      const before = known?.state ?? EMPTY_STATE;
      const { state, slots } = takeSteps(steps, movedBack(before, at), at);
      const next = state === before ? undefined : { ...state, at };
      const keepMs = Math.max(0, Math.ceil(lastMoment(state) - at)) + KEEP_MS;
      const { isMatch, kept } = await store.compareAndSet(id, known, next, keepMs);
      remembered.set(id, { kept, at: monotonic() });
      if (isMatch) return slots;
    }
    throw new Error(
      `other daemons changed the rate limit of ${id} ${MOST_CONFLICTS} times in a row while this one tried to`,
    );
  };
  const writes = createGroupCommit(write);
  const commit = <T>({ id }: Paced, step: Step<T>): Promise<T> => writes.commit(step, id) as Promise<T>;

  /** The slot of this moment, if the destination has no rate and nothing held it up a moment ago. */
  const freeSlot = ({ id }: Paced, rate: Rate): Slot | undefined => {
    const known = remembered.get(id);
    if (!known || writes.isBusy(id) || monotonic() - known.at >= RECENT_MS) return undefined;
    const at = now();
    return isFree(known.kept.state, at, rate) ? reserve(known.kept.state, at, rate).slot : undefined;
  };

  return {
    /** The next slot, now or later; for one that is `held` already, where it is by now, unless it was missed. */
    reserve: async (paced: Paced, rate: Rate, held?: Slot): Promise<Slot> =>
      (held === undefined ? freeSlot(paced, rate) : undefined) ??
      commit(paced, (state, at) => reserve(state, at, rate, held)),
    /**
     * The slot of this moment, where it is free and nobody waits for it; else nothing is reserved. `isDigest`: it is none of a
     * burst, and the destination rests after it, in the same step: digests of one storm do not follow each other at once.
     */
    take: async (paced: Paced, rate: Rate, isDigest = false): Promise<Slot | undefined> =>
      (isDigest ? undefined : freeSlot(paced, rate)) ??
      commit(paced, (state, at) => {
        const taken = take(state, at, isDigest ? { ...rate, burst: 1 } : rate);
        return isDigest && taken.slot ? { ...taken, state: rest(taken.state, at) } : taken;
      }),
    /** The slot of this moment, if it is the turn of this line; else a ticket, with which to ask again. */
    queue: (paced: Paced, rate: Rate, line: string, asking: Omit<Asking, 'last'>): Promise<Queued> => {
      const key = `${paced.id} ${line}`;
      let last: number | undefined;
      return commit(paced, (state, at) => {
        last ??= rounds.get(key) ?? Number.NEGATIVE_INFINITY;
        const { joined, ...found } = queue(state, at, rate, { ...asking, last });
        if (joined !== undefined) rounds.set(key, joined);
        return found;
      });
    },
    /** The provider said to wait until then: every slot moves by what that adds. Gives the first slot afterwards. */
    hold: (paced: Paced, until: number, rate?: Rate): Promise<Slot> =>
      commit(paced, (state, at) => hold(state, at, until, rate)),
    /** A digest goes out now: the more of them follow each other, the longer until the next message. */
    rest: (paced: Paced): Promise<void> => commit(paced, (state, at) => ({ state: rest(state, at), slot: undefined })),
  };
};

export type RateLimiter = ReturnType<typeof createRateLimiter>;
