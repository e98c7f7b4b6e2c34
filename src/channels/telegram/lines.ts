/**
 * Lines of text with a little markup. They are measured and cut as plain text and escaped last, so that no cut can fall
 * inside a tag or an entity. Source of the markup: https://core.telegram.org/bots/api#html-style
 */

/** Plain text with at most one kind of markup; Telegram does not nest links and code. */
export interface Piece {
  text: string;
  mark?: 'b' | 'code' | 'pre';
  /** An http(s) URL of ours. */
  href?: string;
  /** Shown by the reader's clock instead of `text`. */
  time?: ClockTime;
}

/** Source: https://core.telegram.org/bots/api#date-time-entity-formatting */
export interface ClockTime {
  /** Seconds since 1970. */
  unix: number;
  /** `T` for the time with seconds, `dT` for the date before it. */
  format: 'T' | 'dT';
}

export type Line = readonly Piece[];

/** Lines that stand together. */
export interface Block {
  lines: readonly Line[];
  /** With a bar at their side; `folded`: of more than three lines the others show when the reader taps. */
  as?: 'quote' | 'folded';
}

export const BLANK: Line = [];

/** The three characters with a meaning in HTML parse mode, and the one that would end an attribute. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

const timeToHtml = ({ unix, format }: ClockTime, escaped: string): string =>
  `<tg-time unix="${unix}" format="${format}">${escaped}</tg-time>`;

const pieceToHtml = ({ text, mark, href, time }: Piece): string => {
  const escaped = escapeHtml(text);
  if (text === '') return '';
  if (href !== undefined) return `<a href="${escapeHtml(href)}">${escaped}</a>`;
  if (time !== undefined) return timeToHtml(time, escaped);
  return mark === undefined ? escaped : `<${mark}>${escaped}</${mark}>`;
};

const TIME_TAG = /<\/?tg-time(?: [^<>]*)?>/g;

/** The same HTML for a server that knows no times: texts are escaped, so every such tag is one of ours. */
export const withoutTimes = (html: string): string => html.replace(TIME_TAG, '');

export const lineToPlain = (line: Line): string => line.map(({ text }) => text).join('');

export const toPlain = (lines: readonly Line[]): string => lines.map(lineToPlain).join('\n');

/** HTML that parses back to exactly `toPlain(lines)`. */
export const toHtml = (lines: readonly Line[]): string =>
  lines.map((line) => line.map(pieceToHtml).join('')).join('\n');

const blockToHtml = ({ lines, as }: Block): string => {
  if (as === undefined) return toHtml(lines);
  return `<blockquote${as === 'folded' ? ' expandable' : ''}>${toHtml(lines)}</blockquote>`;
};

const linesIn = (blocks: readonly Block[]): Line[] => blocks.flatMap(({ lines }) => lines);

/** The same for blocks. */
export const blocksToHtml = (blocks: readonly Block[]): string =>
  blocks
    .filter(({ lines }) => lines.length > 0)
    .map(blockToHtml)
    .join('\n');

export const blocksToPlain = (blocks: readonly Block[]): string => toPlain(linesIn(blocks));

/** UTF-16 units, each line with its line feed. */
export const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((length, line) => length + lineToPlain(line).length + 1, 0);

const isMarked = ({ mark, href, time }: Piece): boolean =>
  mark !== undefined || href !== undefined || time !== undefined;

/** How many entities the lines need; Telegram keeps a hundred of a message. */
export const entitiesIn = (lines: readonly Line[]): number => lines.flat().filter(isMarked).length;

/** Blocks with a blank line before them; nothing where there are no lines. */
export const apart = (blocks: readonly Block[]): Block[] => {
  const shown = blocks.filter(({ lines }) => lines.length > 0);
  return shown.length > 0 ? [{ lines: [BLANK] }, ...shown] : [];
};
