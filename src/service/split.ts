/** Where a stretch of time that does not fit one page is cut in two. Pure. */
import type { ItemDates } from '../alert.ts';

/** Both bounds are excluded, as the service's filters do; epoch milliseconds. No `before`: open to what comes. */
export interface Stretch {
  after: number;
  before?: number;
}

/** A moment strictly inside the stretch; `undefined` where it cannot be cut any further. */
export type Cut = number | undefined;

const SECOND = 1000;

const valuesOf = (dates: ItemDates): number[] => Object.values(dates);

const writtenAt = (dates: ItemDates): number => dates.createdAt ?? Math.min(...valuesOf(dates));

/** Dates in whole seconds hide their milliseconds: items of one second are then kept together. */
export const unitOf = (all: readonly ItemDates[]): number =>
  all.flatMap(valuesOf).every((at) => at % SECOND === 0) ? SECOND : 1;

/** How much of a page the earlier part should hold, so that it fits one page with room to spare. */
const SHARE = 0.9;

/**
 * Cuts so that the earlier part probably fits one page: near the end of a page that goes up, and half-way before a page
 * that goes down, as there nothing is known of what lies before it.
 */
export const cutOf = ({ after, before = Number.POSITIVE_INFINITY }: Stretch, page: readonly ItemDates[]): Cut => {
  const dated = page.filter((dates) => valuesOf(dates).length > 0);
  const unit = unitOf(dated);
  const times = dated.map(writtenAt);
  const [first] = times;
  const last = times.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const isInside = (at: number): boolean => at > after + 1 && at < before;
  const half = Math.floor((after + Math.min(...times)) / 2 / unit) * unit;
  if (last < first && isInside(half)) return half;
  const inside = times.filter(isInside).toSorted((a, b) => a - b);
  const behind = Math.max(...dated.flatMap(valuesOf)) + unit;
  return inside[Math.floor((inside.length - 1) * SHARE)] ?? (isInside(behind) ? behind : undefined);
};

/** Whether most of the items lie outside by all of their dates: then the service does not look at these bounds. */
export const isIgnored = (
  { after, before = Number.POSITIVE_INFINITY }: Stretch,
  items: readonly ItemDates[],
): boolean => {
  const dated = items.map(valuesOf).filter((dates) => dates.length > 0);
  const outside = dated.filter((dates) => Math.min(...dates) >= before || Math.max(...dates) + SECOND <= after);
  return outside.length * 2 > dated.length;
};
