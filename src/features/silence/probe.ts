/** Asks a service which inspections of a protocol are new, of any assessment, with few and small requests. */
import type { Cluster, Redis } from 'ioredis';
import { ServiceError } from '../../errors.ts';
import type { ItemDates, ItemPage } from '../../item.ts';
import { execute } from '../../redis/pipeline.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../time.ts';

/** All times are by the service's clock, in epoch milliseconds. */
export interface Habit {
  /** Since when every inspection is known. */
  from: number;
  /** Of the newest known inspection. */
  newest?: number;
  /** By UTC day: how many inspections came, and the longest time without one that ended then, in milliseconds. */
  days: Record<string, { count: number; longest: number }>;
}

/** So long a habit remembers, with room for two weekends. */
const HABIT_MS = 14 * DAY_MS;
/** A whole week, from any day on, and a weekend without an inspection at its end. */
const LEAST_KNOWN_MS = 10 * DAY_MS;
const LEAST_INSPECTIONS = 20;
/** A shorter silence is no news, unless the operator says so. */
const LEAST_SILENCE_MS = 30 * MINUTE_MS;
/** Nights and weekends are in the longest time without an inspection; only far more than that is silence. */
const FACTOR = 2;

const dayOf = (at: number): number => Math.floor(at / DAY_MS);

export const newHabit = (from: number): Habit => ({ from, days: {} });

/** Without the days that are too long ago. */
const recent = ({ days }: Habit, now: number): [string, { count: number; longest: number }][] =>
  Object.entries(days).filter(([day]) => Number(day) > dayOf(now - HABIT_MS));

/**
 * With inspections of these dates; those that are known already change nothing. One from the future is from now. `atMost`:
 * the longest time without an inspection that counts, see `longestHeard`; default: any.
 */
export const noteDates = (
  habit: Habit,
  dates: readonly number[],
  { now, atMost = Infinity }: { now: number; atMost?: number },
): Habit => {
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

/** On average one comes every `everyMs`, and longer than `silentAfterMs` is silence. Undefined while too little is known. */
export const usualOf = (habit: Habit, now: number): { everyMs: number; silentAfterMs: number } | undefined => {
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
const longestHeard = (habit: Habit, now: number): number => usualOf(habit, now)?.silentAfterMs ?? Infinity;

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

export interface ProbeDependencies {
  /** Inspections of any assessment dated after `since`, the oldest first. Throws `ServiceError`. */
  pages(service: string, protocol: string, since: number, signal: AbortSignal): AsyncIterable<ItemPage>;
  /** How many there are since then; undefined where the service does not say. */
  count(service: string, protocol: string, since: number, signal: AbortSignal): Promise<number | undefined>;
  /** The service's own time in epoch milliseconds. */
  clock(service: string): number;
}

export interface Probed {
  habit: Habit;
  /** Pages that were read since it was last caught up. */
  behind: number;
  /** How many it took. */
  requests: number;
  /** Undefined also where not all that the service lists was read and understood: what it lacks may be there. */
  silence: Silence | undefined;
}

interface ProbeOptions {
  /** It was announced as silent. */
  wasAnnounced: boolean;
  /** What the operator says, in milliseconds. */
  expectEvery: number | undefined;
  signal: AbortSignal;
}

/** A protocol with more inspections than this within the time of a habit teaches it as they come. */
const MOST_LEARNED = 1000;
/** Then reading begins so far back; and so far it is read again where it seems silent. */
const BACK_MS = HOUR_MS;
/** Of one probe, and of all until it is caught up; then it begins again, with what comes from now on. */
const MOST_PAGES = 5;
const MOST_BEHIND = 50;

const NOT_READ = { dates: [], read: 0, isUnderstood: false };

const dateOf = ({ createdAt, updatedAt, txTimestamp }: ItemDates): number | undefined =>
  createdAt ?? updatedAt ?? txTimestamp;

const newestIn = ({ newest, from }: Habit): number => newest ?? from;

export const createProbe = ({ pages, count, clock }: ProbeDependencies) => {
  /** Without statistics it is learned as it goes. Where the service as a whole fails, so does the question that follows. */
  const begin = async (service: string, protocol: string, signal: AbortSignal): Promise<Habit> => {
    const now = clock(service);
    const total = await count(service, protocol, now - HABIT_MS, signal).catch((error: unknown) => {
      if (error instanceof ServiceError) return undefined;
      throw error;
    });
    return newHabit(now - (total !== undefined && total <= MOST_LEARNED ? HABIT_MS : BACK_MS));
  };

  const readOn = async (service: string, protocol: string, since: number, signal: AbortSignal) => {
    const dates: number[] = [];
    let read = 0;
    let isUnderstood = true;
    for await (const { items, malformed } of pages(service, protocol, since, signal)) {
      const found = items.flatMap((item) => dateOf(item.dates) ?? []);
      dates.push(...found);
      if (malformed.length > 0 || found.length < items.length) isUnderstood = false;
      read += 1;
      if (read >= MOST_PAGES) break;
    }
    return { dates, read, isUnderstood };
  };

  /**
   * The service may filter by another date than the one it was written at, an earlier one: what came since may hide behind
   * the newest known one. Where too many came just before that to read them all again, this tells nothing.
   */
  const readBehind = async (service: string, protocol: string, habit: Habit, signal: AbortSignal) => {
    const found = await readOn(service, protocol, newestIn(habit) - BACK_MS, signal);
    return found.read < MOST_PAGES ? found : { ...found, dates: [], isUnderstood: true };
  };

  return async (
    service: string,
    protocol: string,
    known: Pick<Probed, 'habit' | 'behind'> | undefined,
    { wasAnnounced, expectEvery, signal }: ProbeOptions,
  ): Promise<Probed> => {
    const { habit, behind: before } = known ?? { habit: await begin(service, protocol, signal), behind: 0 };
    const { dates, read, isUnderstood } = await readOn(service, protocol, newestIn(habit), signal);
    const now = clock(service);
    const requests = read + (known === undefined ? 1 : 0);
    const behind = read < MOST_PAGES ? 0 : before + read;
    if (behind >= MOST_BEHIND) return { habit: newHabit(now - BACK_MS), behind: 0, requests, silence: undefined };
    const atMost = wasAnnounced ? longestHeard(habit, now) : Infinity;
    const noted = noteDates(habit, dates, { now, atMost });
    // What seems silent is looked at more closely.
    const seemsSilent = behind === 0 && silenceOf(noted, now, expectEvery) !== undefined;
    const hidden = seemsSilent ? await readBehind(service, protocol, noted, signal) : NOT_READ;
    const whole = noteDates(noted, hidden.dates, { now, atMost });
    const silence = isUnderstood && hidden.isUnderstood ? silenceOf(whole, now, expectEvery) : undefined;
    return { habit: whole, behind, requests: requests + hidden.read, silence };
  };
};

type KnownHabit = Pick<Probed, 'habit' | 'behind'>;

/** Twice what a habit remembers: what is older teaches nothing. */
const KEEP_MS = 28 * DAY_MS;

/** The habits of a service's protocols, over all daemons. What is announced: `features/conditions/store.ts`, as `silent`. */
export const createHabitStore = (redis: Redis | Cluster, prefix: string) => {
  const keyOf = (service: string): string => `${prefix}:habits:${service}`;
  return {
    /** In the order of `protocols`; undefined for those that are not known yet. */
    read: async (service: string, protocols: readonly string[]): Promise<(KnownHabit | undefined)[]> => {
      if (protocols.length === 0) return [];
      const found = await redis.hmget(keyOf(service), ...protocols);
      return found.map((json) => (json === null ? undefined : (JSON.parse(json) as KnownHabit)));
    },
    write: async (service: string, habits: ReadonlyMap<string, KnownHabit>): Promise<void> => {
      if (habits.size === 0) return;
      const fields = [...habits].flatMap(([protocol, habit]) => [protocol, JSON.stringify(habit)]);
      const batch = redis.multi().hset(keyOf(service), ...fields);
      await execute(batch.pexpire(keyOf(service), KEEP_MS));
    },
    /** Forgets all but these. */
    retain: async (service: string, protocols: ReadonlySet<string>): Promise<void> => {
      const gone = (await redis.hkeys(keyOf(service))).filter((name) => !protocols.has(name));
      if (gone.length > 0) await redis.hdel(keyOf(service), ...gone);
    },
  };
};

export type HabitStore = ReturnType<typeof createHabitStore>;
