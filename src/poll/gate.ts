/**
 * Whether a service should be asked at all. One protocol's trouble is its own; when the service itself is in trouble,
 * most polls are held back so that it is not beaten while it is down, and a few go through to notice its return at once.
 */
import type { ServiceReason } from '../errors.ts';

export interface Gate {
  /** Milliseconds until a poll of `subject` may go through; 0: now. */
  admit(subject: string): number;
  /** An answer came: everything goes through again. Gives whether that was news. */
  worked(subject: string): boolean;
  /** No usable answer came; `subject` is what was asked for. */
  failed(subject: string, reason: ServiceReason): void;
  /** The key is refused, whatever is asked for: one question every `everyMs` until it works. Gives whether that is news. */
  refuse(): boolean;
  state(): GateState;
}

export type GateState = 'open' | 'down' | 'refused';

export interface GateSettings {
  now(): number;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Milliseconds between two questions while the key is refused. */
  everyMs: number;
}

/** So many subjects must fail in a row, each of which had worked before, to be more than their own trouble. */
const SUBJECTS_DOWN = 3;
/** The first and the longest pause between two probes; it doubles in between. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** Answers all the same: the service is there. */
const ANSWERS: readonly ServiceReason[] = ['missing', 'rejected'];
const NOT_ASKED: readonly ServiceReason[] = ['aborted', 'held'];

/** Nobody goes twice in a row while others wait: one that fails by itself must not keep them from finding out. */
const createQueue = () => {
  let last: string | undefined;
  let othersWait = false;
  return {
    turnAway: (subject: string): void => {
      if (subject !== last) othersWait = true;
    },
    mayGo: (subject: string): boolean => subject !== last || !othersWait,
    serve: (subject: string): void => {
      last = subject;
      othersWait = false;
    },
  };
};

/** Begins open. */
export const createGate = ({ now, random, everyMs }: GateSettings): Gate => {
  let state: GateState = 'open';
  let nextAt = 0;
  let pauseMs = FIRST_PAUSE_MS;
  const failing = new Set<string>();
  let newlyFailing = new Set<string>();
  let queue = createQueue();

  /** Anywhere in the upper half of a step, so that several daemons do not probe together. */
  const jittered = (ms: number): number => Math.round(ms * (0.5 + random() / 2));

  const close = (to: GateState, firstMs: number): void => {
    state = to;
    nextAt = now() + firstMs;
    pauseMs = FIRST_PAUSE_MS;
    queue = createQueue();
  };

  const worked = (subject: string): boolean => {
    failing.delete(subject);
    const isNews = state !== 'open';
    state = 'open';
    newlyFailing = new Set();
    return isNews;
  };

  return {
    admit: (subject) => {
      if (state === 'open') return 0;
      if (now() < nextAt || (state === 'down' && !queue.mayGo(subject))) {
        queue.turnAway(subject);
        return Math.max(1, nextAt - now());
      }
      queue.serve(subject);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      nextAt = now() + (state === 'refused' ? everyMs : jittered(pauseMs));
      return 0;
    },
    worked,
    failed: (subject, reason) => {
      if (NOT_ASKED.includes(reason)) return;
      if (ANSWERS.includes(reason)) {
        worked(subject);
        return;
      }
      if (!failing.has(subject)) newlyFailing.add(subject);
      failing.add(subject);
      const isWide = reason === 'limited' || newlyFailing.size >= SUBJECTS_DOWN;
      if (isWide && state === 'open') close('down', jittered(FIRST_PAUSE_MS));
    },
    refuse: () => {
      const isNews = state !== 'refused';
      if (isNews) close('refused', everyMs);
      return isNews;
    },
    state: () => state,
  };
};
