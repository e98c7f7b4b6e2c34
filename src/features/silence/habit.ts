/** How long a protocol is usually without an inspection, and whether it is without one for far longer now. Pure. */

/** All times are by the service's clock, in epoch milliseconds. */
export interface Habit {
  /** Since when every inspection is known. */
  from: number;
  /** Of the newest known inspection. */
  newest?: number;
  /** By UTC day: how many inspections came, and the longest time without one that ended then, in milliseconds. */
  days: Record<string, { count: number; longest: number }>;
}

export const DAY_MS = 86_400_000;
/** So long a habit remembers, with room for two weekends. */
export const HABIT_MS = 14 * DAY_MS;
/** A whole week, whatever day it began on, and a weekend without an inspection at its end. */
const LEAST_KNOWN_MS = 10 * DAY_MS;
const LEAST_INSPECTIONS = 20;
/** A shorter silence is no news, unless the operator says so. */
const LEAST_SILENCE_MS = 30 * 60_000;
/** Nights and weekends are in the longest time without an inspection; only far more than that is silence. */
const FACTOR = 2;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);

export const newHabit = (from: number): Habit => ({ from, days: {} });

/** Without the days that are too long ago. */
const recent = ({ days }: Habit, now: number): [string, { count: number; longest: number }][] =>
  Object.entries(days).filter(([day]) => Number(day) > dayOf(now - HABIT_MS));

export interface Noted {
  now: number;
  /** The longest time without an inspection that counts; see `longestHeard`. Default: any. */
  atMost?: number;
}

/** With inspections of these dates; those that are known already change nothing. One from the future is from now. */
export const noteDates = (habit: Habit, dates: readonly number[], { now, atMost = Infinity }: Noted): Habit => {
  const days = Object.fromEntries(recent(habit, now));
  let newest = habit.newest;
  for (const date of dates.map((one) => Math.min(one, now)).toSorted((a, b) => a - b)) {
    const before = newest ?? habit.from;
    if (date <= before) continue;
    const { count, longest } = days[dayOf(date)] ?? { count: 0, longest: 0 };
    days[dayOf(date)] = { count: count + 1, longest: Math.max(longest, Math.min(date - before, atMost)) };
    newest = date;
  }
  return { from: habit.from, ...(newest === undefined ? {} : { newest }), days };
};

export interface Usual {
  /** On average one comes so often, in milliseconds. */
  everyMs: number;
  /** Longer than this is silence. */
  silentAfterMs: number;
}

/** Undefined while too little is known. */
export const usualOf = (habit: Habit, now: number): Usual | undefined => {
  const knownMs = Math.min(now - habit.from, HABIT_MS);
  const days = recent(habit, now).map(([, day]) => day);
  const count = days.reduce((sum, day) => sum + day.count, 0);
  if (knownMs < LEAST_KNOWN_MS || count < LEAST_INSPECTIONS) return undefined;
  const longest = Math.max(...days.map((day) => day.longest));
  const begun = Math.max(habit.from, (dayOf(now - HABIT_MS) + 1) * DAY_MS);
  return {
    everyMs: ((habit.newest ?? now) - begun) / count,
    silentAfterMs: Math.max(LEAST_SILENCE_MS, FACTOR * longest),
  };
};

/**
 * A silence that was announced may have been an outage, which must not make the next one look usual; or one comes more
 * seldom from now on, and then a few announcements double what is usual until it fits.
 */
export const longestHeard = (habit: Habit, now: number): number => usualOf(habit, now)?.silentAfterMs ?? Infinity;

export interface Silence {
  forMs: number;
  /** What it is longer than: what the operator expects, or what is usual. */
  expectEvery?: number;
  usualMs?: number;
}

/** Undefined where it is not silent, or nobody can tell. `expectEvery`: what the operator says, in milliseconds. */
export const silenceOf = (habit: Habit, now: number, expectEvery?: number): Silence | undefined => {
  const forMs = now - (habit.newest ?? habit.from);
  if (expectEvery !== undefined) return forMs > expectEvery ? { forMs, expectEvery } : undefined;
  const usual = usualOf(habit, now);
  return usual !== undefined && forMs > usual.silentAfterMs ? { forMs, usualMs: usual.everyMs } : undefined;
};
