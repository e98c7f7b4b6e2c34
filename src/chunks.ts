/** A long list in parts, so that no single call to Redis, no message and no job grows without bound. */

/** Parts of at most `size` entries, in their order; none of an empty list. */
export const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

/** The entries in their order, in as few parts as keep within `limit`; one that is larger than that is a part alone. */
export const packed = <T>(all: Iterable<T>, limit: number, sizeOf: (one: T) => number): T[][] => {
  const parts: T[][] = [];
  let room = -1;
  for (const one of all) {
    const size = sizeOf(one);
    if (size > room) {
      parts.push([]);
      room = limit;
    }
    parts.at(-1)?.push(one);
    room -= size;
  }
  return parts;
};

/** Calls `each` for every entry: `size` at the same time, then the next ones. Gives the results in order. */
export const mapInChunks = async <T, R>(
  all: readonly T[],
  size: number,
  each: (one: T) => Promise<R>,
): Promise<R[]> => {
  const results: R[] = [];
  for (const chunk of chunksOf(all, size)) results.push(...(await Promise.all(chunk.map(each))));
  return results;
};
