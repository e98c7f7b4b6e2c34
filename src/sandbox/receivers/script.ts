/** Verdicts that a test lays down beforehand: for the next messages, or for all of them until taken back. */

interface ScriptTarget {
  /** Only messages for this destination. Default: all. */
  destination?: string;
}

export interface Script<Verdict> {
  /** For the next messages, `times` of them (default 1), before any verdict that holds always. */
  next(verdict: Verdict, target?: ScriptTarget & { times?: number }): void;
  /** Until the given function is called. The youngest that fits wins. */
  always(verdict: Verdict, target?: ScriptTarget): () => void;
  clear(): void;
  /** The verdict for a message, used up. Those that `usable` refuses stay. */
  take(destination: string, usable?: (verdict: Verdict) => boolean): Verdict | undefined;
}

interface Entry<Verdict> extends ScriptTarget {
  verdict: Verdict;
  left: number;
}

export const createScript = <Verdict>(): Script<Verdict> => {
  let queued: Entry<Verdict>[] = [];
  let standing: Entry<Verdict>[] = [];
  const fits = (entry: Entry<Verdict>, destination: string): boolean =>
    entry.destination === undefined || entry.destination === destination;
  return {
    next: (verdict, { times = 1, ...target } = {}) => {
      queued.push({ ...target, verdict, left: times });
    },
    always: (verdict, target = {}) => {
      const entry = { ...target, verdict, left: Number.POSITIVE_INFINITY };
      standing.unshift(entry);
      return () => {
        standing = standing.filter((other) => other !== entry);
      };
    },
    clear: () => {
      queued = [];
      standing = [];
    },
    take: (destination, usable = () => true) => {
      const wanted = (entry: Entry<Verdict>): boolean => fits(entry, destination) && usable(entry.verdict);
      const entry = queued.find(wanted);
      if (!entry) return standing.find(wanted)?.verdict;
      entry.left -= 1;
      if (entry.left <= 0) queued = queued.filter((other) => other !== entry);
      return entry.verdict;
    },
  };
};
