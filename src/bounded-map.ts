/** A map with a bound: what was used longest ago goes first; and values that are made when a map is first asked for them. */

/** `max`: how many entries are kept. Values are never `undefined`. */
export const createBoundedMap = <K, V extends NonNullable<unknown> | null>(max: number) => {
  const kept = new Map<K, V>();
  /** What was used last stands last already. */
  let last: K | undefined;
  const set = (key: K, value: V): void => {
    if (key !== last) kept.delete(key);
    last = key;
    kept.set(key, value);
    if (kept.size <= max) return;
    const [oldest] = kept.keys();
    if (oldest !== undefined) kept.delete(oldest);
  };
  return {
    /** The value of a key, which counts as used now. */
    get: (key: K): V | undefined => {
      const value = kept.get(key);
      if (value !== undefined && key !== last) set(key, value);
      return value;
    },
    set,
    has: (key: K): boolean => kept.has(key),
    delete: (key: K): boolean => kept.delete(key),
    /** From the one that was used longest ago. */
    entries: () => kept.entries(),
    get size() {
      return kept.size;
    },
  };
};

/** The value of a key; where there is none yet, it is made and kept. */
export const getOrCreate = <K, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  create: () => V,
): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
};
