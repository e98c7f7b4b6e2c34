import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Habit, newHabit, noteDates, silenceOf, usualOf } from '../../../src/features/silence/probe.ts';
import { DAY_MS } from '../../../src/time.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A Monday. */
const START = Date.parse('2026-11-02T00:00:00.000Z');

/** As probes would note it, every ten minutes, what is dated so; gives every silence that was seen on the way. */
const live = (dates: readonly number[], from: number, to: number, expectEvery?: number) => {
  let habit = newHabit(from);
  let next = 0;
  const silences: number[] = [];
  for (let now = from; now <= to; now += 10 * MINUTE) {
    const fresh: number[] = [];
    for (let date = dates[next]; date !== undefined && date <= now; date = dates[next]) {
      fresh.push(date);
      next += 1;
    }
    habit = noteDates(habit, fresh, { now });
    if (silenceOf(habit, now, expectEvery) !== undefined) silences.push(now);
  }
  return { habit, silences };
};

const every = (ms: number, from: number, to: number): number[] =>
  Array.from({ length: Math.floor((to - from) / ms) }, (_, n) => from + (n + 1) * ms);

describe('with too little known', () => {
  test('nothing is silent: few days, or few inspections', () => {
    expect(live(every(4 * MINUTE, START, START + 9 * DAY_MS), START, START + 9.9 * DAY_MS).silences).toEqual([]);
    expect(live(every(DAY_MS, START, START + 14 * DAY_MS), START, START + 40 * DAY_MS).silences).toEqual([]);
    expect(live([], START, START + 40 * DAY_MS).silences).toEqual([]);
  });

  test('it is, where the operator says what to expect', () => {
    const { silences } = live([START + HOUR], START, START + 10 * HOUR, 6 * HOUR);
    expect(silences[0]).toBe(START + 7 * HOUR + 10 * MINUTE);
    expect(live([], START, START + 7 * HOUR, 6 * HOUR).silences[0]).toBe(START + 6 * HOUR + 10 * MINUTE);
    expect(live(every(5 * HOUR, START, START + 20 * DAY_MS), START, START + 20 * DAY_MS, 6 * HOUR).silences).toEqual(
      [],
    );
  });
});

describe('with a habit', () => {
  const end = START + 14 * DAY_MS;

  test('one every four minutes is silent after half an hour', () => {
    const { habit, silences } = live(every(4 * MINUTE, START, end), START, end + HOUR);
    expect(silences[0]).toBe(end + 40 * MINUTE);
    expect(silenceOf(habit, end + 6 * HOUR)).toMatchObject({ forMs: 6 * HOUR });
    expect(Math.round((silenceOf(habit, end + HOUR)?.usualMs ?? 0) / MINUTE)).toBe(4);
  });

  test('a silence that was announced does not make the next one usual, but doubles what is', () => {
    const { habit } = live(every(20 * MINUTE, START, end), START, end);
    const at = end + 3 * DAY_MS;
    const atMost = usualOf(habit, at)?.silentAfterMs ?? 0;
    expect(atMost).toBe(40 * MINUTE);
    const after = noteDates(habit, [at], { now: at, atMost });
    expect(usualOf(after, at)?.silentAfterMs).toBe(80 * MINUTE);
  });

  test('old days are forgotten, a date of the future is one of now, and an old one is known', () => {
    const { habit } = live([START + 12 * HOUR, ...every(HOUR, START + DAY_MS, end + DAY_MS)], START, end + 2 * DAY_MS);
    expect(Object.keys(habit.days).length).toBeLessThanOrEqual(14);
    expect(usualOf(habit, end + 2 * DAY_MS)?.silentAfterMs).toBe(2 * HOUR);
    expect(noteDates(newHabit(START), [START + DAY_MS], { now: START + HOUR }).newest).toBe(START + HOUR);
    const known: Habit = { from: START, newest: START + HOUR, days: {} };
    expect(noteDates(known, [START, START + HOUR], { now: START + DAY_MS })).toEqual(known);
  });
});

describe('any week', () => {
  /** Hours of the week that are quiet: nights of up to ten hours, and perhaps the weekend. */
  const week = fc.record({
    night: fc.integer({ min: 0, max: 10 }),
    dusk: fc.integer({ min: 0, max: 23 }),
    isWeekendQuiet: fc.boolean(),
    meanMs: fc.integer({ min: MINUTE, max: 2 * HOUR }),
    begins: fc.integer({ min: 0, max: 7 * 24 }),
    jitter: fc.array(fc.double({ min: 0.2, max: 1.8, noNaN: true }), { minLength: 50, maxLength: 50 }),
  });
  type Week = typeof week extends fc.Arbitrary<infer T> ? T : never;

  const datesOf = ({ night, dusk, isWeekendQuiet, meanMs, jitter }: Week, from: number, to: number): number[] => {
    const dates: number[] = [];
    for (let at = from, n = 0; at < to; at += meanMs * (jitter[n % jitter.length] ?? 1), n += 1) {
      const hour = Math.floor(at / HOUR);
      const isNight = (((hour - dusk) % 24) + 24) % 24 < night;
      const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
      if (!isNight && !(isWeekendQuiet && isWeekend)) dates.push(Math.round(at));
    }
    return dates;
  };

  test('that goes on as it was is never silent; one that ends is, after twice its longest pause', () => {
    fc.assert(
      fc.property(week, (one) => {
        const from = START + one.begins * HOUR;
        const to = from + 28 * DAY_MS;
        const dates = datesOf(one, from, to);
        expect(live(dates, from, to).silences).toEqual([]);
        const cut = from + 21 * DAY_MS;
        const left = dates.filter((date) => date <= cut);
        const pauses = left.map((date, index) => date - (left[index - 1] ?? from));
        const last = left.at(-1) ?? from;
        const { habit } = live(left, from, cut);
        const bound = last + Math.max(30 * MINUTE, 2 * Math.max(...pauses)) + MINUTE;
        if (left.length > 100 && bound < cut + 3 * DAY_MS) expect(silenceOf(habit, bound)).toBeDefined();
      }),
      { numRuns: 20 },
    );
  });
});
