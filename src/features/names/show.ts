/** Puts names beside labels, for a display. Pure. */
import type { Target } from '../../ledger/record.ts';

/** By destination id. */
export type Names = ReadonlyMap<string, string>;

export const NO_NAMES: Names = new Map();

/** The same with what its provider calls it, where that is known. */
export const withName = <T extends Pick<Target, 'id'>>(one: T, names: Names): T & Pick<Target, 'name'> => {
  const name = names.get(one.id);
  return name === undefined ? one : { ...one, name };
};
