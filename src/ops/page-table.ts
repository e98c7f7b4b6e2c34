/** A table of the status page; on a phone each row is a card, with the heads beside its cells. */
import { type Html, html } from '../html.ts';

/** A page of thousands of rows, made again every ten seconds, helps nobody; the `status` command shows them all. */
const MOST_ROWS = 1000;

type CellKind = 'number' | 'time' | 'word';

export interface Column<Row> {
  head: string;
  /** None of them is broken into lines; numbers stand at the right. */
  as?: CellKind;
  cell(row: Row): string | number | Html;
}

const classOf = (as: CellKind | undefined): Html => (as === undefined ? html`` : html` class="${as}"`);

export const tableOf = <Row>(rows: readonly Row[], columns: readonly Column<Row>[], nothing: string): Html => {
  if (rows.length === 0) return html`<p class="quiet">${nothing}</p>`;
  const rowOf = (row: Row): Html =>
    html`<tr>${columns.map(({ head, as, cell }) => html`<td data-label="${head}"${classOf(as)}>${cell(row)}</td>`)}</tr>`;
  const more =
    rows.length > MOST_ROWS
      ? html`<p class="quiet">and ${rows.length - MOST_ROWS} more: see the status command</p>`
      : html``;
  return html`<table><thead><tr>${columns.map(({ head, as }) => html`<th${classOf(as)}>${head}</th>`)}</tr></thead>
<tbody>${rows.slice(0, MOST_ROWS).map(rowOf)}</tbody></table>${more}`;
};
