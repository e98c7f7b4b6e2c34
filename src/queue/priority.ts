/**
 * The order of a queue: what is urgent before what is not, and within one urgency the protocols in turns. BullMQ takes the
 * job with the lowest priority first, and of equal ones the oldest.
 */
import { type Alert, isAnnouncement, isSample, type Parcel } from '../alert.ts';

/** Most urgent first. A sample counts as critical: an operator waits for it. */
const URGENCIES = ['critical', 'follow-up', 'notification', 'announcement', 'replay'] as const;
export type Urgency = (typeof URGENCIES)[number];

/** BullMQ knows priorities from 1 to 2^21. */
const RANKS = Math.floor(2 ** 21 / URGENCIES.length);

/** In this time half of what a protocol had queued is forgotten. */
const HALF_LIFE_MS = 60_000;

/**
 * So many jobs of a protocol that had no more lately, follow-ups and notifications, go with the criticals: else they would
 * wait for all criticals of all others. They come after this many criticals of each.
 */
const QUIET = { jobs: 5, rank: 20 };
const PROMOTED: ReadonlySet<Urgency> = new Set(['follow-up', 'notification']);

/** Protocols that a process remembers; those that had little lately are forgotten first. */
const MOST_REMEMBERED = 10_000;

const urgencyOf = (alert: Alert): Urgency => {
  if (isSample(alert)) return 'critical';
  if (alert.replay) return 'replay';
  if (isAnnouncement(alert)) return 'announcement';
  if (alert.followUp) return 'follow-up';
  return alert.type === 'inspection.critical' ? 'critical' : 'notification';
};

/** Of its most urgent alert. */
export const urgencyOfParcel = ({ alerts }: Pick<Parcel, 'alerts'>): Urgency => {
  const found = new Set(alerts.map(urgencyOf));
  return URGENCIES.find((urgency) => found.has(urgency)) ?? 'notification';
};

const priorityOf = (urgency: Urgency, rank: number): number =>
  1 + URGENCIES.indexOf(urgency) * RANKS + Math.min(RANKS - 1, Math.floor(rank));

/** Where a job stands among the urgencies: 0 is the most urgent. A job of an older daemon has no priority, and goes first. */
export const urgencyRank = (priority: number): number => Math.max(0, Math.floor((priority - 1) / RANKS));

/** Whose share a job takes: protocols of two services with one name are two. */
export const shareOf = ([first]: readonly Pick<Alert, 'service' | 'protocol'>[]): string =>
  first === undefined ? '' : `${first.service}/${first.protocol}`;

export interface Priorities {
  /** The priority of the next job of this share; counts it. */
  next(share: string, urgency: Urgency): number;
}

/** How many jobs were queued lately, by urgency. */
interface Counts {
  byUrgency: readonly number[];
  at: number;
}

const NOTHING = URGENCIES.map(() => 0);

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

const countsAt = ({ byUrgency, at }: Counts, now: number): readonly number[] =>
  byUrgency.map((count) => count * 0.5 ** (Math.max(0, now - at) / HALF_LIFE_MS));

/** Forgets the half that had the least. */
const forget = (known: Map<string, Counts>, now: number): void => {
  if (known.size <= MOST_REMEMBERED) return;
  const bySum = [...known].map(([share, counts]) => ({ share, sum: sumOf(countsAt(counts, now)) }));
  bySum.sort((a, b) => a.sum - b.sum);
  for (const { share } of bySum.slice(0, MOST_REMEMBERED / 2)) known.delete(share);
};

/**
 * A job's rank is how many jobs of its urgency its protocol had queued lately, so that the first jobs of each protocol come
 * before the second ones of any. Each process counts what it queues itself, without a command to Redis.
 */
export const createPriorities = (now: () => number): Priorities => {
  const known = new Map<string, Counts>();
  return {
    next: (share, urgency) => {
      const at = now();
      const before = known.get(share);
      const counts = before ? countsAt(before, at) : NOTHING;
      const own = URGENCIES.indexOf(urgency);
      known.set(share, { byUrgency: counts.map((count, index) => (index === own ? count + 1 : count)), at });
      forget(known, at);
      const isQuiet = PROMOTED.has(urgency) && sumOf(counts) < QUIET.jobs;
      return isQuiet ? priorityOf('critical', QUIET.rank + sumOf(counts)) : priorityOf(urgency, counts[own] ?? 0);
    },
  };
};
