import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EMPTY_STATE, hold, LATE_MS, type RateState, type Round } from '../../src/deliver/rate-limit-rule.ts';
import { type Asking, aheadOf, join, MOST_ROUNDS, type Place, queue, served } from '../../src/deliver/slot-turns.ts';
import { nextOf } from '../../src/queue/fairness.ts';
import type { Ticket } from '../../src/queue/job.ts';
import { range } from '../support/deliveries.ts';

const RATE = { perSecond: 1 };
const NOW = Date.parse('2027-01-01');
/** The provider has named a wait, so everybody waits. */
const HELD = hold(EMPTY_STATE, NOW, NOW + 60_000, RATE).state;

interface Job {
  line: string;
  asking?: Asking;
}

/** Each asks for the first time, in this order. */
const joinAll = (jobs: readonly Job[], begin: RateState = HELD) => {
  let state = begin;
  const last = new Map<string, number>();
  const tickets = jobs.map(({ line, asking = {} }): Ticket => {
    const known = last.get(line);
    const found = queue(state, NOW, RATE, { ...asking, ...(known !== undefined && { last: known }) });
    state = found.state;
    last.set(line, found.joined ?? expect.unreachable());
    return found.slot.ticket ?? expect.unreachable();
  });
  return { state, rounds: state.rounds, tickets };
};

const linesOf = (names: readonly string[]): Job[] => names.map((line) => ({ line }));

/** Who is served, one after the other: the indexes of the tickets. */
const orderOf = (begin: readonly Round[], tickets: readonly Place[]): number[] => {
  let rounds = begin;
  const waiting = new Set(tickets.keys());
  return tickets.map(() => {
    const next = [...waiting].find((index) => aheadOf(rounds, tickets[index] as Place) === 0);
    if (next === undefined) throw new Error('nobody is next');
    waiting.delete(next);
    rounds = served(rounds, tickets[next] as Place, true);
    return next;
  });
};

const orderOfLines = (jobs: readonly Job[]): string => {
  const { rounds, tickets } = joinAll(jobs);
  return orderOf(rounds, tickets)
    .map((index) => jobs[index]?.line)
    .join(' ');
};

describe('rounds', () => {
  test('give each protocol a turn', () => {
    expect(orderOfLines(linesOf(['a', 'a', 'a', 'b', 'c', 'b']))).toBe('a b c a b a');
  });

  test('begin with the present one for who comes later', () => {
    const { rounds, tickets } = joinAll(linesOf(range(1, 60).map(() => 'a')));
    const after = tickets.slice(0, 10).reduce((before, place) => served(before, place, true), rounds);
    const joined = joinAll(linesOf(['b']), { ...HELD, rounds: after, round: 10 });
    expect(joined.tickets).toMatchObject([{ round: 10 }]);
    expect(aheadOf(joined.rounds, joined.tickets[0] as Place)).toBe(1);
    expect(aheadOf(joined.rounds, tickets.at(-1) as Place)).toBe(50);
  });

  test('are forgotten when nobody waits in them, so that nothing is kept of what is quiet', () => {
    const { rounds, tickets } = joinAll(linesOf(['a', 'b']));
    expect(tickets.reduce((before, place) => served(before, place, true), rounds)).toEqual([]);
  });

  test('keep the place that is held, and give another one where nobody knows it any more', () => {
    const { state, tickets } = joinAll(linesOf(['a', 'b', 'b']));
    const [, , third] = tickets;
    expect(queue(state, NOW, RATE, { ticket: third }).slot.ticket).toEqual(third);
    expect(queue(HELD, NOW, RATE, { ticket: third }).slot.ticket).toMatchObject({ round: 0, number: 1 });
  });

  test('do not wait for one that did not come, and it is next if it comes', () => {
    const { rounds, tickets } = joinAll(linesOf(['a', 'b', 'c', 'a', 'b']));
    const [first, second, third, , last] = tickets as unknown as [Place, Place, Place, Place, Place];
    const after = served(rounds, second, false);
    expect(aheadOf(after, first)).toBe(0);
    expect(aheadOf(after, third)).toBe(0);
    // A slot that goes to a later round ends no more than the first one.
    const ended = served(rounds, last, false);
    expect([first, second, third].map((place) => aheadOf(ended, place))).toEqual([0, 0, 0]);
    expect(ended).toEqual([{ round: 1, served: 1, last: 2 }]);
  });

  test('count those that are served, where one passes another', () => {
    const { rounds, tickets } = joinAll(linesOf(['a', 'b', 'c']));
    const [first, second, third] = tickets as unknown as [Place, Place, Place];
    const after = served(rounds, second, true);
    expect([first, third].map((place) => aheadOf(after, place))).toEqual([0, 1]);
    expect([first, third].reduce((before, place) => served(before, place, true), after)).toEqual([]);
  });

  test('are bounded: what is too much of one protocol waits in the last one, and others take turns with it', () => {
    const flood = linesOf(range(1, 3 * MOST_ROUNDS).map(() => 'a'));
    const { state, rounds, tickets } = joinAll([...flood, ...linesOf(range(1, 500).map((n) => `p${n}`))]);
    expect(rounds).toHaveLength(MOST_ROUNDS + 2);
    expect(tickets[flood.length - 1]).toMatchObject({ number: 2 * MOST_ROUNDS - 1 });
    const last = { ...state, rounds: rounds.slice(-1), round: MOST_ROUNDS };
    let now = NOW + 61_000;
    let turns: RateState = last;
    const known: Partial<Asking> = {};
    for (const ticket of tickets.slice(MOST_ROUNDS + 1, MOST_ROUNDS + 11)) {
      const quiet = queue(turns, now, RATE, known);
      expect(quiet.slot.slot).toBeDefined();
      Object.assign(known, { last: quiet.joined });
      now += 1000;
      const found = queue(quiet.state, now, RATE, { ticket });
      expect(found.slot.slot).toBeDefined();
      turns = found.state;
      now += 1000;
    }
  });

  test('that Redis has forgotten are no reason to wait', () => {
    expect(queue(HELD, NOW, RATE, { last: 5000 }).slot.ticket).toMatchObject({ round: 1, number: 1 });
  });
});

describe('in a round', () => {
  const listed = (line: string, listedSince: string): Job => ({ line, asking: { listedSince } });

  test('who is listed longer is first, but has no more turns', () => {
    const jobs = [
      listed('new', '2026-12-31'),
      listed('old', '2026-01-01'),
      listed('old', '2026-01-01'),
      ...linesOf(['x']),
    ];
    expect(orderOfLines([...jobs, listed('older', '2025-01-01')])).toBe('older old new x old');
  });

  test('a date that is none, or is to come, counts as unknown', () => {
    for (const listedSince of ['', 'soon', '2028-01-01'])
      expect(joinAll([listed('a', listedSince)]).tickets).toMatchObject([{ round: 0, number: 1 }]);
  });

  test('Tocsin has the first message, and no more of a round than others', () => {
    const own = range(1, 3).map((): Job => ({ line: 'own', asking: { isOwn: true } }));
    const others = range(1, 3).flatMap(() => [listed('a', '2020-01-01'), listed('b', '2026-12-31')]);
    expect(orderOfLines([...others, ...own])).toBe('own a b a b own a b own');
  });

  test('a batch for the address itself has the first message and three more, and a flood of it holds up nobody for good', () => {
    const main = range(1, 12).map((): Job => ({ line: 'main', asking: { isMain: true } }));
    const others = range(1, 3).flatMap(() => [listed('a', '2020-01-01'), listed('b', '2026-12-31')]);
    const order = orderOfLines([...others, ...main]).split(' ');
    expect(order[0]).toBe('main');
    for (const round of [1, 2, 3]) {
      const sent = order.slice(0, 6 * round);
      expect(Math.abs(sent.filter((line) => line === 'main').length - 4 * round)).toBeLessThanOrEqual(2);
    }
  });
});

test('who comes late keeps its place, whoever used the slots meanwhile', () => {
  const { state, tickets } = joinAll(linesOf(['victim', ...range(1, 50).map(() => 'a')]));
  const [victim, ...others] = tickets;
  // One of those behind it comes to a slot that stood free, and then those after it, in their turn.
  const early = others.splice(20, 1);
  let now = NOW + 61_000 + LATE_MS + 1;
  let after = state;
  for (const ticket of [...early, ...others.slice(0, 5)]) {
    const found = queue(after, now, RATE, { ticket });
    expect(found.slot.slot).toBeDefined();
    after = found.state;
    now += 1000;
  }
  expect(queue(after, now, RATE, { ticket: victim }).slot.slot).toBeDefined();
});

test('everybody has one place in the order, and it is a turn of each protocol', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(names, (all) => {
      const { rounds, tickets } = joinAll(linesOf(all));
      const ahead = tickets.map((place) => aheadOf(rounds, place)).toSorted((a, b) => a - b);
      expect(ahead).toEqual(all.map((_, n) => n));
      expect(new Set(orderOf(rounds, tickets)).size).toBe(all.length);
    }),
  );
});

test('who is next is of the protocol that was served least, again and again', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(names, (all) => {
      const times = new Map<string, number>();
      const left: string[] = [...all];
      for (const name of orderOfLines(linesOf(all)).split(' ')) {
        const next = nextOf(new Set(left), (one) => [times.get(one) ?? 0]) ?? expect.unreachable();
        expect(times.get(name)).toBe(times.get(next));
        times.set(name, (times.get(name) ?? 0) + 1);
        left.splice(left.indexOf(name), 1);
      }
    }),
  );
});

test('a place in a round is behind those that are there', () => {
  const begun = [{ round: 3, served: 2, last: 7 }];
  expect(join(begun, 3)).toEqual({ rounds: [{ round: 3, served: 2, last: 8 }], place: { round: 3, number: 8 } });
  expect(join(begun, 2).rounds.map(({ round }) => round)).toEqual([2, 3]);
});
