/**
 * Fair shares: wherever protocols wait for the same thing, the one that was served least is next. Jobs wait in their queue,
 * in the order of their priorities; for a place of their worker (`places.ts`); and messages for a slot of their destination
 * (`deliver/slot-turns.ts`) or of its sender (`deliver/send-slot.ts`).
 */
import { type Alert, isAnnouncement, isSample, type Parcel, protocolKey } from '../alert.ts';
import { createBoundedMap } from '../bounded-map.ts';

/** Whose turn a job takes: its protocol's. */
export const fairnessKey = ([first]: readonly Pick<Alert, 'service' | 'protocol'>[]): string =>
  first === undefined ? '' : protocolKey(first);

const isLess = (one: readonly number[], other: readonly number[]): boolean => {
  const index = one.findIndex((count, at) => count !== other[at]);
  return index !== -1 && (one[index] ?? 0) < (other[index] ?? 0);
};

/**
 * Whose turn is next: of the one that was served least, and of equals of the first. `servedOf`: counts, of which a later one
 * decides only where the earlier ones are equal.
 */
export const nextOf = <T>(waiting: Iterable<T>, servedOf: (one: T) => readonly number[]): T | undefined => {
  let next: T | undefined;
  let least: readonly number[] | undefined;
  for (const one of waiting) {
    const served = servedOf(one);
    if (least && !isLess(served, least)) continue;
    next = one;
    least = served;
  }
  return next;
};

/** Most urgent first. A sample counts as critical: an operator waits for it. */
const URGENCIES = ['critical', 'follow-up', 'notification', 'announcement', 'replay'] as const;
type Urgency = (typeof URGENCIES)[number];

/** BullMQ takes the job with the lowest priority first, and of equal ones the oldest. It knows 1 to 2^21. */
const RANKS = Math.floor(2 ** 21 / URGENCIES.length);

/** In this time half of what a protocol had queued is forgotten. */
const HALF_LIFE_MS = 60_000;

/**
 * Follow-ups, notifications and announcements stand among the criticals, after this many of each: else they would wait for
 * all criticals of all others, which somebody can make at will.
 */
const BEHIND = 20;

/** Protocols, and destinations of announcements, that a process remembers. */
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

/** Where a job stands among the urgencies: 0 is the most urgent. */
export const urgencyRank = (priority: number): number => Math.max(0, Math.floor((priority - 1) / RANKS));

/** How many jobs were queued lately, by urgency. */
interface Counts {
  byUrgency: readonly number[];
  at: number;
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** Whose share a job counts to. Announcements to others, of which somebody may cause thousands, must not delay ours. */
export const shareOf = ({ destination, alerts }: Parcel): string =>
  urgencyOfParcel({ alerts }) === 'announcement' ? `${fairnessKey(alerts)} ${destination.id}` : fairnessKey(alerts);

/**
 * A job's rank is how many jobs its share had queued lately, of a critical how many criticals, so that the first jobs of each
 * come before the second ones of any. Each process counts what it queues itself, without a command to Redis.
 */
export const createPriorities = (now: () => number) => {
  const known = createBoundedMap<string, Counts>(MOST_REMEMBERED);

  const countsOf = (key: string, at: number): readonly number[] => {
    const { byUrgency, at: then } = known.get(key) ?? { byUrgency: URGENCIES.map(() => 0), at };
    return byUrgency.map((count) => count * 0.5 ** (Math.max(0, at - then) / HALF_LIFE_MS));
  };

  return {
    /** The priority of the next job of this share; counts it. */
    next: (key: string, urgency: Urgency): number => {
      const at = now();
      const counts = countsOf(key, at);
      const own = URGENCIES.indexOf(urgency);
      known.set(key, { byUrgency: counts.map((count, index) => (index === own ? count + 1 : count)), at });
      if (urgency === 'critical' || urgency === 'replay') return priorityOf(urgency, counts[own] ?? 0);
      const [replays = 0] = counts.slice(URGENCIES.indexOf('replay'));
      return priorityOf('critical', BEHIND + sumOf(counts) - replays);
    },
  };
};
