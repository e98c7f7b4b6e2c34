/** Text from outside, made safe to show: no control, direction or invisible characters, and cut where the reader can see it. */

/** Everything that ends a line somewhere becomes a line feed: a field must not fake a line of ours. */
const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/**
 * Control characters except line feed and tab, characters that are drawn as nothing (zero-width, direction and tag
 * characters, variation selectors, fillers), interlinear annotation, lone surrogates and noncharacters.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cs}\ufff9-\ufffb]|(?![\n\t])\p{Cc}/gu;

/** Marks pile up on one letter without end and cover the lines around it; no script needs more than four. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** A text of blank lines would push what follows out of sight. */
const BLANK_LINES = /\n(?:[^\S\n]*\n){2,}/g;

/** Several lines of text, made safe to show. */
export const cleanText = (text: string): string =>
  text.replace(LINE_ENDS, '\n').replace(INVISIBLE, '').replace(PILED_MARKS, '$1').replace(BLANK_LINES, '\n\n').trim();

/** The same for a place that has one line only. */
export const cleanLine = (text: string): string => cleanText(text).replace(/\s+/g, ' ');

/** Keeps at most `limit` UTF-16 units, never half a character, and says so with an ellipsis. */
export const shorten = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  if (limit < 1) return '';
  const cut = text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '');
  return `${cut.trimEnd()}…`;
};
