/** Asks a service which inspections of a protocol are new, whatever their assessment, with few and small requests. */

import { ServiceError } from '../../errors.ts';
import type { ItemDates, ItemPage } from '../../item.ts';
import { HABIT_MS, type Habit, longestHeard, newHabit, noteDates } from './habit.ts';

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
  /** All that the service lists was read and understood: what it has not is not there. */
  isSure: boolean;
}

export interface ProbeOptions {
  /** It was announced as silent. */
  wasTold: boolean;
  /** Whether what is known of it would be announced: then it is looked at more closely. */
  isSilent(habit: Habit): boolean;
  signal: AbortSignal;
}

/** A protocol with more inspections than this within the time of a habit teaches it as they come. */
const MOST_LEARNED = 1000;
/** Then reading begins so far back; and so far it is read again where it seems silent. */
const BACK_MS = 3_600_000;
/** Of one probe, and of all until it is caught up; then it begins anew, with what comes from now on. */
const MOST_PAGES = 5;
const MOST_BEHIND = 50;

const dateOf = ({ createdAt, updatedAt, txTimestamp }: ItemDates): number | undefined =>
  createdAt ?? updatedAt ?? txTimestamp;

const newestIn = ({ newest, from }: Habit): number => newest ?? from;

export const createProbe = ({ pages, count, clock }: ProbeDependencies) => {
  /** Without statistics it is learned as it goes. Where the service as a whole fails, so does the question that follows. */
  const countOrNone: ProbeDependencies['count'] = async (...asked) => {
    try {
      return await count(...asked);
    } catch (error) {
      if (error instanceof ServiceError) return undefined;
      throw error;
    }
  };

  const begin = async (service: string, protocol: string, signal: AbortSignal): Promise<Habit> => {
    const now = clock(service);
    const total = await countOrNone(service, protocol, now - HABIT_MS, signal);
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
    { wasTold, isSilent, signal }: ProbeOptions,
  ): Promise<Probed> => {
    const habit = known?.habit ?? (await begin(service, protocol, signal));
    const { dates, read, isUnderstood } = await readOn(service, protocol, newestIn(habit), signal);
    const now = clock(service);
    const requests = read + (known === undefined ? 1 : 0);
    const isCaughtUp = read < MOST_PAGES;
    const behind = isCaughtUp ? 0 : (known?.behind ?? 0) + read;
    if (behind >= MOST_BEHIND) return { habit: newHabit(now - BACK_MS), behind: 0, requests, isSure: false };
    const atMost = wasTold ? longestHeard(habit, now) : Infinity;
    const noted = noteDates(habit, dates, { now, atMost });
    if (!isCaughtUp || !isSilent(noted)) return { habit: noted, behind, requests, isSure: isUnderstood && isCaughtUp };
    const hidden = await readBehind(service, protocol, noted, signal);
    return {
      habit: noteDates(noted, hidden.dates, { now, atMost }),
      behind,
      requests: requests + hidden.read,
      isSure: isUnderstood && hidden.isUnderstood,
    };
  };
};

export type Probe = ReturnType<typeof createProbe>;
