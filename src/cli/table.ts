/** Tables for people: aligned, in lines of the terminal's width and in full where there is none, with every text from outside made safe to show. */
import { cleanLine, cleanText, shorten } from '../text.ts';
import { clock, type Moment } from '../time.ts';

export interface Column<Row> {
  head: string;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** Is cut first where lines would grow longer than the terminal. */
  shrinks?: boolean;
  /** Free text at the end of a line: wrapped there, never cut, and left blank where there is none. */
  isRemark?: boolean;
  /** Undefined is shown as `-`. */
  cell(row: Row): string | number | undefined;
}

/** `2026-11-20 10:07:31`, under a head that says it is UTC; undefined stays so. */
export const timeCell = (at: Moment | undefined): string | undefined => (at === undefined ? undefined : clock(at));

interface Layout<Row> {
  /** Columns of the terminal; undefined for a pipe or a file, which get everything. */
  width?: number | undefined;
  /** Text that stands indented under a row, each a paragraph of its own. */
  below?(row: Row): readonly string[];
}

/** Columns of a line of running text: longer ones are hard to read. */
const LINE_WIDTH = 120;
const GAP = '  ';
const INDENT = '    ';
/** What a column that shrinks keeps, and any other where that does not suffice. */
const SHRINKS_TO = 10;
const LEAST = 6;
/** Narrower, a remark stands on lines of its own. */
const LEAST_REMARK = 24;
/** UTF-16 units; no real cell is longer. */
const CELL_MAX = 1000;

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
export const indented = (text: string, width = LINE_WIDTH): string[] =>
  shorten(cleanText(text), PARAGRAPH_MAX)
    .split('\n')
    .flatMap((line) => wrapLine(line, Math.max(LEAST_REMARK, Math.min(width, LINE_WIDTH) - INDENT.length)))
    .map((line) => `${INDENT}${line}`.trimEnd());

const pad = (text: string, width: number, atRight: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return atRight ? `${space}${text}` : `${text}${space}`;
};

/** As wide as their cells; narrower where the lines would not fit: what may shrink first, the widest first. */
const columnWidths = <Row>(
  lines: readonly string[][],
  columns: readonly Column<Row>[],
  width: number | undefined,
): number[] => {
  const wide = columns.map((_, index) => Math.max(...lines.map((line) => widthOf(line[index] ?? ''))));
  const isLastRemark = columns.at(-1)?.isRemark === true;
  const fixed = isLastRemark ? wide.slice(0, -1) : wide;
  let excess = fixed.reduce((sum, each) => sum + each, GAP.length * (fixed.length - 1)) - (width ?? Infinity);
  /** Column by column of the terminal from what is the widest at that point, so that no cell suffers alone. */
  const cutFrom = (isCut: (column: Column<Row>) => boolean, least: number): void => {
    const indices = fixed.map((_, index) => index).filter((index) => isCut(columns[index] as Column<Row>));
    for (; excess > 0; excess -= 1) {
      const [widest] = indices.toSorted((a, b) => (wide[b] ?? 0) - (wide[a] ?? 0));
      if (widest === undefined || (wide[widest] ?? 0) <= least) return;
      wide[widest] = (wide[widest] ?? 0) - 1;
    }
  };
  cutFrom(({ shrinks = false }) => shrinks, SHRINKS_TO);
  cutFrom(({ isNumber = false }) => !isNumber, SHRINKS_TO);
  cutFrom(({ isNumber = false }) => !isNumber, LEAST);
  return wide;
};

const cellOf = <Row>(row: Row, { cell, isRemark = false }: Column<Row>): string => {
  const text = cleanLine(String(cell(row) ?? ''));
  return isRemark ? text : shorten(text, CELL_MAX) || '-';
};

/** The last cell, where it is a remark, goes on below itself. */
const withRemark = (start: string, remark: string, width: number | undefined): string => {
  const line = `${start}${remark}`;
  if (width === undefined || widthOf(line) <= width) return line.trimEnd();
  const left = width - widthOf(start);
  if (left < LEAST_REMARK) return [start.trimEnd(), ...indented(remark, width)].join('\n');
  return wrapLine(remark, left)
    .map((part, index) => (index === 0 ? `${start}${part}` : `${' '.repeat(widthOf(start))}${part}`))
    .join('\n');
};

/** Ends with a line feed. */
export const renderTable = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, below = () => [] }: Layout<Row> = {},
): string => {
  const lines = [columns.map(({ head }) => head.toUpperCase())];
  for (const row of rows) lines.push(columns.map((column) => cellOf(row, column)));
  const wide = columnWidths(lines, columns, width);
  const hasRemark = columns.at(-1)?.isRemark === true;
  const lineOf = (cells: readonly string[]): string => {
    const padded = cells.map((text, index) => {
      const isLastRemark = hasRemark && index === cells.length - 1;
      return isLastRemark ? '' : pad(cut(text, wide[index] ?? 0), wide[index] ?? 0, columns[index]?.isNumber === true);
    });
    return withRemark(padded.join(GAP), hasRemark ? (cells.at(-1) ?? '') : '', width).trimEnd();
  };
  const [head = [], ...body] = lines;
  const blocks = body.map((cells, index) => {
    const row = rows[index];
    const under = row === undefined ? [] : below(row).flatMap((text) => indented(text, width));
    return [lineOf(cells), ...under].join('\n');
  });
  return `${[lineOf(head), ...blocks].join('\n')}\n`;
};
