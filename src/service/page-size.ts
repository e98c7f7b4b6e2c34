/** Reads a list in smaller pages where one is too large to be read, and in larger ones again. Page numbers then mean other items. */
import { type ServiceBound, ServiceError } from '../errors.ts';
import type { Page } from './wire.ts';

/** `pageSize` left out: as the client asks for it. */
export type FetchPage<T> = (pageNumber: number | undefined, pageSize: number | undefined) => Promise<Page<T>>;

export const sizeOf = (page: Page<unknown>): number => page.items.length + page.malformed.length;

/** A plain 4xx about what was asked for; neither the key, nor a rate, nor a redirect. */
export const isRefusal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  (error.reason === 'missing' || error.reason === 'rejected') &&
  (error.status ?? 0) >= 400;

const ANSWER_BOUNDS: readonly (ServiceBound | undefined)[] = ['answer-bytes', 'answer-values', 'page-elements'];

export const isOversized = (error: unknown): boolean =>
  error instanceof ServiceError && ANSWER_BOUNDS.includes(error.bound);

/** The first page, with half the size as long as it is too large. */
export const fetchFirst = async <T>(
  fetchPage: FetchPage<T>,
  asked: number | undefined,
): Promise<{ page: Page<T>; pageSize: number | undefined }> => {
  for (let pageSize = asked; ; pageSize = Math.floor(pageSize / 2)) {
    try {
      return { page: await fetchPage(undefined, pageSize), pageSize };
    } catch (error) {
      if (!isOversized(error) || pageSize === undefined || pageSize <= 1) throw error;
    }
  }
};

/** Where a walk goes on with pages of another size. */
export interface Resized {
  next: number;
  /** So many pages may bring nothing new: they were read as pages of the other size. */
  again: number;
}

/** Pages with something new, none of them too large, before a larger one is tried. */
const FITTING_PAGES = 2;

interface PagesOptions<T> {
  fetchPage: FetchPage<T>;
  first: Page<T>;
  /** Items of a page: as the first one was read, and as they were asked for at first. */
  pageSize: number | undefined;
  most: number | undefined;
  /** How many items of a page the walk has not had. */
  countNew: (page: Page<T>) => number;
}

/** The pages of one walk after the first. */
export const createPages = <T>({ fetchPage, first, countNew, ...options }: PagesOptions<T>) => {
  let { pageSize, most = 0 } = options;
  let perPage = sizeOf(first);
  let isResized = false;
  /** A larger page was asked for and came: the service takes notice of the size. */
  let hasGrown = false;
  let fitting = 0;
  let ahead: { number: number; page: Page<T> } | undefined;

  const knows = (page: Page<T>): boolean => countNew(page) < sizeOf(page);

  const tryPage = async (pageNumber: number, size: number): Promise<Page<T> | 'refused' | 'oversized'> => {
    try {
      return await fetchPage(pageNumber, size);
    } catch (error) {
      if (isOversized(error)) return 'oversized';
      if (isRefusal(error)) return 'refused';
      throw error;
    }
  };

  /** Goes back until a page that was read comes before `next`: pages may overlap by more than their size suggests. */
  const behindKnown = async (next: number, size: number): Promise<number> => {
    for (let number = next; number > 1; number = Math.floor(number / 2)) {
      const page = await tryPage(number - 1, size);
      if (typeof page !== 'string' && knows(page)) return number;
    }
    return 1;
  };

  const shrink = async (pageNumber: number, error: unknown): Promise<Resized> => {
    const size = Math.floor(perPage / 2);
    if (size < 1) throw error;
    // Where the service takes no notice of the size, the numbers below would pass over items.
    if (!hasGrown && sizeOf(await fetchPage(undefined, size)) > size) throw error;
    // All pages before were read, whether the first one is 0 or 1: the lower of both places is where to go on.
    const next = await behindKnown(Math.floor((Math.max(0, pageNumber - 1) * perPage) / size) + 1, size);
    const again = Math.ceil(((pageNumber + 1) * perPage) / size) - next;
    [pageSize, perPage, isResized, fitting] = [size, size, true, 0];
    return { next, again };
  };

  /** Behind an even page, as twice its size begins with that page, or ends with it where the first page is 1. */
  const grow = async (read: number, size: number): Promise<Resized | undefined> => {
    const [number, twice] = [read / 2, size * 2];
    if (fitting < FITTING_PAGES || twice > most || !Number.isInteger(number)) return undefined;
    fitting = 0;
    const page = await tryPage(number, twice);
    if (page === 'oversized') return undefined;
    // Else items lie between, or this is the most that the service gives: sizes stay as they are.
    if (page === 'refused' || sizeOf(page) !== twice || !knows(page)) {
      most = size;
      return undefined;
    }
    ahead = { number, page };
    [pageSize, perPage, isResized, hasGrown] = [twice, twice, true, true];
    return { next: number, again: 1 };
  };

  const read = async (pageNumber: number): Promise<Page<T>> => {
    const page = ahead?.number === pageNumber ? ahead.page : await fetchPage(pageNumber, pageSize);
    ahead = undefined;
    if (page.malformed.some(({ bound }) => bound !== undefined)) fitting = 0;
    else if (countNew(page) > 0) fitting += 1;
    return page;
  };

  return {
    isResized: () => isResized,
    /** Fewer items than this are no full page. */
    fullSize: () => (isResized ? perPage : Number.POSITIVE_INFINITY),
    fetch: async (pageNumber: number): Promise<Page<T> | Resized> => {
      if (pageSize === undefined) return read(pageNumber);
      try {
        return (await grow(pageNumber - 1, pageSize)) ?? (await read(pageNumber));
      } catch (error) {
        if (!isOversized(error)) throw error;
        return shrink(pageNumber, error);
      }
    },
  };
};
