/** How far the cursor may go during and after one walk over pages. Pure bookkeeping, no requests. */
import type { Item } from '../alert.ts';

export interface Walk {
  /** Takes a page in; gives how far everything is surely read by now, or nothing where that is not sure. */
  after(items: readonly Item[]): number | undefined;
  /** How far everything is read once the last page was taken; nothing where no item was dated. */
  end(): number | undefined;
}

interface Span {
  earliest: number;
  latest: number;
}

/** Over the items' earliest dates: whichever date the service filters by, it is not before that one. */
const spanOf = (items: readonly Item[]): Span | undefined => {
  const firsts = items.map(({ dates }) => Object.values(dates)).filter((dates) => dates.length > 0);
  if (firsts.length === 0) return undefined;
  const earliest = firsts.map((dates) => Math.min(...dates));
  return { earliest: Math.min(...earliest), latest: Math.max(...earliest) };
};

/**
 * Within a walk the cursor follows only where two pages in a row show that time goes up, and stays `lookback` behind:
 * the service may sort by one date and filter by another, or not sort at all. No date ahead of the service's own clock
 * (`begun`) moves a cursor, or one item from the future would hide all that come before it.
 */
export const createWalk = (begun: number, lookback: number): Walk => {
  let previous: Span | undefined;
  let rising = true;
  let highest: number | undefined;
  return {
    after: (items) => {
      const span = spanOf(items);
      if (!span) return undefined;
      highest = Math.min(begun, Math.max(highest ?? span.latest, span.latest));
      const before = previous;
      previous = span;
      if (!before) return undefined;
      rising &&= span.earliest >= before.earliest && span.latest > before.latest;
      return rising ? Math.min(begun, span.earliest) - lookback : undefined;
    },
    end: () => highest,
  };
};
