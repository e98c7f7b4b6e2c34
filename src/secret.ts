/** Secrets that cannot be logged by accident, and a scrubber for text that others wrote. */
import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/** A value that prints, serialises and inspects as `[secret]`; only `reveal()` gives it out. */
export interface Secret {
  reveal(): string;
}

export const createSecret = (value: string): Secret =>
  Object.seal({
    reveal: () => value,
    toString: () => HIDDEN,
    toJSON: () => HIDDEN,
    [inspect.custom]: () => HIDDEN,
  });

/** Token shapes that providers put into URLs and texts, wherever they came from. */
const SHAPES: readonly RegExp[] = [
  /bot\d+:[\w-]+/g,
  // A bot token without its prefix.
  /(?<!\d)\d{6,12}:[\w-]{30,}/g,
  /hooks\.slack\.com\/(services|workflows|triggers)\/[^\s"'<>]+/g,
  /xox[a-z]-[\w-]+/g,
  /xapp-[\w-]+/g,
  /whsec_[\w+/=-]+/g,
  /(?<=Bearer )[^\s"',]+/gi,
  /(?<=:\/\/)[^\s/@:]*:[^\s/@]+(?=@)/g,
];

/** Replaces every known secret value, and everything of a known secret shape, by `[secret]`. */
export const createScrubber = (values: readonly string[]): ((text: string) => string) => {
  const known = values.filter((value) => value.length >= 4).toSorted((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const value of known) clean = clean.replaceAll(value, HIDDEN);
    for (const shape of SHAPES) clean = clean.replace(shape, HIDDEN);
    return clean;
  };
};
