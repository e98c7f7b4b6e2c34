/** A table of the status page; on a phone each row is a card, with the heads beside its cells. */
import { type Html, html } from '../../html.ts';
import { many, nothing as none } from './text.ts';

/** A page of thousands of rows helps nobody: so many of each table are shown, and of what a filter finds. */
export const MOST_ROWS = { page: 25, filtered: 200 };

type CellKind = 'number' | 'time' | 'word' | 'wide';

export interface Column<Row> {
  head: string;
  /** None of them is broken into lines, but `wide` takes a line of its own on a phone; numbers stand at the right. */
  as?: CellKind;
  cell(row: Row): string | number | Html;
}

export interface TableOptions {
  /** Said where there is no row. */
  nothing: string;
  /** Default: `MOST_ROWS.page`. */
  most?: number;
  /** How to see the others. */
  more?: string;
}

const classOf = (as: CellKind | undefined): Html => (as === undefined ? none : html` class="${as}"`);

const FILTER = 'a part of a name in the search shows others';

export const tableOf = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { nothing, most = MOST_ROWS.page, more = FILTER }: TableOptions,
): Html => {
  if (rows.length === 0) return html`<p class="quiet">${nothing}</p>`;
  const rowOf = (row: Row): Html =>
    html`<tr>${columns.map(({ head, as, cell }) => html`<td data-label="${head}"${classOf(as)}>${cell(row)}</td>`)}</tr>
`;
  const left = rows.length - most;
  const rest = left > 0 ? html`<p class="quiet more">and ${many(left)} more: ${more}</p>` : none;
  return html`<table><thead><tr>${columns.map(({ head, as }) => html`<th scope="col"${classOf(as)}>${head}</th>`)}</tr></thead>
<tbody>${rows.slice(0, most).map(rowOf)}</tbody></table>${rest}`;
};
