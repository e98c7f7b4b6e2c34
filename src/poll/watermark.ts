/** How far the cursor may go during and after one poll. Pure bookkeeping, no requests. */
import type { Item } from '../item.ts';

export interface Watermark {
  /** Counts a page. */
  count(items: readonly Item[]): void;
  /** How far everything was read once all before `settledBefore` was; undefined where no item had a date. */
  upTo(settledBefore?: number): number | undefined;
}

/**
 * Over the items' earliest dates: whichever date the service filters by, it is not before that one. An answer without
 * items moves nothing, however far it reaches: it may be a mistake of the service.
 */
export const createWatermark = (): Watermark => {
  let highest: number | undefined;
  return {
    count: (items) => {
      for (const { dates } of items) {
        const earliest = Math.min(...Object.values(dates));
        if (Number.isFinite(earliest)) highest = Math.max(highest ?? earliest, earliest);
      }
    },
    upTo: (settledBefore = Number.POSITIVE_INFINITY) =>
      highest === undefined ? undefined : Math.min(highest, settledBefore),
  };
};
