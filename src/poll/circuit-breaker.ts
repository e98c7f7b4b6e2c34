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

/** Lets one through now and then, ever less often. */
const createProbing = (now: () => number, firstMs: number, pauseOf: (times: number) => number) => {
  const queue = createQueue();
  let nextAt = now() + firstMs;
  let times = 0;
  return {
    /** Milliseconds until `subject` may go; 0: it goes now. */
    admit: (subject: string): number => {
      if (now() < nextAt || !queue.mayGo(subject)) {
        queue.turnAway(subject);
        return Math.max(1, nextAt - now());
      }
      queue.serve(subject);
      times += 1;
      nextAt = now() + pauseOf(times);
      return 0;
    },
  };
};

/** Begins open. */
export const createGate = ({ now, random, everyMs }: GateSettings): Gate => {
  let state: GateState = 'open';
  const failing = new Set<string>();
  let newlyFailing = new Set<string>();
  /** When each was let through, and when an answer last came. */
  const begunAt = new Map<string, number>();
  let answeredAt = Number.NEGATIVE_INFINITY;

  /** Anywhere in the upper half of a step, so that several daemons do not probe together. */
  const jittered = (ms: number): number => Math.round(ms * (0.5 + random() / 2));
  const probing = (): ReturnType<typeof createProbing> =>
    state === 'refused'
      ? createProbing(now, everyMs, () => everyMs)
      : createProbing(now, jittered(FIRST_PAUSE_MS), (times) =>
          jittered(Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS)),
        );

  /** Those that failed last time find out apart from the others, or what hangs by itself would keep everybody out. */
  let probes = { failing: probing(), sound: probing() };
  const close = (to: GateState): void => {
    state = to;
    probes = { failing: probing(), sound: probing() };
  };
  const probesFor = (subject: string) => (state === 'down' && failing.has(subject) ? probes.failing : probes.sound);

  /** A slow failure may have begun long before others were answered: it says nothing of the service. */
  const isOutdated = (subject: string): boolean => (begunAt.get(subject) ?? Number.POSITIVE_INFINITY) <= answeredAt;

  const worked = (subject: string): boolean => {
    failing.delete(subject);
    begunAt.delete(subject);
    answeredAt = now();
    const isNews = state !== 'open';
    state = 'open';
    newlyFailing = new Set();
    return isNews;
  };

  return {
    admit: (subject) => {
      const waitMs = state === 'open' ? 0 : probesFor(subject).admit(subject);
      if (waitMs === 0) begunAt.set(subject, now());
      return waitMs;
    },
    worked,
    failed: (subject, reason) => {
      if (NOT_ASKED.includes(reason)) return;
      if (ANSWERS.includes(reason)) {
        worked(subject);
        return;
      }
      if (!failing.has(subject) && !isOutdated(subject)) newlyFailing.add(subject);
      failing.add(subject);
      begunAt.delete(subject);
      const isWide = reason === 'limited' || newlyFailing.size >= SUBJECTS_DOWN;
      if (isWide && state === 'open') close('down');
    },
    refuse: () => {
      const isNews = state !== 'refused';
      if (isNews) close('refused');
      return isNews;
    },
    state: () => state,
  };
};
