/**
 * Whether a service should be asked at all. While it is in trouble as a whole, only a few polls go through as probes:
 * it is not beaten while it is down, and its return is noticed at once.
 */
import type { FailureDetector, Trouble } from './failure-detector.ts';

export interface CircuitBreaker {
  /** Milliseconds until a poll of `subject` may go through; 0: now. */
  admit(subject: string): number;
}

export interface CircuitBreakerSettings {
  detector: Pick<FailureDetector, 'trouble' | 'isFailing'>;
  now(): number;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Milliseconds between two probes while the key is refused. */
  everyMs: number;
}

/** The first and the longest pause between two probes; it doubles in between. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** No subject is the probe twice in a row while others wait: one that fails by itself would keep the circuit open. */
const createRotation = () => {
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

/** Lets one through at `firstAt`, and then one after each pause. `pauseOf` gets how many went through. */
const createProbing = (now: () => number, firstAt: number, pauseOf: (times: number) => number) => {
  const rotation = createRotation();
  let nextAt = firstAt;
  let times = 0;
  return {
    admit: (subject: string): number => {
      if (now() < nextAt || !rotation.mayGo(subject)) {
        rotation.turnAway(subject);
        return Math.max(1, nextAt - now());
      }
      rotation.serve(subject);
      times += 1;
      nextAt = now() + pauseOf(times);
      return 0;
    },
  };
};

export const createCircuitBreaker = ({ detector, now, random, everyMs }: CircuitBreakerSettings): CircuitBreaker => {
  /** Anywhere in the upper half of a step, so that several daemons do not probe together. */
  const jittered = (ms: number): number => Math.round(ms * (0.5 + random() / 2));
  const backingOff = ({ since }: Trouble) =>
    createProbing(now, since + jittered(FIRST_PAUSE_MS), (times) =>
      jittered(Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS)),
    );
  const regular = ({ since }: Trouble) => createProbing(now, since + everyMs, () => everyMs);

  /** Those that failed last time probe apart from the others: one that hangs by itself would keep everybody out. */
  const probesOf = (trouble: Trouble) => {
    const sound = trouble.kind === 'refused' ? regular(trouble) : backingOff(trouble);
    return { trouble, sound, failing: trouble.kind === 'refused' ? sound : backingOff(trouble) };
  };
  let probes: ReturnType<typeof probesOf> | undefined;

  return {
    admit: (subject) => {
      const trouble = detector.trouble();
      if (!trouble) return 0;
      if (probes?.trouble !== trouble) probes = probesOf(trouble);
      return (detector.isFailing(subject) ? probes.failing : probes.sound).admit(subject);
    },
  };
};
