/** Words, counts, times, tables and forms on the status page. */
import { cleanLine, type Html, html, shortenMiddle } from '../../text.ts';
import { ageText, ago, clockText } from '../../time.ts';
import type { Viewer } from './details.ts';

/** Text from outside: isolated, so that its writing direction stays its own. */
export const name = (text: string): Html => html`<bdi>${cleanLine(text)}</bdi>`;
export const bad = (text: string): Html => html`<span class="bad">${cleanLine(text)}</span>`;
export const quiet = (text: string): Html => html`<span class="quiet">${cleanLine(text)}</span>`;
export const nothing: Html = html``;

/** `4,900` */
export const many = (value: number): string => value.toString().replace(/\B(?=(?:\d{3})+$)/g, ',');
export const count = (value: number): Html | string => (value === 0 ? quiet('0') : many(value));

/** Relative; the whole moment is in its title. */
export const moment = (at: string | undefined, now: string, never = 'never'): Html =>
  at === undefined ? quiet(never) : html`<time datetime="${at}" title="${clockText(at)}">${ago(at, now)}</time>`;

/** Of something that comes: `in 4 min`. */
export const coming = (at: string, now: string): Html => {
  const left = Date.parse(at) - Date.parse(now);
  return html`<time datetime="${at}" title="${clockText(at)}">${left > 0 ? `in ${ageText(left)}` : 'now'}</time>`;
};

/** `1.2 s`, `45 s`, `4 min` */
export const tookText = (ms: number): string => (ms < 9950 ? `${(Math.max(0, ms) / 1000).toFixed(1)} s` : ageText(ms));

const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/;

/** What stands in backticks is a command. */
const inCode = (text: string): Html => {
  const parts = cleanLine(text).split('`');
  // An odd backtick is no pair.
  if (parts.length % 2 === 0) return html`${cleanLine(text)}`;
  return html`${parts.map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))}`;
};

/** A sentence; a moment in it is shown as people read it. */
export const sentence = (text: string): Html => {
  const [at] = MOMENT.exec(text) ?? [];
  if (at === undefined) return inCode(text);
  const [before = '', ...after] = text.split(at);
  return html`${cleanLine(before)} <time datetime="${at}">${clockText(at)}</time>${cleanLine(after.join(at))}`;
};

const COPY = html`<svg viewBox="0 0 16 16" width="13" height="13" aria-hidden="true"><path d="M5.5 2.5h8v8M2.5 5.5h8v8h-8z" fill="none" stroke="currentColor" stroke-width="1.4"/></svg>`;

const SHORT = { head: 8, tail: 6 };

/** A hash, short to look at. All of it is there to be marked and copied, and for the button, which needs the script. */
export const hash = (text: string, link?: string): Html => {
  const clean = cleanLine(text);
  const short = shortenMiddle(clean, SHORT);
  const code =
    short === clean
      ? html`<code>${clean}</code>`
      : html`<code class="hash" title="${clean}">${clean.slice(0, SHORT.head)}<i>${clean.slice(SHORT.head, -SHORT.tail)}</i>${clean.slice(-SHORT.tail)}</code>`;
  const linked = link?.startsWith('http') ? html`<a href="${link}" rel="noreferrer" target="_blank">${code}</a>` : code;
  return html`<span class="nowrap">${linked}<button class="copy" type="button" data-copy="${clean}" title="Copy ${clean}" aria-label="Copy ${short}" hidden>${COPY}</button></span>`;
};

/** Where a search for a text leads. */
export const searchFor = (text: string): string => `/?tx=${encodeURIComponent(text.toWellFormed())}`;

/** A page of thousands of rows helps nobody: so many of each table are shown, and of what a filter finds. */
export const MOST_ROWS = { page: 25, filtered: 200 };

export interface Column<Row> {
  head: string;
  /** None of them is broken into lines, but `wide` takes a line of its own on a phone; numbers stand at the right. */
  as?: 'number' | 'time' | 'word' | 'wide';
  cell(row: Row): string | number | Html;
}

export interface TableOptions {
  /** Said where there is no row. */
  empty?: string;
  most?: number;
  /** How to see the others. */
  more?: string;
  /** So many rows are in sight, the others folded away under this id: what follows must not be far down. Default: all. */
  unfolded?: { rows: number; id: string };
}

const FILTER = 'a part of a name in the search shows others';

/** On a phone each row is a card, with the heads beside its cells. */
export const tableOf = <Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { empty = '', most = MOST_ROWS.page, more = FILTER, unfolded }: TableOptions = {},
): Html => {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  const classOf = ({ as }: Column<Row>): Html => (as === undefined ? nothing : html` class="${as}"`);
  const heads = columns.map((column) => html`<th scope="col"${classOf(column)}>${column.head}</th>`);
  const rowOf = (
    row: Row,
  ): Html => html`<tr>${columns.map((column) => html`<td data-label="${column.head}"${classOf(column)}>${column.cell(row)}</td>`)}</tr>
`;
  const partOf = (some: readonly Row[]): Html => html`<table><thead><tr>${heads}</tr></thead>
<tbody>${some.map(rowOf)}</tbody></table>`;
  const left = rows.length - most;
  const rest = left > 0 ? html`<p class="quiet more">and ${many(left)} more: ${more}</p>` : nothing;
  const shown = rows.slice(0, most);
  if (unfolded === undefined || shown.length <= unfolded.rows) return html`${partOf(shown)}${rest}`;
  const { rows: first, id } = unfolded;
  const inSight = first === 0 ? nothing : partOf(shown.slice(0, first));
  const summary = first === 0 ? `All ${many(rows.length)}` : `${many(rows.length - first)} more`;
  return html`${inSight}<details id="${id}"><summary>${summary}</summary>${partOf(shown.slice(first))}${rest}</details>`;
};

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${cleanLine(value)}">`;

/** A button that changes something, for those who are signed in: the server asks once more. */
export const button = ({ csrf }: Viewer, action: string, text: string, fields: Record<string, string>): Html =>
  csrf === undefined
    ? nothing
    : html`<form method="post" action="/actions/${action}" class="inline">${hiddenField('csrf', csrf)}${Object.entries(
        fields,
      ).map(([name, value]) => hiddenField(name, value))}<button type="submit">${text}</button></form>`;
