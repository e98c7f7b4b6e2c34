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

/**
 * A job's rank is how many jobs its protocol had queued lately, so that the first jobs of each protocol come before the
 * second ones of any. Each process counts what it queues itself, without a command to Redis.
 */
export const createPriorities = (now: () => number): Priorities => {
  const counts = new Map<string, { count: number; at: number }>();

  const countAt = (share: string, at: number): number => {
    const known = counts.get(share);
    return known === undefined ? 0 : known.count * 0.5 ** (Math.max(0, at - known.at) / HALF_LIFE_MS);
  };

  const forget = (at: number): void => {
    if (counts.size <= MOST_REMEMBERED) return;
    const byCount = [...counts.keys()].map((share) => ({ share, count: countAt(share, at) }));
    byCount.sort((a, b) => a.count - b.count);
    for (const { share } of byCount.slice(0, MOST_REMEMBERED / 2)) counts.delete(share);
  };

  return {
    next: (share, urgency) => {
      const at = now();
      const count = countAt(share, at);
      counts.set(share, { count: count + 1, at });
      forget(at);
      return priorityOf(urgency, count);
    },
  };
};
