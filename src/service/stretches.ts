/**
 * Reads all that is dated after a moment, however much it is. A list can change while it is walked page by page: items
 * slide over a page's edge, equal dates change places, an item that vanishes pulls the next one past us. A single answer
 * cannot change. So a stretch of time that needs several pages is cut in two, until each part fits one answer.
 */

import { ServiceError } from '../errors.ts';
import type { ItemDates } from '../item.ts';
import type { WalkedPage } from './paginate.ts';
import { cutAt, cutsOf, isIgnored, type Stretch } from './split.ts';

export interface StretchPage<T> extends WalkedPage<T> {
  /** Everything dated before this, by whichever date the service filters by, has been yielded. Epoch milliseconds. */
  settledBefore?: number;
}

export interface StretchReader<T> {
  /** One walk over the pages of a stretch; `pageSize` left out: the usual one. */
  walk(stretch: Stretch, pageSize?: number): AsyncIterable<WalkedPage<T>>;
  identify(item: T): string;
  datesOf(item: T): ItemDates;
}

/** Stretches of one poll; far more than any backlog needs. */
const MAX_STRETCHES = 20_000;
/** After this many walks without new items and without repeats, a list that cannot be cut counts as complete. */
const QUIET_WALKS = 5;
const MAX_WALKS = 15;

const settled = <T>(before: number | undefined): StretchPage<T>[] =>
  before === undefined ? [] : [{ items: [], malformed: [], size: 0, short: true, settledBefore: before }];

/** Yields one walk and notes its items; gives how many came more than once in it. */
async function* walkOnce<T>(pages: AsyncIterable<WalkedPage<T>>, note: (item: T) => void) {
  let twice = 0;
  for await (const page of pages) {
    twice += page.size - page.items.length - page.malformed.length;
    for (const item of page.items) note(item);
    yield page;
  }
  return twice;
}

/**
 * Walks a stretch with ever smaller pages, so that other items lie at their edges, until nothing new comes. Where equal
 * dates change places, as many items come twice in a walk as are passed over.
 */
async function* walkAgain<T>({ walk, identify }: StretchReader<T>, stretch: Stretch, firstPage: number) {
  const known = new Set<string>();
  let quiet = 0;
  for (let walks = 0; walks < MAX_WALKS && quiet < QUIET_WALKS; walks += 1) {
    const before = known.size;
    const pageSize = walks === 0 ? undefined : Math.max(1, firstPage - walks);
    const twice = yield* walkOnce(walk(stretch, pageSize), (item) => known.add(identify(item)));
    if (walks === 0 || known.size > before) quiet = 0;
    else quiet += twice === 0 ? QUIET_WALKS : 1;
  }
}

/** Pages that are read before a stretch is cut: enough to know where, and few enough to go on soon. */
const LOOKED_AT = 10;

/** Yields a stretch's first pages; gives the dates of each that had something on it. */
async function* firstPages<T>({ walk, datesOf }: StretchReader<T>, stretch: Stretch) {
  const pages: ItemDates[][] = [];
  for await (const page of walk(stretch)) {
    yield page;
    if (page.size > 0) pages.push(page.items.map(datesOf));
    if (pages.length >= LOOKED_AT) break;
  }
  return pages;
}

/**
 * Yields each page before it asks for the next; items may come several times. The earlier parts of a stretch are read
 * first, so that what is settled grows. Where the service ignores the bounds, or more items than a page holds
 * have the same date, the pages are walked several times instead.
 */
export async function* readStretches<T>(
  reader: StretchReader<T>,
  after: number,
): AsyncGenerator<StretchPage<T>, void, undefined> {
  const waiting: Stretch[] = [{ after }];
  for (let read = 0; ; read += 1) {
    const stretch = waiting.pop();
    if (stretch === undefined) return;
    if (read >= MAX_STRETCHES)
      throw new ServiceError('unreadable', `the list does not end after ${read} readings`, { bound: 'list-readings' });
    const [first = [], ...others] = yield* firstPages(reader, stretch);
    if (others.length === 0) {
      yield* settled<T>(stretch.before);
      continue;
    }
    const seen = [first, ...others].flat();
    if (isIgnored(stretch, seen)) return yield* walkAgain(reader, { after }, first.length);
    const cuts = cutsOf(stretch, seen, first.length);
    if (cuts.length > 0) waiting.push(...cutAt(stretch, cuts).toReversed());
    else {
      yield* walkAgain(reader, stretch, first.length);
      yield* settled<T>(stretch.before);
    }
  }
}
