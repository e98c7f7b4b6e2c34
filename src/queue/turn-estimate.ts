/** When the turn of a job may come that goes back into the queue: by how often one of its share, and of its destination, ends. */
import type { Occupancy, Owner } from './occupancy.ts';

export interface TurnEstimate {
  /** A job has ended. */
  ended(owner: Owner): void;
  /** Milliseconds; jobs that ask one after the other come back one after the other. */
  waitOf(owner: Owner, waiting: Occupancy): number;
}

/** As long as none has ended. */
const FIRST_GAP_MS = 250;
const LONGEST_GAP_MS = 15_000;
/** How much the last gap says of the next one. */
const WEIGHT = 0.3;
const WAIT = { leastMs: 100, mostMs: 60_000 };
/** Shares and destinations that a process remembers; those of which nothing ended for longest are forgotten first. */
const MOST_REMEMBERED = 5000;

interface Line {
  gapMs: number;
  endedAt: number;
  /** When the last one that went back comes again. */
  backAt: number;
}

/** `elapsed`: milliseconds by a clock that nobody sets. */
export const createTurnEstimate = (elapsed: () => number): TurnEstimate => {
  const lines = new Map<string, Line>();
  const lineOf = (name: string, now: number): Line =>
    lines.get(name) ?? { gapMs: FIRST_GAP_MS, endedAt: now, backAt: 0 };
  const remember = (name: string, line: Line): void => {
    lines.delete(name);
    lines.set(name, line);
    const [oldest = ''] = lines.keys();
    if (lines.size > MOST_REMEMBERED) lines.delete(oldest);
  };

  const note = (name: string, now: number): void => {
    const { gapMs, endedAt, backAt } = lineOf(name, now);
    const gap = Math.min(LONGEST_GAP_MS, now - endedAt);
    remember(name, { gapMs: gapMs + WEIGHT * (gap - gapMs), endedAt: now, backAt });
  };

  const backAtOf = (name: string, waiting: number, now: number): number => {
    const line = lineOf(name, now);
    const backAt = Math.max(now + waiting * line.gapMs, line.backAt + line.gapMs);
    remember(name, { ...line, backAt: Math.min(backAt, now + WAIT.mostMs) });
    return backAt;
  };

  return {
    ended: ({ share, destination }) => {
      const now = elapsed();
      note(`share ${share}`, now);
      note(`destination ${destination}`, now);
    },
    waitOf: ({ share, destination }, waiting) => {
      const now = elapsed();
      const ofShare = backAtOf(`share ${share}`, waiting.ofShare(share), now);
      const ofDestination = backAtOf(`destination ${destination}`, waiting.ofDestination(destination), now);
      return Math.min(WAIT.mostMs, Math.max(WAIT.leastMs, Math.ceil(Math.max(ofShare, ofDestination) - now)));
    },
  };
};
