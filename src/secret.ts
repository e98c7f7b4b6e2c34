/** Secrets that cannot be logged by accident, and a scrubber for text that others wrote. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/** A value that prints, serialises and inspects as `[secret]`; only `reveal()` gives it out. */
export interface Secret {
  reveal(): string;
}

/** Whether a part of a config is one. */
export const isSecret = (value: object): value is Secret => 'reveal' in value && typeof value.reveal === 'function';

/** Takes as long for every difference, also of length. */
export const isSame = (one: string, other: string): boolean => {
  const digestOf = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digestOf(one), digestOf(other));
};

export const createSecret = (value: string): Secret =>
  Object.seal({
    reveal: () => value,
    toString: () => HIDDEN,
    toJSON: () => HIDDEN,
    [inspect.custom]: () => HIDDEN,
  });

/**
 * Token shapes that providers put into URLs and texts, wherever they came from. Each behind a sign that all of them have and
 * that is looked for in no time: most texts have none.
 */
const SHAPES: readonly (readonly [sign: RegExp, shape: RegExp])[] = [
  [/bot\d/, /bot\d+:[\w-]+/g],
  // A bot token without its prefix.
  [/:[\w-]{30}/, /(?<!\d)\d{6,12}:[\w-]{30,}/g],
  [/hooks\.slack/, /hooks\.slack\.com\/(services|workflows|triggers)\/[^\s"'<>]+/g],
  [/xox/, /xox[a-z]-[\w-]+/g],
  [/xapp-/, /xapp-[\w-]+/g],
  [/whsec_/, /whsec_[\w+/=-]+/g],
  [/bearer /i, /(?<=Bearer )[^\s"',]+/gi],
  [/@/, /(?<=:\/\/)[^\s/@:]*:[^\s/@]+(?=@)/g],
];

/** Shorter values are words, and would be hidden everywhere. */
const SHORTEST = 4;

const percentForms = (text: string): string[] => {
  const upper = encodeURIComponent(text);
  // RFC 3986 encodes five signs more, forms write a space in their own way, and some write the digits in lower case.
  const strict = upper.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = strict.replaceAll('%2A', '*').replaceAll('%20', '+');
  return [upper, strict, form].flatMap((each) => [each, each.replace(/%../g, (code) => code.toLowerCase())]);
};

/** JSON may write a slash as `\\/`; some programs escape nothing else. */
const jsonForms = (text: string): string[] => {
  const json = JSON.stringify(text).slice(1, -1);
  return [json, json.replaceAll('/', '\\/'), text.replaceAll('/', '\\/')];
};

/** A secret in the forms in which programs repeat it. A lone surrogate can stand in no URL. */
const formsOf = (value: string): string[] => [value, ...jsonForms(value), ...percentForms(value.toWellFormed())];

/** Base64 codes three bytes by four characters, so there are three ways to code a text inside a longer one. */
const BASE64_OFFSETS = [0, 1, 2];

/** What base64 makes of a text that stands inside a longer one: the characters that depend on nothing else. */
const base64Cores = (value: string): string[] =>
  BASE64_OFFSETS.flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const [first, end] = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return (['base64', 'base64url'] as const).map((form) => bytes.toString(form).slice(first, end));
  });

const BASE64_WORD = /[\w+/-]{5,}={0,2}/g;

/** Hides each word of base64 that has a secret in it, as in `Bearer KEY` or `user:password`. */
const createBase64Scrubber = (values: readonly string[]): ((text: string) => string) => {
  const cores = [...new Set(values.flatMap(base64Cores))];
  return (text) => {
    // Mostly there is none.
    const found = cores.filter((core) => text.includes(core));
    if (found.length === 0) return text;
    return text.replace(BASE64_WORD, (word) => (found.some((core) => word.includes(core)) ? HIDDEN : word));
  };
};

/** Without any of these a text has secrets only as they are. */
const ESCAPES = /[%+\\]/;

const longestFirst = (texts: readonly string[]): string[] =>
  [...new Set(texts)].toSorted((a, b) => b.length - a.length);

/**
 * Replaces every known secret value, in any form in which it is repeated, and everything of a known secret shape, by
 * `[secret]`.
 */
export const createScrubber = (values: readonly string[]): ((text: string) => string) => {
  const long = values.filter((value) => value.length >= SHORTEST);
  const plain = longestFirst(long);
  const all = longestFirst(long.flatMap(formsOf));
  const scrubBase64 = createBase64Scrubber(long);
  return (text) => {
    let clean = text;
    for (const value of ESCAPES.test(text) ? all : plain) clean = clean.replaceAll(value, HIDDEN);
    clean = scrubBase64(clean);
    for (const [sign, shape] of SHAPES) if (sign.test(clean)) clean = clean.replace(shape, HIDDEN);
    return clean;
  };
};

/** Of earlier configs so many stay known: what was read with them may still be said. */
const CONFIGS_KNOWN = 10;

/** A scrubber that learns: of a config that is read again the secrets may be others. Those in force are never forgotten. */
export const createLearningScrubber = () => {
  let known: string[][] = [];
  let inForce: string[] = [];
  let scrub = createScrubber([]);
  const learn = (values: readonly string[]): void => {
    const own = [...new Set(values)].toSorted();
    const others = known.filter((one) => one.join('\0') !== own.join('\0'));
    known = [...others, own].slice(-CONFIGS_KNOWN);
    scrub = createScrubber([...new Set([...inForce, ...known.flat()])]);
  };
  return {
    scrub: (text: string): string => scrub(text),
    /** The secrets of one more config. */
    learn,
    /** The same of the config that is in force now, however many others are read and refused. */
    keep: (values: readonly string[]): void => {
      // What works by the one before ends later.
      if (inForce.length > 0) learn(inForce);
      inForce = [...values];
      learn(values);
    },
  };
};
