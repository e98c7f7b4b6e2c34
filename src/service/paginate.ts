/** Walking the pages of a list whose numbering, page size and end are not documented. */
import { contentId } from '../alert.ts';
import { ServiceError } from '../errors.ts';
import type { Page } from './wire.ts';

/** What walks of one endpoint learn about its numbering; starts as `{}`. */
export interface PageNumbering {
  /** True once a walk has seen that page 1 is the first page. */
  firstIsOne?: boolean;
}

export interface WalkOptions {
  /** Pages after which a walk is given up with a `ServiceError`. Default 10,000. */
  maxPages?: number;
  /** Shared by the walks of one endpoint, it saves each later one a request. Default: every walk learns anew. */
  numbering?: PageNumbering;
}

/** Pages in a row that bring nothing new before a walk ends: one may be a page that slid while it was walked. */
const STALE_PAGES = 2;

const isEmpty = (page: Page<unknown>): boolean => page.items.length + page.malformed.length === 0;

/** Keeps what was not seen in this walk. A malformed item has no identity but its content. */
const createSieve = <T>(identify: (item: T) => string): ((page: Page<T>) => Page<T>) => {
  const seen = new Set<string>();
  const isNew = (key: string): boolean => {
    const before = seen.size;
    return seen.add(key).size > before;
  };
  return (page) => ({
    ...page,
    items: page.items.filter((item) => isNew(`item ${identify(item)}`)),
    malformed: page.malformed.filter(({ raw }) => isNew(`malformed ${contentId(JSON.stringify(raw))}`)),
  });
};

/**
 * Finds out whether page 1 is the first one: it comes again when page 1 is asked for, both times under that name, and
 * page 2 is another. The name alone is not believed: a service may say 1 and mean 0, or repeat its last page for ever.
 */
const createLesson = (numbering: PageNumbering, first: Page<unknown>) => {
  const saysOne = first.pageNumber === 1;
  let cameAgain = false;
  return {
    /** The page to ask for after the first. */
    next: saysOne && numbering.firstIsOne === true ? 2 : 1,
    observe: (pageNumber: number, page: Page<unknown>, hasNews: boolean): void => {
      if (pageNumber === 1) cameAgain = saysOne && page.pageNumber === 1 && !hasNews;
      else if (pageNumber === 2 && cameAgain && (hasNews || isEmpty(page))) numbering.firstIsOne = true;
    },
  };
};

/**
 * Yields every page before it asks for the next, each item once, the first page even when it is empty.
 *
 * It asks without a number first, then for page 1, 2, 3 and so on: where the first page is 0 that is the next one, where
 * it is 1 the first comes again and brings nothing new. A page passed over for a wrong number would be lost without a
 * sign, so the number that an answer names is not believed before it is proved. For the same reason neither a short page
 * nor `total` ends a walk: an empty page does, or two in a row that bring nothing new.
 *
 * Throws what `fetchPage` throws, and a `ServiceError` (`unreadable`) after `maxPages`.
 */
export async function* walkPages<T>(
  fetchPage: (pageNumber: number | undefined) => Promise<Page<T>>,
  identify: (item: T) => string,
  { maxPages = 10_000, numbering = {} }: WalkOptions = {},
): AsyncGenerator<Page<T>, void, undefined> {
  const sieve = createSieve(identify);
  const first = await fetchPage(undefined);
  yield sieve(first);
  if (isEmpty(first)) return;

  const lesson = createLesson(numbering, first);
  let stale = 0;
  for (let pages = 1, pageNumber = lesson.next; stale < STALE_PAGES; pages += 1, pageNumber += 1) {
    if (pages >= maxPages) throw new ServiceError('unreadable', `the list does not end after ${maxPages} pages`);
    const page = await fetchPage(pageNumber);
    const news = sieve(page);
    const hasNews = !isEmpty(news);
    lesson.observe(pageNumber, page, hasNews);
    if (isEmpty(page)) return;
    if (hasNews) yield news;
    stale = hasNews || pageNumber === 1 ? 0 : stale + 1;
  }
}
