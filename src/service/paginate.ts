/** Walks the pages of a list whose numbering, page size and end are not documented. */
import { type ServiceBound, ServiceError } from '../errors.ts';
import { contentId } from '../item.ts';
import { createPages, type FetchPage, fetchFirst, isRefusal, type Resized, sizeOf } from './page-size.ts';
import type { Page } from './wire.ts';

/** Of a longer key only a digest is kept: ids come from outside. */
const LONGEST_KEY = 100;
const shortKey = (key: string): string => (key.length <= LONGEST_KEY ? key : contentId(key));

/** Keeps of each page what was not seen in this walk. A malformed item has no identity but its content. */
const createSieve = <T>(identify: (item: T) => string) => {
  const [items, pages] = [new Set<string>(), new Set<string>()];
  const isNew = (seen: Set<string>, key: string): boolean => {
    const before = seen.size;
    return seen.add(key).size > before;
  };
  const keysOf = (page: Page<T>): string[] => [
    ...page.items.map((item) => shortKey(`item ${identify(item)}`)),
    ...page.malformed.map(({ raw }) => `malformed ${contentId(JSON.stringify(raw))}`),
  ];
  return {
    countNew: (page: Page<T>): number => keysOf(page).filter((key) => !items.has(key)).length,
    take: (page: Page<T>): { news: Page<T> & Pick<WalkedPage<T>, 'repeated'>; isRepeat: boolean } => {
      const keys = keysOf(page);
      const areNew = keys.map((key) => isNew(items, key));
      return {
        news: {
          ...page,
          items: page.items.filter((_, index) => areNew[index]),
          repeated: page.items.filter((_, index) => !areNew[index]),
          malformed: page.malformed.filter((_, index) => areNew[page.items.length + index]),
        },
        isRepeat: !isNew(pages, contentId(...keys.toSorted())),
      };
    },
  };
};

/** What walks of one endpoint learn about its pages; starts as `{}`. */
export interface PageNumbering {
  /** True once a walk has seen that page 1 is the first page. */
  firstIsOne?: boolean;
  /** What was seen behind the last page: an empty one, or a refusal with 4xx. */
  behindLast?: 'empty' | 'refused';
  /** Items on the largest page so far: the service's page size is at least that. */
  largest?: number;
}

export interface WalkOptions {
  /** Pages after which a walk is given up with a `ServiceError`. */
  maxPages?: number;
  /** The same for items. */
  maxItems?: number;
  /** Shared by the walks of one endpoint, it saves each later one a request. Default: every walk learns again. */
  numbering?: PageNumbering;
  /** Items a page. Where it is given, a page that is too large to be read is read again in smaller ones. */
  pageSize?: number;
}

export interface MeasuredPage<T> extends Page<T> {
  /** How many there were on the page, those that came before included. */
  size: number;
  /** Fewer items than a page of this list may hold: there is probably no further page, but only asking can show that. */
  short: boolean;
}

export interface WalkedPage<T> extends MeasuredPage<T> {
  /** Items of the page that came before, on it or on another one. */
  repeated: T[];
  /** The same as a page before, though that was full: the last page comes again, or the list has more behind this one. */
  isRepeat: boolean;
}

const MOST_PAGES = 10_000;
const MOST_ITEMS = 1_000_000;

/** Pages in a row that bring nothing new before a walk ends: one may be a page that slid while it was walked. */
const STALE_PAGES = 2;
/**
 * The same where an empty page is known to mark the end: pages without new items have then only slid. Also after pages of
 * another size: they may overlap with what was read.
 */
const STALE_PAGES_BEFORE_EMPTY = 20;

const isEmpty = (page: Page<unknown>): boolean => sizeOf(page) === 0;

/**
 * Finds out whether page 1 is the first one: it comes again when page 1 is asked for, both times under that name, and
 * page 2 is another. The name alone is not believed: a service may say 1 and mean 0, or repeat its last page for ever.
 */
const createLesson = (numbering: PageNumbering, first: Page<unknown>, isResized: () => boolean) => {
  const saysOne = first.pageNumber === 1;
  let cameAgain = false;
  return {
    /** The page to ask for after the first. */
    next: saysOne && numbering.firstIsOne === true ? 2 : 1,
    observe: (pageNumber: number, page: Page<unknown>, hasNews: boolean): void => {
      if (isResized()) return;
      if (pageNumber === 1) cameAgain = saysOne && page.pageNumber === 1 && !hasNews;
      else if (pageNumber === 2 && cameAgain && (hasNews || isEmpty(page))) numbering.firstIsOne = true;
    },
  };
};

/**
 * A page after the first: `undefined` where the service refuses it twice, which is the end of some lists. Where the list
 * was seen to end with an empty page, the refusal is thrown once and counts the next time: the list may have become empty
 * during that walk.
 */
const fetchLater = async <T>(fetchPage: () => Promise<T>, numbering: PageNumbering): Promise<T | undefined> => {
  const known = numbering.behindLast;
  for (let tries = known === 'refused' ? 1 : 0; tries < 2; tries += 1) {
    try {
      return await fetchPage();
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (known === 'empty' && tries === 1) {
        delete numbering.behindLast;
        throw error;
      }
    }
  }
  numbering.behindLast = 'refused';
  return undefined;
};

/** Whether a walk is over, by the pages in a row that bring nothing new. */
const createStaleness = (numbering: PageNumbering, isResized: () => boolean, isFirstShort: boolean) => {
  let stale = 0;
  let isBehindShort = isFirstShort;
  return {
    isOver: (): boolean => {
      if (stale > 0 && isBehindShort && !isResized()) return true;
      const isEmptyAwaited = numbering.behindLast === 'empty';
      if (stale < (isEmptyAwaited || isResized() ? STALE_PAGES_BEFORE_EMPTY : STALE_PAGES)) return false;
      // The next walk does not wait for what did not come.
      if (isEmptyAwaited) delete numbering.behindLast;
      return true;
    },
    /** As `isOver`, where an empty page is not awaited, and behind a page that was full. */
    isStuck: (): boolean => stale >= STALE_PAGES && !isBehindShort,
    passed: (isFresh: boolean, isShort: boolean): void => {
      stale = isFresh ? Math.min(0, stale) : stale + 1;
      // What comes behind a page that was not full is that page again.
      if (isFresh) isBehindShort = isShort;
    },
    /** Pages that were read before follow; gives the first of them. */
    expect: ({ next, again }: Resized): number => {
      stale = -again;
      return next;
    },
  };
};

/** Notes a page's size; it is short against the largest page, or the size that this walk asks for by now. */
const measure = (page: Page<unknown>, numbering: PageNumbering, fullSize: number): { size: number; short: boolean } => {
  const size = sizeOf(page);
  const largest = numbering.largest ?? 0;
  numbering.largest = Math.max(largest, size);
  return { size, short: size < Math.min(largest, fullSize) };
};

/** Counts what was read. Throws where a list that is to be read on has not ended by then. */
const createLength = (maxPages: number, maxItems: number) => {
  let [pages, items] = [0, 0];
  const endless = (length: string, bound: ServiceBound): ServiceError =>
    new ServiceError('unreadable', `the list does not end after ${length}`, { bound });
  return {
    read: (page: Page<unknown>): void => {
      pages += 1;
      items += sizeOf(page);
    },
    check: (): void => {
      if (pages >= maxPages) throw endless(`${maxPages} pages`, 'list-pages');
      if (items >= maxItems) throw endless(`${maxItems} items`, 'list-items');
    },
  };
};

/**
 * Yields every page before it asks for the next, each item once, the first page even when it is empty. A page without new
 * items is yielded as well, empty, as of items with equal identities it may hold more; if it is the same as one before, only
 * from the second full one in a row.
 *
 * It asks without a number first, then for page 1, 2, 3 and so on: where the first page is 0 that is the next one, where
 * it is 1 the first comes again and brings nothing new. A page that is skipped for a wrong number would be lost
 * silently, so the number that an answer names is not trusted before it is proven. For the same reason neither a short page
 * nor `total` ends a walk: an empty page does, a page that is refused twice after a good one, one that brings nothing new
 * behind a short page, or, as long as no empty page was ever seen there, two in a row that bring nothing new.
 *
 * A page that is too large to be read is read again in pages of half the size. Behind what was too large they grow again.
 *
 * Throws what `fetchPage` throws, and a `ServiceError` (`unreadable`) after `maxPages` or `maxItems`.
 */
export async function* walkPages<T>(
  fetchPage: FetchPage<T>,
  identify: (item: T) => string,
  { maxPages = MOST_PAGES, maxItems = MOST_ITEMS, numbering = {}, ...options }: WalkOptions = {},
): AsyncGenerator<WalkedPage<T>, void, undefined> {
  const { page: first, pageSize } = await fetchFirst(fetchPage, options.pageSize);
  const firstMeasured = measure(first, numbering, pageSize ?? Number.POSITIVE_INFINITY);
  if (isEmpty(first)) return yield { ...first, ...firstMeasured, repeated: [], isRepeat: false };
  const sieve = createSieve(identify);
  yield { ...sieve.take(first).news, ...firstMeasured, isRepeat: false };

  const later = createPages({ fetchPage, first, pageSize, most: options.pageSize, countNew: sieve.countNew });
  const lesson = createLesson(numbering, first, later.isResized);
  const staleness = createStaleness(numbering, later.isResized, firstMeasured.short);
  const length = createLength(maxPages, maxItems);
  let next = lesson.next;
  length.read(first);
  while (!staleness.isOver()) {
    const pageNumber = next;
    length.check();
    const page: Page<T> | Resized | undefined = await fetchLater(() => later.fetch(pageNumber), numbering);
    if (page === undefined) return;
    if ('again' in page) {
      next = staleness.expect(page);
      continue;
    }
    length.read(page);
    const { news, isRepeat } = sieve.take(page);
    const hasNews = !isEmpty(news);
    lesson.observe(pageNumber, page, hasNews);
    if (isEmpty(page)) {
      numbering.behindLast = 'empty';
      return;
    }
    const measured = measure(page, numbering, later.fullSize());
    staleness.passed(hasNews || pageNumber === 1, measured.short);
    if (!isRepeat || staleness.isStuck()) yield { ...news, ...measured, isRepeat };
    next = pageNumber + 1;
  }
}
