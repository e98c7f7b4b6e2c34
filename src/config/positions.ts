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

/** Both count from 1. */
export type PlaceOf = (offset: number) => { line: number; column: number };

export const createPlaceOf = (text: string): PlaceOf => {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (offset) => {
    const within = Math.min(Math.max(0, offset), text.length);
    const line = starts.findLastIndex((start) => start <= within);
    return { line: line + 1, column: within - (starts[line] ?? 0) + 1 };
  };
};
