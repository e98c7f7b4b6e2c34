/**
 * Lines of text with a little markup. They are measured and cut as plain text and escaped last, so that no cut can fall
 * inside a tag or an entity. Source of the markup: https://core.telegram.org/bots/api#html-style
 */

import { packed } from '../../chunks.ts';
import { beginningOf, shorten } from '../../text.ts';

/** Plain text with at most one kind of markup; Telegram does not nest links and code. */
export interface Piece {
  text: string;
  mark?: 'b' | 'code' | 'pre';
  /** An http(s) URL of ours. */
  href?: string;
}

export type Line = readonly Piece[];

/** The three characters with a meaning in HTML parse mode, and the one that would end an attribute. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

const pieceToHtml = ({ text, mark, href }: Piece): string => {
  const escaped = escapeHtml(text);
  if (href !== undefined) return `<a href="${escapeHtml(href)}">${escaped}</a>`;
  return mark === undefined || text === '' ? escaped : `<${mark}>${escaped}</${mark}>`;
};

const lineToPlain = (line: Line): string => line.map(({ text }) => text).join('');

export const toPlain = (lines: readonly Line[]): string => lines.map(lineToPlain).join('\n');

/** HTML that parses back to exactly `toPlain(lines)`. */
export const toHtml = (lines: readonly Line[]): string =>
  lines.map((line) => line.map(pieceToHtml).join('')).join('\n');

/** UTF-16 units, each line with its line feed. */
export const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((length, line) => length + lineToPlain(line).length + 1, 0);

/**
 * Words that Telegram makes clickable by itself: links and e-mail addresses, mentions (which notify people), hash tags
 * and cash tags, bot commands, phone numbers. Inside code it leaves them alone.
 * Source: https://core.telegram.org/bots/api#messageentity; tdlib/td `MessageEntity.cpp`, `find_entities`.
 */
const CLICKABLE = /[@#\uff03]|(?<!\w)\/|\$\p{L}|\+\d|\.[^\d.]|\d\.\d+\.\d+\.\d/u;

const disarmPiece = (piece: Piece): Piece[] => {
  const { text, mark, href } = piece;
  if (href !== undefined || mark === 'code' || mark === 'pre') return [piece];
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    if (!CLICKABLE.test(word)) continue;
    pieces.push({ ...piece, text: text.slice(end, index) }, { text: word, mark: 'code' });
    end = index + word.length;
  }
  pieces.push({ ...piece, text: text.slice(end) });
  return pieces.filter((part) => part.text !== '');
};

const isMarked = ({ mark, href }: Piece): boolean => mark !== undefined || href !== undefined;

/**
 * The same text without anything that Telegram makes clickable. Telegram drops all entities beyond the hundredth, so lines
 * that need more than `limit` of them become one block.
 */
export const disarm = (lines: readonly Line[], limit: number): Line[] => {
  const disarmed = lines.map((line) => line.flatMap(disarmPiece));
  return entitiesIn(disarmed) <= limit ? disarmed : [[{ text: toPlain(lines), mark: 'pre' }]];
};

/** Entities for one line: enough for a label and a value. */
const LINE_ENTITIES = 3;

/** How many entities the lines need; Telegram keeps a hundred of a message. */
export const entitiesIn = (lines: readonly Line[]): number => lines.flat().filter(isMarked).length;

/** `disarm` line by line; as one block where that takes more than `limit` entities. */
export const disarmEach = (lines: readonly Line[], limit: number): Line[] => {
  const each = lines.flatMap((line) => disarm([line], LINE_ENTITIES));
  return entitiesIn(each) <= limit ? each : disarm(lines, limit);
};

/** Room for the line that says how much was left out. */
const OMISSION_LIMIT = 80;
/** A shorter part of a long line is not worth showing. */
const PART_MIN = 200;

/** Shortens the last piece of a line; the pieces before it are short labels. */
const cutLine = (line: Line, limit: number): Line => {
  const last = line.at(-1);
  if (last === undefined) return line;
  const room = limit - (lineToPlain(line).length - last.text.length);
  return [...line.slice(0, -1), { ...last, text: shorten(last.text, room) }];
};

/** The first lines that fit into `limit`, and a part of the next one if enough of it fits. */
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

/** At most `limit` UTF-16 units (at least 300); a last line says how much was left out, if anything. */
export const fitLines = (lines: readonly Line[], limit: number): Line[] => {
  const length = lengthOf(lines);
  if (length <= limit) return [...lines];
  const shown = head(lines, limit - OMISSION_LIMIT);
  return [...shown, [{ text: `[${(length - lengthOf(shown)).toLocaleString('en')} characters left out]` }]];
};

/** The whole text in parts of at most `limit` UTF-16 units, cut between lines. Only a line that is longer than a part is cut. */
export const splitLines = (lines: readonly Line[], limit: number): Line[][] =>
  packed(
    lines.flatMap((line) => foldLine(line, limit)),
    limit,
    (line) => lengthOf([line]),
  );

/** A line that is longer than a part becomes several lines without markup. */
const foldLine = (line: Line, limit: number): Line[] => {
  const text = lineToPlain(line);
  if (text.length < limit) return [line];
  const folded: Line[] = [];
  for (let rest = text; rest !== ''; ) {
    const piece = foldedPiece(rest, limit - 1);
    folded.push([{ text: piece.trimEnd() }]);
    rest = rest.slice(piece.length);
  }
  return folded;
};

/** The first piece of a long line: cut at a space in its second half, else between two characters. */
const foldedPiece = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const space = text.lastIndexOf(' ', limit - 1);
  return space > limit / 2 ? text.slice(0, space + 1) : beginningOf(text, limit);
};
