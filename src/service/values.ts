/**
 * How many values an answer holds, before it is parsed: of 20 MB of `{},` the parser makes a gigabyte. Pure.
 */

/** Twice as many as the largest answer holds where it is full of real items. */
export const MOST_VALUES = 2_000_000;

/** A smaller answer cannot hold enough of them to matter, and is not searched. */
const SEARCHED_FROM = MOST_VALUES / 2;

const QUOTE = '"'.charCodeAt(0);
const BACKSLASH = '\\'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const OPENING: readonly number[] = ['['.charCodeAt(0), '{'.charCodeAt(0)];

/** The quote that ends the text whose quote is at `from`. */
const endOfText = (json: string, from: number): number => {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0;
    while (json.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return json.length;
};

/** By what comes before each value: a comma or an opening bracket. */
export const hasTooManyValues = (json: string, most = MOST_VALUES): boolean => {
  if (json.length <= Math.min(SEARCHED_FROM, most)) return false;
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === COMMA || OPENING.includes(code)) count += 1;
    if (count > most) return true;
  }
  return false;
};
