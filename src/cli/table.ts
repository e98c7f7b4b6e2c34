/** Tables for people: aligned, in lines of a terminal's width, with every text from outside made safe to show. */
import { cleanLine, cleanText, shorten } from '../text.ts';

export interface Column<Row> {
  head: string;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** Is cut where lines would grow longer than `LINE_WIDTH`. */
  shrinks?: boolean;
  /** Free text at the end of a line: never cut, and left blank where there is none. */
  isRemark?: boolean;
  /** Undefined is shown as `-`. */
  cell(row: Row): string | number | undefined;
}

/** Columns of a line, as a terminal counts them. */
const LINE_WIDTH = 120;
const GAP = '  ';
const INDENT = '    ';
const SHRINKS_TO = 16;
/** Columns; a transaction hash takes 66. */
const CELL_MAX = 72;

/** Emoji and the scripts of East Asia take two columns. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

const widths = (text: string): { segment: string; width: number }[] =>
  [...graphemes.segment(text)].map(({ segment }) => ({ segment, width: WIDE.test(segment) ? 2 : 1 }));

/** Columns that a text takes on a terminal. */
export const widthOf = (text: string): number =>
  /^[\x20-\x7e]*$/.test(text) ? text.length : widths(text).reduce((sum, { width }) => sum + width, 0);

/** The beginning of a text that takes `limit` columns at most, never half a character. */
const startOf = (text: string, limit: number): string => {
  let left = limit;
  let start = '';
  for (const { segment, width } of widths(text)) {
    left -= width;
    if (left < 0) break;
    start += segment;
  }
  return start;
};

const cut = (text: string, limit: number): string =>
  widthOf(text) <= limit ? text : `${startOf(text, limit - 1).trimEnd()}…`;

/** One line of text in lines of `width` columns; a word that is longer alone is broken. */
const wrapLine = (line: string, width: number): string[] => {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (widthOf(longer) <= width) {
      current = longer;
      continue;
    }
    if (current !== '') lines.push(current);
    current = word;
    while (widthOf(current) > width) {
      const start = startOf(current, width);
      lines.push(start);
      current = current.slice(start.length);
    }
  }
  return [...lines, current];
};

/** UTF-16 units; `--json` has the whole. */
const PARAGRAPH_MAX = 4000;

/** Text from outside in indented lines, made safe to show. */
export const indented = (text: string): string[] =>
  shorten(cleanText(text), PARAGRAPH_MAX)
    .split('\n')
    .flatMap((line) => wrapLine(line, LINE_WIDTH - INDENT.length))
    .map((line) => `${INDENT}${line}`.trimEnd());

const pad = (text: string, width: number, atRight: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return atRight ? `${space}${text}` : `${text}${space}`;
};

const columnWidths = <Row>(lines: readonly string[][], columns: readonly Column<Row>[]): number[] => {
  const wide = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  let excess = wide.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1)) - LINE_WIDTH;
  const shrinking = [...wide.entries()].filter(([index]) => columns[index]?.shrinks === true);
  for (const [index, width] of shrinking.toSorted(([, a], [, b]) => b - a)) {
    const cutOff = Math.max(0, Math.min(excess, width - SHRINKS_TO));
    wide[index] = width - cutOff;
    excess -= cutOff;
  }
  return wide;
};

const cellOf = <Row>(row: Row, { cell, isRemark = false }: Column<Row>): string => {
  const text = cleanLine(String(cell(row) ?? ''));
  return isRemark ? text : cut(text, CELL_MAX) || '-';
};

/** Ends with a line feed. `below` gives text that stands indented under a row, each a paragraph of its own. */
export const renderTable = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  below: (row: Row) => readonly string[] = () => [],
): string => {
  const lines = [columns.map(({ head }) => head.toUpperCase())];
  for (const row of rows) lines.push(columns.map((column) => cellOf(row, column)));
  const wide = columnWidths(lines, columns);
  const lineOf = (cells: readonly string[]): string =>
    cells
      .map((text, index) => pad(cut(text, wide[index] ?? 0), wide[index] ?? 0, columns[index]?.isNumber === true))
      .join(GAP)
      .trimEnd();
  const [head = [], ...body] = lines;
  const blocks = body.map((cells, index) => {
    const row = rows[index];
    return [lineOf(cells), ...(row === undefined ? [] : below(row).flatMap(indented))].join('\n');
  });
  return `${[lineOf(head), ...blocks].join('\n')}\n`;
};
