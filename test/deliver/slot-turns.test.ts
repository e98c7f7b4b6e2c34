/** The slots of a destination that many protocols write to: a simulation of jobs that come, wait and come again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EMPTY_STATE, hold, LATE_MS, type Rate, rest, take } from '../../src/deliver/rate-limit-rule.ts';
import { queue } from '../../src/deliver/slot-turns.ts';
import type { Ticket } from '../../src/queue/job.ts';
import { range } from '../support/deliveries.ts';

interface Job {
  line: string;
  at: number;
  ticket?: Ticket;
  isGone?: boolean;
}

interface Sent {
  line: string;
  /** When it was asked for, and the slot that it got. */
  now: number;
  slot: number;
}

const lastOf = (rounds: ReadonlyMap<string, number>, line: string): { last?: number } => {
  const last = rounds.get(line);
  return last === undefined ? {} : { last };
};

/** `late`: how late each run of a job is, in milliseconds; used in turns. */
const simulate = (rate: Rate, jobs: readonly Job[], late: readonly number[] = [0], begin = EMPTY_STATE) => {
  let state = begin;
  const rounds = new Map<string, number>();
  const waiting = jobs.map((job) => ({ ...job }));
  const sent: Sent[] = [];
  let runs = 0;
  while (waiting.length > 0) {
    waiting.sort((a, b) => a.at - b.at);
    const [job] = waiting.splice(0, 1);
    if (!job) break;
    runs += 1;
    if (runs > 100 * jobs.length) throw new Error('the jobs do not come to an end');
    const now = job.at;
    const found = queue(state, now, rate, { ...job, ...lastOf(rounds, job.line) });
    state = found.state;
    if (found.joined !== undefined) rounds.set(job.line, found.joined);
    const { slot, ticket } = found.slot;
    if (slot) sent.push({ line: job.line, now, slot: slot.at });
    else if (!job.isGone) waiting.push({ ...job, ticket, at: ticket.at + (late[runs % late.length] ?? 0) });
  }
  return { sent, runs, state };
};

const jobsOf = (line: string, count: number, at = 0): Job[] => range(1, count).map(() => ({ line, at }));

describe('a slot', () => {
  test('is an interval after the one before, and each job asks twice where all are of one protocol', () => {
    const { sent, runs, state } = simulate({ perSecond: 1 }, jobsOf('a', 60));
    expect(sent.map(({ slot }) => slot)).toEqual(range(0, 59).map((n) => n * 1000));
    expect(runs).toBe(119);
    expect(state.rounds).toEqual([]);
  });

  test('goes to the lines in turns, whatever waits in one of them', () => {
    const { sent } = simulate({ perSecond: 1 }, [
      ...jobsOf('a', 60),
      { line: 'b', at: 10_500 },
      ...jobsOf('c', 3, 10_600),
    ]);
    const order = sent.map(({ line }) => line).join('');
    expect(order.slice(11, 18)).toMatch(/^a?bca?c?a?c?/);
    expect(order.indexOf('b') - 11).toBeLessThan(2);
    expect(order.lastIndexOf('c') - 11).toBeLessThan(8);
  });

  test('that is missed costs no place: each that comes uses one, as where workers have a place only every 15 s', () => {
    const { sent } = simulate({ perSecond: 1 }, jobsOf('a', 20), [15_000]);
    expect(sent.map(({ line }) => line)).toHaveLength(20);
    expect(Math.max(...sent.map(({ now }) => now))).toBeLessThan(20 * 15_000);
  });

  test('waits for one that is gone no longer than it must', () => {
    const gone = jobsOf('a', 3).map((job) => ({ ...job, isGone: true }));
    const { sent } = simulate({ perSecond: 1 }, [{ line: 'z', at: 0 }, ...gone, ...jobsOf('b', 3)]);
    expect(sent.map(({ line }) => line)).toEqual(['z', 'b', 'b', 'b']);
    expect(Math.max(...sent.map(({ now }) => now))).toBeLessThanOrEqual(3 * (1000 + LATE_MS + 1));
  });

  test('is after a wait that the provider named, and after the rest that follows a digest', () => {
    const rate = { perSecond: 1 };
    const { state } = queue(EMPTY_STATE, 0, rate, {});
    const { ticket = { round: 0, number: 0, at: 0 } } = queue(state, 0, rate, {}).slot;
    const waits = hold(queue(state, 0, rate, {}).state, 500, 30_000, rate).state;
    // The message that was refused is sent first; it counts.
    expect(queue(waits, ticket.at, rate, { ticket }).slot.ticket?.at).toBe(31_000);
    expect(queue(rest(state, 900), 1000, rate, {}).slot.ticket?.at).toBe(1900);
  });

  test('of which nobody came in time is not used as it is, so nothing piles up', () => {
    const rate = { perSecond: 10 };
    const { sent } = simulate(rate, [...jobsOf('a', 50).map((job) => ({ ...job, at: 0 }))], [0]);
    const begun = simulate(rate, jobsOf('a', 1)).state;
    const waiting = range(1, 50).reduce((state) => queue(state, 1, rate, {}).state, begun);
    const after = simulate(
      rate,
      range(1, 50).map((number) => ({ line: 'a', at: 60_000, ticket: { round: 0, number: number + 1, at: 100 } })),
      [0],
      waiting,
    );
    expect(sent).toHaveLength(50);
    expect(after.sent.filter(({ now }) => now < 61_000).length).toBeLessThanOrEqual(11);
  });

  test('that is free is not taken by who does not wait, while others do', () => {
    const rate = { perSecond: 1 };
    const { state } = simulate(rate, jobsOf('a', 1));
    const awaited = queue(state, 500, rate, {}).state;
    expect(take(awaited, 1000, rate)).toEqual({ state: awaited, slot: undefined });
    expect(take(state, 1000, rate).slot?.at).toBe(1000);
    expect(take(awaited, 1001 + LATE_MS, rate).slot?.at).toBe(1001 + LATE_MS);
  });

  test('that is held of an older daemon is used, until it was missed', () => {
    const rate = { perSecond: 1 };
    const slot = { at: 5000, shift: 0 };
    expect(queue(EMPTY_STATE, 5000 + LATE_MS, rate, { slot }).slot).toEqual({ slot });
    expect(queue(EMPTY_STATE, 5001 + LATE_MS, rate, { slot }).slot.slot?.at).toBe(5001 + LATE_MS);
  });
});

const RATES = fc.record(
  {
    perSecond: fc.constantFrom(0.5, 1, 5, 20),
    perMinute: fc.constantFrom(7, 20, 100),
    burst: fc.constantFrom(1, 3),
  },
  { requiredKeys: ['perSecond'] },
);
const LATE = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 7 });
const JOBS = fc.array(fc.record({ line: fc.constantFrom('a', 'b', 'c'), at: fc.integer({ min: 0, max: 20_000 }) }), {
  minLength: 1,
  maxLength: 80,
});

describe('however jobs come, and however late', () => {
  test('all are sent, no time has more slots than the rate says, and nobody asks often', () => {
    fc.assert(
      fc.property(RATES, LATE, JOBS, (rate, late, jobs) => {
        const { sent, runs, state } = simulate(rate, jobs, late);
        expect(sent).toHaveLength(jobs.length);
        expect(state.rounds).toEqual([]);
        const slots = sent.map(({ slot }) => slot).toSorted((a, b) => a - b);
        const mostWithin = (ms: number): number =>
          Math.max(...slots.map((from) => slots.filter((at) => at >= from && at < from + ms).length));
        expect(mostWithin(10_000)).toBeLessThanOrEqual((rate.burst ?? 1) + Math.ceil(10 * rate.perSecond));
        if (rate.perMinute !== undefined) expect(mostWithin(60_000)).toBeLessThanOrEqual(rate.perMinute);
        for (const { now, slot } of sent) expect(slot).toBeLessThanOrEqual(now + 20);
        expect(runs).toBeLessThanOrEqual(12 * jobs.length);
      }),
    );
  });

  test('at a fast rate, too, the alerts of another protocol have their turn, and few jobs ask in vain', () => {
    fc.assert(
      fc.property(fc.constantFrom(5, 10, 20, 50), LATE, (perSecond, late) => {
        const everyMs = (3 * 1000) / perSecond;
        const quiet = range(1, 50).map((n) => ({ line: 'quiet', at: 2000 + n * everyMs }));
        const { sent, runs } = simulate({ perSecond }, [...jobsOf('busy', 300), ...quiet], late);
        expect(sent).toHaveLength(350);
        expect(runs).toBeLessThan(12 * 350);
        // Of the quiet protocol at most a few wait at any time.
        const waiting = sent.map(({ now }, n) => {
          const came = quiet.filter(({ at }) => at <= now).length;
          return came - sent.slice(0, n + 1).filter(({ line }) => line === 'quiet').length;
        });
        expect(Math.max(...waiting)).toBeLessThanOrEqual(2 + (4 * 100) / everyMs);
      }),
      { numRuns: 50 },
    );
  });

  test('one alert of another protocol is among the next few', () => {
    const busy = fc.integer({ min: 20, max: 200 });
    fc.assert(
      fc.property(fc.constantFrom(0.5, 1, 5, 20), LATE, busy, (perSecond, late, count) => {
        const at = (5 * 1000) / perSecond + 10;
        const { sent } = simulate({ perSecond }, [...jobsOf('a', count), { line: 'quiet', at }], late);
        const before = sent.filter(({ now }) => now < at).length;
        const quiet = sent.findIndex(({ line }) => line === 'quiet');
        // As many as the rate has in the time that it may come late, and its turn.
        expect(quiet - before).toBeLessThanOrEqual(2 + Math.ceil((2 * 150 * perSecond) / 1000));
      }),
    );
  });
});

describe('a slot that a job holds', () => {
  const held = { at: 3_600_000, shift: 0 };

  test('is not waited for where it lies beyond all that is reserved: a clock was set back', () => {
    expect(queue(EMPTY_STATE, 0, { perSecond: 1 }, { slot: held }).slot.slot?.at).toBe(0);
  });

  test('is waited for where the provider named a wait until then', () => {
    const { state, slot } = hold(EMPTY_STATE, 0, 3_600_000);
    expect(queue(state, 0, { perSecond: 1 }, { slot }).slot.slot?.at).toBe(3_600_000);
  });
});
