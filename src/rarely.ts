/** Says at once what may repeat thousands of times a minute, and then only now and then, with how often it was due. */
import { createBoundedMap } from './bounded-map.ts';

/** Different ones remembered at once: a text that holds an id or an address must not grow this for ever. */
const REMEMBERED = 100;

/** `say` gets how often it was due since it was last said; it is called at most once in `windowMs` for each `what`. */
export const createRarely = (now: () => number, windowMs = 60_000) => {
  const known = createBoundedMap<string, { at: number; leftOut: number }>(REMEMBERED);
  return (what: string, say: (times: number) => void): void => {
    const { at, leftOut } = known.get(what) ?? { at: Number.NEGATIVE_INFINITY, leftOut: 0 };
    const isDue = Math.abs(now() - at) >= windowMs;
    known.set(what, isDue ? { at: now(), leftOut: 0 } : { at, leftOut: leftOut + 1 });
    if (isDue) say(leftOut + 1);
  };
};

export interface RareWarningSettings {
  log: { warn(fields: object, text: string): void };
  text: string;
  now(): number;
}

/** A warning that strangers can cause: at most once a minute, for each `of`. */
export const createRareWarning = ({ log, text, now }: RareWarningSettings) => {
  const rarely = createRarely(now);
  return (fields: object, of = ''): void => rarely(of, (times) => log.warn({ ...fields, times }, text));
};
