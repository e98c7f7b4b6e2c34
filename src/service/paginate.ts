/** Walks the pages of a list whose numbering, page size and end are not documented. */
import { contentId, type JsonValue } from '../alert.ts';
import { ServiceError } from '../errors.ts';
import type { Page } from './wire.ts';

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
  /** Pages after which a walk is given up with a `ServiceError`. Default 10,000. */
  maxPages?: number;
  /** Shared by the walks of one endpoint, it saves each later one a request. Default: every walk learns anew. */
  numbering?: PageNumbering;
}

export interface WalkedPage<T> extends Page<T> {
  /** How many there were on the page, those that came before included. */
  size: number;
  /** Fewer items than a page of this list may hold: there is probably no further page, but only asking can show that. */
  short: boolean;
}

/** Pages in a row that bring nothing new before a walk ends: one may be a page that slid while it was walked. */
const STALE_PAGES = 2;
/** The same where an empty page is known to mark the end: pages without new items have then only slid. */
const STALE_PAGES_BEFORE_EMPTY = 20;

const sizeOf = (page: Page<unknown>): number => page.items.length + page.malformed.length;
const isEmpty = (page: Page<unknown>): boolean => sizeOf(page) === 0;

/** Whether a key comes for the first time. */
const createNovelty = (): ((key: string) => boolean) => {
  const seen = new Set<string>();
  return (key) => {
    const before = seen.size;
    return seen.add(key).size > before;
  };
};

/** Keeps what was not seen in this walk. A malformed item has no identity but its content. */
const createSieve = <T>(identify: (item: T) => string) => {
  const isNewItem = createNovelty();
  const isNewPage = createNovelty();
  const malformedKey = ({ raw }: { raw: JsonValue }): string => `malformed ${contentId(JSON.stringify(raw))}`;
  return (page: Page<T>): { news: Page<T>; isRepeat: boolean } => {
    const keys = [...page.items.map((item) => `item ${identify(item)}`), ...page.malformed.map(malformedKey)];
    const isNew = keys.map(isNewItem);
    return {
      news: {
        ...page,
        items: page.items.filter((_, index) => isNew[index]),
        malformed: page.malformed.filter((_, index) => isNew[page.items.length + index]),
      },
      isRepeat: !isNewPage(JSON.stringify(keys)),
    };
  };
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

/** A plain 4xx about the page that was asked for; neither the key, nor a rate, nor a redirect. */
const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError &&
  (error.reason === 'missing' || error.reason === 'rejected') &&
  (error.status ?? 0) >= 400;

/**
 * A page after the first: `undefined` where the service refuses it twice, which is the end of some lists. Where the list
 * was seen to end with an empty page, the refusal is thrown once and counts the next time: the list may have become empty
 * during that walk.
 */
const fetchLater = async <T>(
  fetchPage: () => Promise<Page<T>>,
  numbering: PageNumbering,
): Promise<Page<T> | undefined> => {
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

/** Notes a page's size. */
const measure = (page: Page<unknown>, numbering: PageNumbering): { size: number; short: boolean } => {
  const size = sizeOf(page);
  const largest = numbering.largest ?? 0;
  numbering.largest = Math.max(largest, size);
  return { size, short: size < largest };
};

/**
 * Yields every page before it asks for the next, each item once, the first page even when it is empty. A page without new
 * items is yielded as well, empty, unless it is the same as one before: of items with equal identities it may hold more.
 *
 * It asks without a number first, then for page 1, 2, 3 and so on: where the first page is 0 that is the next one, where
 * it is 1 the first comes again and brings nothing new. A page that is skipped for a wrong number would be lost
 * silently, so the number that an answer names is not trusted before it is proven. For the same reason neither a short page
 * nor `total` ends a walk: an empty page does, a page that is refused twice after a good one, or, as long as no empty
 * page was ever seen there, two in a row that bring nothing new.
 *
 * Throws what `fetchPage` throws, and a `ServiceError` (`unreadable`) after `maxPages`.
 */
export async function* walkPages<T>(
  fetchPage: (pageNumber: number | undefined) => Promise<Page<T>>,
  identify: (item: T) => string,
  { maxPages = 10_000, numbering = {} }: WalkOptions = {},
): AsyncGenerator<WalkedPage<T>, void, undefined> {
  const sieve = createSieve(identify);
  const first = await fetchPage(undefined);
  yield { ...sieve(first).news, ...measure(first, numbering) };
  if (isEmpty(first)) return;

  const lesson = createLesson(numbering, first);
  const isOver = (stale: number): boolean =>
    stale >= (numbering.behindLast === 'empty' ? STALE_PAGES_BEFORE_EMPTY : STALE_PAGES);
  let stale = 0;
  for (let pages = 1, pageNumber = lesson.next; !isOver(stale); pages += 1, pageNumber += 1) {
    if (pages >= maxPages) throw new ServiceError('unreadable', `the list does not end after ${maxPages} pages`);
    const page = await fetchLater(() => fetchPage(pageNumber), numbering);
    if (page === undefined) return;
    const { news, isRepeat } = sieve(page);
    const hasNews = !isEmpty(news);
    lesson.observe(pageNumber, page, hasNews);
    if (isEmpty(page)) {
      numbering.behindLast = 'empty';
      return;
    }
    if (!isRepeat) yield { ...news, ...measure(page, numbering) };
    stale = hasNews || pageNumber === 1 ? 0 : stale + 1;
  }
}
