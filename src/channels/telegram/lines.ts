/**
 * Lines of text with a little markup, measured and cut as plain text and escaped last: no cut can fall inside a tag or
 * an entity. Source of the markup: https://core.telegram.org/bots/api#html-style
 */
import { shorten } from '../text.ts';

/** Plain text with at most one kind of markup; Telegram does not nest links and code. */
export interface Piece {
  text: string;
  mark?: 'b' | 'code';
  /** An http(s) URL of ours. */
  href?: string;
}

export type Line = readonly Piece[];

/** The three characters that HTML parse mode gives a meaning, and the one that would end an attribute. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

const pieceToHtml = ({ text, mark, href }: Piece): string => {
  const escaped = escapeHtml(text);
  if (href !== undefined) return `<a href="${escapeHtml(href)}">${escaped}</a>`;
  return mark === undefined ? escaped : `<${mark}>${escaped}</${mark}>`;
};

const lineToPlain = (line: Line): string => line.map(({ text }) => text).join('');

export const toPlain = (lines: readonly Line[]): string => lines.map(lineToPlain).join('\n');

/** HTML that parses back to exactly `toPlain(lines)`. */
export const toHtml = (lines: readonly Line[]): string =>
  lines.map((line) => line.map(pieceToHtml).join('')).join('\n');

/** UTF-16 units, each line with its line feed. */
export const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((length, line) => length + lineToPlain(line).length + 1, 0);

/** Kept free for the line that says what was left out. */
const OMISSION_LIMIT = 80;
/** Less than this of a long line is not worth showing. */
const PART_MIN = 200;

/** Shortens a line by its last piece; the pieces before it are short labels. */
const cutLine = (line: Line, limit: number): Line => {
  const last = line.at(-1);
  if (last === undefined) return line;
  const room = limit - (lineToPlain(line).length - last.text.length);
  return [...line.slice(0, -1), { ...last, text: shorten(last.text, room) }];
};

/** The lines that fit into `limit` as a whole, and as much of the next as is worth showing. */
const head = (lines: readonly Line[], limit: number): Line[] => {
  const shown: Line[] = [];
  let room = limit;
  for (const line of lines) {
    const length = lengthOf([line]);
    if (length > room) {
      if (room > PART_MIN) shown.push(cutLine(line, room - 1));
      break;
    }
    shown.push(line);
    room -= length;
  }
  return shown;
};

/** At most `limit` UTF-16 units (at least 300); where something is left out, a last line says how much. */
export const fitLines = (lines: readonly Line[], limit: number): Line[] => {
  const length = lengthOf(lines);
  if (length <= limit) return [...lines];
  const shown = head(lines, limit - OMISSION_LIMIT);
  return [...shown, [{ text: `[${(length - lengthOf(shown)).toLocaleString('en')} characters left out]` }]];
};
