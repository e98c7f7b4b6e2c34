/** Keeps of each page what a walk has not seen yet. */
import type { JsonValue } from '../alert.ts';
import { contentId } from '../identity.ts';
import type { Page } from './wire.ts';

/** Of a longer key only a digest is kept: ids come from outside. */
const LONGEST_KEY = 100;
const shortKey = (key: string): string => (key.length <= LONGEST_KEY ? key : contentId(key));

/** Whether a key comes for the first time. */
const createNovelty = () => {
  const seen = new Set<string>();
  return {
    isNew: (key: string): boolean => {
      const before = seen.size;
      return seen.add(key).size > before;
    },
    has: (key: string): boolean => seen.has(key),
  };
};

/** Keeps what was not seen in this walk. A malformed item has no identity but its content. */
export const createSieve = <T>(identify: (item: T) => string) => {
  const items = createNovelty();
  const pages = createNovelty();
  const malformedKey = ({ raw }: { raw: JsonValue }): string => `malformed ${contentId(JSON.stringify(raw))}`;
  const keysOf = (page: Page<T>): string[] => [
    ...page.items.map((item) => shortKey(`item ${identify(item)}`)),
    ...page.malformed.map(malformedKey),
  ];
  return {
    knows: (page: Page<T>): boolean => keysOf(page).some(items.has),
    take: (page: Page<T>): { news: Page<T>; isRepeat: boolean } => {
      const keys = keysOf(page);
      const isNew = keys.map(items.isNew);
      return {
        news: {
          ...page,
          items: page.items.filter((_, index) => isNew[index]),
          malformed: page.malformed.filter((_, index) => isNew[page.items.length + index]),
        },
        // Most pages are empty, and a digest costs more than all else that is done with them.
        isRepeat: !pages.isNew(keys.length === 0 ? '' : contentId(...keys)),
      };
    },
  };
};
