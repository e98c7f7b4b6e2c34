/** Where a stretch of time that does not fit one page is cut. Pure. */
import type { ItemDates } from '../item.ts';

/** Both bounds are excluded, as the service's filters do; epoch milliseconds. No `before`: open to what comes. */
export interface Stretch {
  after: number;
  before?: number;
}

const SECOND = 1000;

const valuesOf = (dates: ItemDates): number[] => Object.values(dates);

/** Dates in whole seconds hide their milliseconds: items of one second are then kept together. */
const unitOf = (all: readonly ItemDates[]): number =>
  all.flatMap(valuesOf).every((at) => at % SECOND === 0) ? SECOND : 1;

/** How much of a page each part should hold, so that it fits one page with room to spare. */
const SHARE = 0.9;

const FIELDS = ['createdAt', 'updatedAt', 'txTimestamp'] as const;

/** By the date that lies inside for most: that may be the one which the service filters by. */
const timesOf = (dated: readonly ItemDates[], isInside: (at: number) => boolean): number[] =>
  FIELDS.map((field) => dated.flatMap((dates) => dates[field] ?? []).filter(isInside))
    .reduce((most, times) => (times.length > most.length ? times : most))
    .toSorted((a, b) => a - b);

/**
 * Moments strictly inside the stretch, upwards, so that each part between two of them probably fits one page of
 * `pageSize` items; none where it cannot be cut any further. `seen`: dates of items inside, of all or of those at one end.
 */
export const cutsOf = (
  { after, before = Number.POSITIVE_INFINITY }: Stretch,
  seen: readonly ItemDates[],
  pageSize: number,
): number[] => {
  const dated = seen.filter((dates) => valuesOf(dates).length > 0);
  const unit = unitOf(dated);
  const isInside = (at: number): boolean => at > after + 1 && at < before;
  const times = timesOf(dated, (at) => at > after && at < before);
  const step = Math.max(1, Math.floor(pageSize * SHARE));
  const marks = times.filter((_, index) => index % step === 0);
  const ends = times.slice(-1).flatMap((last) => [last, last + unit]);
  return [...new Set([...marks, ...ends])].filter(isInside).toSorted((a, b) => a - b);
};

/** The parts of a stretch, upwards. They overlap by a millisecond, as both their bounds are excluded. */
export const cutAt = ({ after, before }: Stretch, cuts: readonly number[]): Stretch[] => {
  const starts = [after, ...cuts.map((cut) => cut - 1)];
  return starts.map((start, index) => {
    const end = cuts[index] ?? before;
    return { after: start, ...(end === undefined ? {} : { before: end }) };
  });
};

/** Whether most of the items lie outside by all of their dates: then the service ignores these bounds. */
export const isIgnored = (
  { after, before = Number.POSITIVE_INFINITY }: Stretch,
  items: readonly ItemDates[],
): boolean => {
  const dated = items.map(valuesOf).filter((dates) => dates.length > 0);
  const outside = dated.filter((dates) => Math.min(...dates) >= before || Math.max(...dates) + SECOND <= after);
  return outside.length * 2 > dated.length;
};
