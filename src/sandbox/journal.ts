/** A list that forgets its oldest entries, so that a sandbox can run for weeks. */

export interface Journal<Entry> {
  add(entry: Entry): void;
  /** A copy, oldest first. */
  list(): Entry[];
  clear(): void;
}

/** Keeps at least the last `limit` entries, and never more than a quarter above that. */
export const createJournal = <Entry>(limit: number): Journal<Entry> => {
  let entries: Entry[] = [];
  return {
    add: (entry) => {
      entries.push(entry);
      if (entries.length > limit * 1.25) entries = entries.slice(-limit);
    },
    list: () => [...entries],
    clear: () => {
      entries = [];
    },
  };
};
