/** What the references share. */

/** Stands in each of them. */
export const MADE =
  '<!-- Made by scripts/reference.ts from the program. Change the texts there, then run `npm run reference`. -->';

export const code = (text: string): string => `\`${text}\``;

/** Text for a cell of a table. A word in angle brackets would be taken for HTML. */
export const cell = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replaceAll('<', '&lt;').replaceAll('*', '\\*')))
    .join('');
