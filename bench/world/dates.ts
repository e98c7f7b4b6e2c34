/** How the dates of inspections that come at once lie. */
export interface Dates {
  /** So close together; below 1 they are further apart. */
  perMs: number;
  /** The last of them is so old. */
  agoMs: number;
}

/** Within one overlap of a poll. */
export const CLOSE: Dates = { perMs: 10, agoMs: 0 };
/** Few enough for their dates to differ. */
export const RECENT: Dates = { perMs: 1, agoMs: 0 };
