/**
 * Which schedulers have stopped: each hangs on the one job of its next turn. That job is gone where a server failed
 * between a turn and the next, and it is due too late where a clock was set back.
 */
import type { RedisClient } from '../redis/connect.ts';

export interface ScheduleState {
  /** Schedulers that Redis holds; fewer than expected after its data was lost. */
  count: number;
  /** Ids of those whose next turn will not come in time. */
  stopped: string[];
}

export interface StoppedTurnsDependencies {
  redis: RedisClient;
  /** The key of BullMQ's schedulers, by the time of their next turn. */
  schedulers: string;
  /** Epoch milliseconds, by the clock that BullMQ uses. */
  now(): number;
  /** Milliseconds by a clock that nobody sets. */
  elapsed(): number;
}

/** A turn is due at most its interval ahead; the clocks of several daemons differ a little. */
const AHEAD_MS = 5000;

/**
 * KEYS: the schedulers; ARGV: now, how much further ahead than its interval a turn may be. A scheduler and the job of its next turn are written in one step, so in one step both are there, or it has stopped.
 */
const CHECK = `
local gone, ahead = {}, {}
local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for index = 1, #all, 2 do
  local scheduler = KEYS[1] .. ':' .. all[index]
  local aheadMs = tonumber(all[index + 1]) - tonumber(ARGV[1]) - tonumber(ARGV[2])
  if redis.call('EXISTS', scheduler .. ':' .. all[index + 1]) == 0 then
    gone[#gone + 1] = all[index]
  elseif aheadMs > 0 then
    local everyMs = tonumber(redis.call('HGET', scheduler, 'every') or '0')
    if aheadMs > everyMs then
      for _, value in ipairs({all[index], all[index + 1], tostring(everyMs)}) do ahead[#ahead + 1] = value end
    end
  end
end
return {#all / 2, gone, ahead}`;

interface Ahead {
  id: string;
  next: string;
  everyMs: number;
}

const readAhead = (values: readonly string[]): Ahead[] =>
  values.flatMap((id, index) =>
    index % 3 === 0 ? [{ id, next: values[index + 1] ?? '', everyMs: Number(values[index + 2]) }] : [],
  );

export const createStoppedTurns = ({ redis, schedulers, now, elapsed }: StoppedTurnsDependencies) => {
  /** Since when each next turn that is too far ahead has not moved. */
  let waitingSince = new Map<string, number>();

  /**
   * A turn that is ahead by this daemon's clock may be on time by another's, which then takes it: it has stopped once it
   * stood still for a whole interval.
   */
  const standingStill = (ahead: readonly Ahead[]): string[] => {
    const at = elapsed();
    const before = waitingSince;
    const keyOf = ({ id, next }: Ahead): string => `${id} ${next}`;
    waitingSince = new Map(ahead.map((one) => [keyOf(one), before.get(keyOf(one)) ?? at]));
    return ahead
      .filter((one) => at - (waitingSince.get(keyOf(one)) ?? at) >= one.everyMs + AHEAD_MS)
      .map(({ id }) => id);
  };

  return async (): Promise<ScheduleState> => {
    const answer = await redis.eval(CHECK, 1, schedulers, now(), AHEAD_MS);
    const [count, gone, ahead] = answer as [number, string[], string[]];
    return { count, stopped: [...gone, ...standingStill(readAhead(ahead))] };
  };
};
