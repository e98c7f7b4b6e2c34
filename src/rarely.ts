/** What may happen or be said only so often, in the memory of this daemon. */
import { createBoundedMap } from './bounded-map.ts';
import { MINUTE_MS } from './time.ts';

/** Different ones remembered at once: a text that holds an id or an address must not grow this for ever. */
const REMEMBERED = 100;

/**
 * Says at once what may repeat thousands of times a minute, and then only now and then. `say` is called at most once in
 * `windowMs` for each `what`; it gets how often it was due since then.
 */
export const createRarely = (now: () => number, windowMs = MINUTE_MS) => {
  const known = createBoundedMap<string, { at: number; leftOut: number }>(REMEMBERED);
  return (what: string, say: (times: number) => void): void => {
    const { at, leftOut } = known.get(what) ?? { at: Number.NEGATIVE_INFINITY, leftOut: 0 };
    const isDue = Math.abs(now() - at) >= windowMs;
    known.set(what, isDue ? { at: now(), leftOut: 0 } : { at, leftOut: leftOut + 1 });
    if (isDue) say(leftOut + 1);
  };
};

interface RareWarningSettings {
  log: { warn(fields: object, text: string): void };
  text: string;
  now(): number;
}

/** A warning that strangers can cause: at most once a minute, for each `of`. */
export const createRareWarning = ({ log, text, now }: RareWarningSettings) => {
  const rarely = createRarely(now);
  return (fields: object, of = ''): void => rarely(of, (times) => log.warn({ ...fields, times }, text));
};

/**
 * How often something may happen within a minute: each asks Redis, or a platform whose patience alerts need. `each`: of one
 * person, link or address; `all`: of all together.
 */
export const createMinuteLimit = (now: () => number, { each, all }: { each: number; all: number }) => {
  let counted: { of: string; at: number }[] = [];

  /** Whether there is room for one more. Counts nothing. */
  const mayTake = (of: string): boolean => {
    counted = counted.filter(({ at }) => Math.abs(now() - at) < MINUTE_MS);
    return counted.length < all && counted.filter((one) => one.of === of).length < each;
  };

  const count = (of: string): void => {
    counted.push({ of, at: now() });
  };

  return {
    mayTake,
    count,
    /** Counts one; false where there were too many: those that are refused do not count. */
    take: (of: string): boolean => {
      const isTaken = mayTake(of);
      if (isTaken) count(of);
      return isTaken;
    },
  };
};
