/**
 * Reads all that is dated after a moment, however much it is. A list can change while it is walked page by page: items
 * slide over a page's edge, equal dates change places, an item that vanishes pulls the next one past us. A single answer
 * cannot change. So a stretch of time that needs several pages is cut in two, until each part fits one answer.
 */
import { ServiceError } from '../errors.ts';
import type { ItemDates } from '../item.ts';
import { iso } from '../time.ts';
import type { MeasuredPage, WalkedPage } from './paginate.ts';

/** Both bounds are excluded, as the service's filters do; epoch milliseconds. No `before`: open to what comes. */
export interface Stretch {
  after: number;
  before?: number;
}

const SECOND = 1000;

const valuesOf = (dates: ItemDates): number[] => Object.values(dates);

/** Dates in whole seconds hide their milliseconds: items of one second are then kept together. */
const unitOf = (all: readonly ItemDates[]): number =>
  all.flatMap(valuesOf).every((at) => at % SECOND === 0) ? SECOND : 1;

/** How much of a page each part should hold, so that it fits one page with room to spare. */
const SHARE = 0.9;

const FIELDS = ['createdAt', 'updatedAt', 'txTimestamp'] as const;

/** By the date that lies inside for most: that may be the one which the service filters by. */
const timesOf = (dated: readonly ItemDates[], isInside: (at: number) => boolean): number[] =>
  FIELDS.map((field) => dated.flatMap((dates) => dates[field] ?? []).filter(isInside))
    .reduce((most, times) => (times.length > most.length ? times : most))
    .toSorted((a, b) => a - b);

/**
 * Moments strictly inside the stretch, upwards, so that each part between two of them probably fits one page of
 * `pageSize` items; none where it cannot be cut any further. `seen`: dates of items inside, of all or of those at one end.
 */
export const cutsOf = (stretch: Stretch, seen: readonly ItemDates[], pageSize: number): number[] => {
  const { after, before = Number.POSITIVE_INFINITY } = stretch;
  const dated = seen.filter((dates) => valuesOf(dates).length > 0);
  const unit = unitOf(dated);
  const isInside = (at: number): boolean => at > after + 1 && at < before;
  const times = timesOf(dated, (at) => at > after && at < before);
  const step = Math.max(1, Math.floor(pageSize * SHARE));
  const marks = times.filter((_, index) => index % step === 0);
  const ends = times.slice(-1).flatMap((last) => [last, last + unit]);
  return [...new Set([...marks, ...ends])].filter(isInside).toSorted((a, b) => a - b);
};

/** The parts of a stretch, upwards. They overlap by a millisecond, as both their bounds are excluded. */
export const cutAt = ({ after, before }: Stretch, cuts: readonly number[]): Stretch[] => {
  const starts = [after, ...cuts.map((cut) => cut - 1)];
  return starts.map((start, index) => {
    const end = cuts[index] ?? before;
    return { after: start, ...(end === undefined ? {} : { before: end }) };
  });
};

/** Whether most of the items lie outside by all of their dates: then the service ignores these bounds. */
export const isIgnored = (stretch: Stretch, items: readonly ItemDates[]): boolean => {
  const { after, before = Number.POSITIVE_INFINITY } = stretch;
  const dated = items.map(valuesOf).filter((dates) => dates.length > 0);
  const outside = dated.filter((dates) => Math.min(...dates) >= before || Math.max(...dates) + SECOND <= after);
  return outside.length * 2 > dated.length;
};

export interface StretchPage<T> extends MeasuredPage<T> {
  /** Everything dated before this, by any date that the service may filter by, has been yielded. Epoch milliseconds. */
  settledBefore?: number;
}

interface StretchReader<T> {
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

const NOTHING = { items: [], malformed: [], size: 0, short: true };

const settled = <T>(before: number | undefined): StretchPage<T>[] =>
  before === undefined ? [] : [{ ...NOTHING, settledBefore: before }];

/** Told as an item that cannot be understood. */
const unread = <T>({ after, before }: Stretch): StretchPage<T> => {
  const raw = { after: iso(after), ...(before === undefined ? {} : { before: iso(before) }) };
  return {
    ...NOTHING,
    malformed: [{ problem: 'the same items on page after page, so others of that moment may not be read', raw }],
  };
};

/** Yields one walk and notes its items; gives how many came more than once in it. */
async function* walkOnce<T>(pages: AsyncIterable<WalkedPage<T>>, note: (item: T) => void) {
  let twice = 0;
  for await (const page of pages) {
    if (!page.isRepeat) twice += page.size - page.items.length - page.malformed.length;
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

interface Looked {
  dates: ItemDates[];
  isRepeat: boolean;
  /** It has an item twice, or one of a page before. */
  hasRepeated: boolean;
}

/** Yields a stretch's first pages; gives of each that had something on it what shows where to cut. */
async function* firstPages<T>({ walk, datesOf }: StretchReader<T>, stretch: Stretch) {
  const pages: Looked[] = [];
  for await (const page of walk(stretch)) {
    yield page;
    const { items, repeated, isRepeat } = page;
    const dates = [...items, ...repeated].map(datesOf);
    if (page.size > 0) pages.push({ dates, isRepeat, hasRepeated: repeated.length > 0 });
    if (pages.filter((one) => !one.isRepeat).length >= LOOKED_AT) break;
  }
  return pages;
}

/** A service that repeats its last page has no item twice on the first, and few pages come again. */
const FEW_REPEATS = 2;

/** Whether the list had more than what its pages repeated. */
const isUnread = (first: Looked, others: readonly Looked[]): boolean =>
  others.filter(({ isRepeat }) => isRepeat).length > (first.hasRepeated ? 0 : FEW_REPEATS);

/** Into which parts to cut; none where that cannot be, `deaf` where the service ignores the bounds. */
const partsOf = (stretch: Stretch, first: Looked, others: readonly Looked[]): Stretch[] | 'deaf' => {
  const seen = [first, ...others].flatMap(({ dates }) => dates);
  if (isIgnored(stretch, seen)) return 'deaf';
  const cuts = cutsOf(stretch, seen, first.dates.length);
  return cuts.length === 0 ? [] : cutAt(stretch, cuts);
};

/** The rest of a stretch whose first pages were read. */
async function* readUncut<T>(reader: StretchReader<T>, stretch: Stretch, first: Looked, others: readonly Looked[]) {
  if (isUnread(first, others)) yield unread<T>(stretch);
  if (others.some(({ isRepeat }) => !isRepeat)) yield* walkAgain(reader, stretch, first.dates.length);
}

/**
 * Yields each page before it asks for the next; items may come several times. The earlier parts of a stretch are read
 * first, so that what is settled grows. Where the service ignores the bounds, or more items than a page holds
 * have the same date, the pages are walked several times instead. The same page again and again may hide others: what is
 * dated otherwise is read, and of what is not it says so.
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
    const [first, ...others] = yield* firstPages(reader, stretch);
    if (first === undefined || others.length === 0) {
      yield* settled<T>(stretch.before);
      continue;
    }
    const parts = partsOf(stretch, first, others);
    if (parts === 'deaf') return yield* readUncut(reader, { after }, first, others);
    waiting.push(...parts.toReversed());
    if (parts.length > 0) continue;
    yield* readUncut(reader, stretch, first, others);
    yield* settled<T>(stretch.before);
  }
}
