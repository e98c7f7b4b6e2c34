/** Random numbers that come out the same for the same seed. Not for secrets. */

export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number, at least 0, below `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<Value>(values: readonly [Value, ...Value[]]): Value;
  /** Lower-case hex digits. */
  hex(digits: number): string;
}

const TWO_TO_32 = 2 ** 32;

/** FNV-1a, to turn any text into a 32-bit start. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (const unit of Buffer.from(text)) value = Math.imul(value ^ unit, 0x01000193);
  return value >>> 0;
};

/** The mulberry32 generator. */
const mulberry32 = (start: number): (() => number) => {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / TWO_TO_32;
  };
};

export const createRandom = (seed: number | string): Random => {
  const next = mulberry32(hash(String(seed)));
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (values) => values[below(values.length)] ?? values[0],
    hex: (digits) => Array.from({ length: digits }, () => below(16).toString(16)).join(''),
  };
};
