/** Reads a list in smaller pages where one is too large to be read. Page numbers then mean other items. */
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

/** Where a walk goes on with smaller pages. */
export interface Smaller {
  next: number;
  /** So many pages may bring nothing new: they were read as larger ones. */
  again: number;
}

/** The pages after `first` of one walk, of `asked` items each. `knows`: whether the walk has had some of a page's items. */
export const createPages = <T>(
  fetchPage: FetchPage<T>,
  asked: number | undefined,
  first: Page<T>,
  knows: (page: Page<T>) => boolean,
) => {
  let pageSize = asked;
  let perPage = sizeOf(first);
  let isSmaller = false;

  const isKnown = async (pageNumber: number, size: number): Promise<boolean> => {
    try {
      return knows(await fetchPage(pageNumber, size));
    } catch (error) {
      if (isRefusal(error) || isOversized(error)) return false;
      throw error;
    }
  };

  /** Goes back until a page that was read comes before `next`: pages may overlap by more than their size suggests. */
  const behindKnown = async (next: number, size: number): Promise<number> => {
    for (let number = next; number > 1; number = Math.floor(number / 2)) {
      if (await isKnown(number - 1, size)) return number;
    }
    return 1;
  };

  const shrink = async (pageNumber: number, error: unknown): Promise<Smaller> => {
    const size = Math.floor(perPage / 2);
    if (size < 1) throw error;
    // Where the service takes no notice of the size, the numbers below would pass over items.
    if (sizeOf(await fetchPage(undefined, size)) > size) throw error;
    // All pages before were read, whether the first one is 0 or 1: the lower of both places is where to go on.
    const next = await behindKnown(Math.floor((Math.max(0, pageNumber - 1) * perPage) / size) + 1, size);
    const again = Math.ceil(((pageNumber + 1) * perPage) / size) - next;
    [pageSize, perPage, isSmaller] = [size, size, true];
    return { next, again };
  };

  return {
    isSmaller: () => isSmaller,
    /** Fewer items than this are no full page. */
    fullSize: () => (isSmaller ? perPage : Number.POSITIVE_INFINITY),
    fetch: async (pageNumber: number): Promise<Page<T> | Smaller> => {
      try {
        return await fetchPage(pageNumber, pageSize);
      } catch (error) {
        if (asked === undefined || !isOversized(error)) throw error;
        return shrink(pageNumber, error);
      }
    },
  };
};
