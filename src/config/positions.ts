/** Where in the file each key and each value stands. */
import type { Path } from './display.ts';

/** Offsets into the text, in UTF-16 units. */
export interface Offsets {
  key?: number;
  value: number;
}

export interface Positions {
  note(path: Path, offsets: Offsets): void;
  /** Where the value stands; for a value that is missing, where the map that lacks it begins. */
  ofValue(path: Path): number;
  /** Where the key stands; for an element of a list, where its value does. */
  ofKey(path: Path): number;
}

export const createPositions = (): Positions => {
  const known = new Map<string, Offsets>();
  const nearest = (path: Path): Offsets =>
    known.get(JSON.stringify(path)) ?? (path.length === 0 ? { value: 0 } : nearest(path.slice(0, -1)));
  return {
    note: (path, offsets) => {
      known.set(JSON.stringify(path), offsets);
    },
    ofValue: (path) => nearest(path).value,
    ofKey: (path) => {
      const { key, value } = nearest(path);
      return key ?? value;
    },
  };
};
