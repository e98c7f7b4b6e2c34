/** Pages: from the whole list and a query to one page and what is said about it. */
import type { JsonObject, JsonValue } from '../json.ts';
import type { Query } from './query.ts';
import type { Quirks } from './quirks.ts';
import { Refusal } from './refusal.ts';

interface Page<Item> {
  items: Item[];
  pageNumber: number;
  total: number;
}

export const pageSizeOf = (query: Query, { defaultPageSize, maxPageSize, ignoresPageSize }: Quirks): number => {
  const asked = (ignoresPageSize ? undefined : query.integer('pageSize')) ?? defaultPageSize;
  if (asked < 1) throw new Refusal(400, 'pageSize must be positive');
  return Math.min(asked, maxPageSize);
};

/** Counted from 0; undefined where there is no such page. */
const indexOf = (pageNumber: number, { firstPage, belowFirstPage }: Quirks): number | undefined => {
  if (pageNumber >= firstPage) return pageNumber - firstPage;
  if (belowFirstPage === 'reject') throw new Refusal(400, `pageNumber must be at least ${firstPage}`);
  return belowFirstPage === 'first' ? 0 : undefined;
};

const totalOf = (whole: number, page: number, size: number, { totalCounts }: Quirks): number => {
  if (totalCounts === 'items') return whole;
  return totalCounts === 'pages' ? Math.ceil(whole / size) : page;
};

/** The index of a page behind the last, counted from 0, stays where that is an empty page. */
const lastIndexOf = (
  index: number,
  whole: number,
  size: number,
  stride: number,
  { behindLastPage }: Quirks,
): number => {
  const last = Math.max(0, Math.ceil((whole - size) / stride));
  if (index <= last || behindLastPage === 'empty') return index;
  if (behindLastPage === 'last') return last;
  throw new Refusal(behindLastPage === 'missing' ? 404 : 400, 'no such page');
};

export const cutPage = <Item>(whole: readonly Item[], query: Query, quirks: Quirks): Page<Item> => {
  const size = pageSizeOf(query, quirks);
  const pageNumber = query.integer('pageNumber') ?? quirks.firstPage;
  const stride = Math.max(1, size - quirks.pageOverlap);
  const asked = indexOf(pageNumber, quirks);
  const index = asked === undefined ? undefined : lastIndexOf(asked, whole.length, size, stride, quirks);
  const items = index === undefined ? [] : whole.slice(index * stride, index * stride + size);
  return { items, pageNumber, total: totalOf(whole.length, items.length, size, quirks) };
};

/** The wrapper around a page of items. */
export const wrapPage = (page: JsonValue[], { pageNumber, total }: Page<unknown>, quirks: Quirks): JsonObject => ({
  ...(page.length === 0 && quirks.emptyPage === 'missing' ? {} : { page }),
  ...(quirks.pageNumberEcho === 'missing'
    ? {}
    : { pageNumber: quirks.pageNumberEcho === 'string' ? String(pageNumber) : pageNumber }),
  total,
});
