/** Responsiveness of destinations: what the last try at each was like, as far as this process remembers. */
import { createBoundedMap } from '../bounded-map.ts';
import { isConclusive } from '../errors.ts';

/** What a destination's last try was like. */
export type Responsiveness = 'well' | 'slow' | 'failing';

/** An answer that takes longer holds its place longer than others can wait for one. */
const SLOW_MS = 2000;

/** A receiver that hangs holds a place for so long, and longer only if it has answered more slowly before. */
const PROBE_MS = 5000;

/** Every third try in a row has the whole time: a receiver that is slow now gets its messages, too. */
const WHOLE_EVERY = 3;

/** Destinations that are slow or fail, of which one process remembers so many. */
const MOST_REMEMBERED = 10_000;

interface Known {
  state: Responsiveness;
  /** Tries in a row that failed without an answer in time. */
  hangs: number;
  /** How long the last message took that it accepted. */
  answeredMs: number;
}

const WELL: Known = { state: 'well', hangs: 0, answeredMs: 0 };

export interface Tried {
  /** Absent where the message was taken. */
  reason?: string;
  durationMs: number;
}

const after = (before: Known, { reason, durationMs }: Tried): Known => {
  const isSlow = durationMs > SLOW_MS;
  if (reason === undefined || !isConclusive(reason)) {
    return { state: isSlow ? 'slow' : 'well', hangs: 0, answeredMs: durationMs };
  }
  return { state: 'failing', hangs: isSlow ? before.hangs + 1 : 0, answeredMs: before.answeredMs };
};

export const createResponsiveness = () => {
  const known = createBoundedMap<string, Known>(MOST_REMEMBERED);
  const knownOf = (destination: string): Known => known.get(destination) ?? WELL;
  return {
    of: (destination: string): Responsiveness => knownOf(destination).state,
    /** Milliseconds that the next try may take, where the last ones timed out; undefined: the whole timeout. */
    probeMs: (destination: string): number | undefined => {
      const { hangs, answeredMs } = knownOf(destination);
      return hangs % WHOLE_EVERY === 0 ? undefined : Math.max(PROBE_MS, 2 * answeredMs);
    },
    note: (destination: string, tried: Tried): void => {
      const now = after(knownOf(destination), tried);
      if (now.state === 'well') known.delete(destination);
      else known.set(destination, now);
    },
  };
};
