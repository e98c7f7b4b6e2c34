/** What of a text has to be found again wherever it is shown: its words, whatever happened to spaces and invisible characters. */

const BETWEEN = /[\s\p{C}\p{Default_Ignorable_Code_Point}]+/u;

/** A word is looked for by its beginning: long ones may be cut. */
const LONGEST = 60;

export const wordsOf = (text: string): string[] =>
  text
    .split(BETWEEN)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, LONGEST));

/** A mail's text without the marks of quotes, and without what `defang.ts` puts into words: all of it without spaces. */
export const squeezed = (text: string): string =>
  text.replaceAll(/^> ?/gm, '').replaceAll(/\s+/g, '').replaceAll('[.]', '.');
