/** Work on a timer: what each daemon does for itself, and what one of those that share a Redis does for all of them. */
import { endedWithin, pause } from '../waiting.ts';
import { type Locks, underLock } from './lock.ts';

export interface Turn {
  name: string;
  /** From the end of one turn to the beginning of the next. */
  everyMs: number;
  /** The first of the daemons that read this service takes the turn for all of them. Default: each daemon takes it. */
  service?: string;
  /** Two daemons that take it at once do no harm. Default: it has a lock. */
  isUnlocked?: boolean;
  /** Asked before the lock, which is seven commands. Default: there is something to do. */
  isDue?(): Promise<boolean>;
  run(signal: AbortSignal): Promise<void>;
}

interface Daemons {
  /** Ids of those that read a service, in the same order for all of them. */
  readersOf(service: string): readonly string[];
  own: string;
  locks: Locks;
}

interface TurnsDependencies {
  /** Default: there is no other. */
  daemons?: Daemons;
  /** Called with a turn that failed; it comes again. */
  onFailed(turn: string, error: unknown): void;
  /** Aborts the turns that run; no other begins. */
  stopping: AbortSignal;
}

/** How often a daemon checks whether a shared turn has become its own because another daemon is gone. No request. */
const LOOK_EVERY_MS = 1000;
/** A failed turn is taken again after this, or after its interval if that is shorter. */
const AGAIN_MS = 15_000;

export const startTurns = (turns: readonly Turn[], dependencies: TurnsDependencies) => {
  const { daemons, onFailed, stopping } = dependencies;

  /** False if another daemon has the turn. The lock protects daemons that do not know of each other yet. */
  const take = async (turn: Turn): Promise<boolean> => {
    const run = async (): Promise<true> => {
      if (!stopping.aborted) await turn.run(stopping);
      return true;
    };
    if (turn.service !== undefined && daemons !== undefined) {
      if (daemons.readersOf(turn.service)[0] !== daemons.own) return false;
      if (turn.isDue !== undefined && !(await turn.isDue())) return true;
      if (turn.isUnlocked !== true) return (await underLock(daemons.locks, [`turn:${turn.name}`], run)) ?? false;
    }
    return run();
  };

  const repeat = async (turn: Turn): Promise<void> => {
    const { name, everyMs } = turn;
    const takeSafely = async (): Promise<number> => {
      try {
        return (await take(turn)) ? everyMs : Math.min(everyMs, LOOK_EVERY_MS);
      } catch (error) {
        if (!stopping.aborted) onFailed(name, error);
        return Math.min(everyMs, AGAIN_MS);
      }
    };
    while (!stopping.aborted) await pause(await takeSafely(), stopping);
  };

  const ended = Promise.all(turns.map(repeat));
  return {
    /** Resolves when no turn runs any more, after `graceMs` at the latest. */
    stopped: async (graceMs: number): Promise<void> => void (await endedWithin(ended, graceMs)),
  };
};
