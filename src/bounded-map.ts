/** A map with a bound: what was used longest ago goes first. */

interface BoundedMap<K, V> {
  /** The value of a key, which counts as used now. */
  get(key: K): V | undefined;
  set(key: K, value: V): void;
  has(key: K): boolean;
  delete(key: K): boolean;
  /** From the one that was used longest ago. */
  entries(): IterableIterator<[K, V]>;
  readonly size: number;
}

/** `max`: how many entries are kept. Values are never `undefined`. */
export const createBoundedMap = <K, V extends NonNullable<unknown> | null>(max: number): BoundedMap<K, V> => {
  const kept = new Map<K, V>();
  const set = (key: K, value: V): void => {
    kept.delete(key);
    kept.set(key, value);
    const [oldest] = kept.keys();
    if (kept.size > max && oldest !== undefined) kept.delete(oldest);
  };
  return {
    get: (key) => {
      const value = kept.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
    set,
    has: (key) => kept.has(key),
    delete: (key) => kept.delete(key),
    entries: () => kept.entries(),
    get size() {
      return kept.size;
    },
  };
};
