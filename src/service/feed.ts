/** The two item lists as one: pages of items to poll, with an identity for those that carry none. */
import type { Source } from '../alert.ts';
import { ServiceError } from '../errors.ts';
import { contentId, type Item, type ItemPage, type MalformedItem } from '../item.ts';
import { beginningOf, isPathSegment, plainName, unquoted } from '../text.ts';
import { MINUTE_MS } from '../time.ts';
import type { ServiceClient, ServiceClock } from './client.ts';
import { type PageNumbering, type WalkedPage, walkPages } from './paginate.ts';
import type { DateQuery } from './queries.ts';
import { readStretches, type Stretch, type StretchPage } from './stretches.ts';
import { type ListStyles, readInStyles } from './styles.ts';
import {
  type Assessment,
  countedAs,
  type Inspection,
  isUnknownWord,
  type Notification,
  notificationId,
  type Page,
  readAssessment,
  type Wording,
} from './wire.ts';

/** As a whole: neither a part of longer hexadecimal data nor of a word. */
const HASH = /(?<![0-9a-z])0x[0-9a-f]{64}(?![0-9a-z])/gi;

/** The transactions that a text names: hashes in lower case, each once, in their order. */
export const transactionsIn = (text: string): string[] => [
  ...new Set(Array.from(text.matchAll(HASH), ([hash]) => hash.toLowerCase())),
];

interface FeedSettings {
  /** Sent to the service where only one is wanted; we filter in any case. */
  assessment?: Assessment;
  /** Default: every word that is not documented is critical. */
  wording?: Wording;
  /** Names of the protocols that the service lists, each as `plainName` writes it. Default: none is known. */
  listed?(): Promise<ReadonlySet<string>>;
}

const NONE: ReadonlySet<string> = new Set();

type FeedPage = StretchPage<Item> & Pick<ItemPage, 'foreign'>;

export const STRICT: Wording = { unknownAs: 'critical', harmless: [] };

export const fromInspection = (
  { id, protocol, assessment, txHash, dates, raw }: Inspection,
  wording: Wording = STRICT,
): Item => ({
  source: 'inspections',
  protocol,
  itemId: id,
  assessment: countedAs(assessment, wording),
  ...(txHash === undefined ? {} : { txHash }),
  dates,
  raw,
});

/** It belongs to a transaction only where it names no other. */
const fromNotification = ({ message, protocol, dates, raw }: Notification, itemId: string): Item => {
  const [txHash, ...others] = transactionsIn(message);
  const named = txHash === undefined || others.length > 0 ? {} : { txHash };
  return { source: 'notifications', protocol, itemId, ...named, dates, raw };
};

/**
 * Equal notifications in one answer are different ones, so the second gets a number. Only those of one answer are
 * counted: over several answers, a page that slid repeats some.
 */
const fromNotifications = (notifications: readonly Notification[]): Item[] => {
  const times = new Map<string, number>();
  return notifications.map((notification) => {
    const base = notificationId(notification);
    const time = (times.get(base) ?? 0) + 1;
    times.set(base, time);
    const isFirst = time === 1 || notification.id !== undefined;
    return fromNotification(notification, isFirst ? base : contentId(base, String(time)));
  });
};

const LONGEST_WORD = 100;
const wordOf = ({ raw }: Item): string => readAssessment(String(raw.assessment));

/** It has an assessment that the interface does not name. */
export const hasUnknownWord = (item: Item): boolean => isUnknownWord(wordOf(item));

/**
 * One of each word that nobody knows is enough to say so. Where we ask for one assessment, and no other comes, it is how the
 * service spells that one.
 */
const oddOf = (items: readonly Item[], { assessment: asked, wording = STRICT }: FeedSettings): MalformedItem[] => {
  const words = [...new Set(items.map(wordOf))];
  const isOdd = (word: string): boolean => isUnknownWord(word) && countedAs(word, wording) !== 'ok';
  const isFiltered = asked !== undefined && words.every((word) => word === asked || isOdd(word));
  return (isFiltered ? [] : words.filter(isOdd)).map((word) => ({
    problem: `an assessment that nobody knows, so it counts as ${wording.unknownAs}`,
    raw: { assessment: beginningOf(word, LONGEST_WORD) },
  }));
};

/**
 * Leaves out inspections that name another listed protocol: the service filters less than it was asked to, and they come
 * with that one's own. One that names no listed protocol belongs to the one that was asked for.
 */
async function* ownPages(
  pages: AsyncIterable<StretchPage<Item>>,
  protocol: string,
  settings: FeedSettings,
): AsyncGenerator<FeedPage> {
  const { listed = async () => NONE } = settings;
  const asked = plainName(protocol);
  const isAsked = (item: Item): boolean => plainName(item.protocol) === asked;
  for await (const read of pages) {
    const odd = read.items.length === 0 ? [] : oddOf(read.items, settings);
    const page = odd.length === 0 ? read : { ...read, malformed: [...read.malformed, ...odd] };
    if (page.items.every(isAsked)) yield page;
    else {
      const names = await listed();
      const isOwn = (item: Item): boolean => isAsked(item) || !names.has(plainName(item.protocol));
      const foreign = page.items.filter((item) => !isOwn(item));
      yield { ...page, items: page.items.filter(isOwn), foreign };
    }
  }
}

/** A protocol that was just made may not be listed yet. */
const LISTED_WITHIN_MS = 6 * MINUTE_MS;

/** Reports notifications under a name that the service lists no protocol for: no poll forwards them. */
async function* withUnlisted(
  pages: AsyncIterable<FeedPage>,
  protocols: readonly string[],
  clock: ServiceClock,
  { listed = async () => NONE }: FeedSettings,
): AsyncGenerator<FeedPage> {
  const isNew = ({ dates }: Item): boolean =>
    Object.values(dates).some((at) => Math.abs(clock.now() - at) < LISTED_WITHIN_MS);
  for await (const page of pages) {
    const asked = new Set(page.items.length === 0 ? [] : protocols.map(plainName));
    const others = page.items.filter((item) => !asked.has(plainName(item.protocol)) && !isNew(item));
    const names = others.length === 0 ? NONE : await listed();
    const unlisted = names.size === 0 ? [] : others.filter(({ protocol }) => !names.has(plainName(protocol)));
    const odd = unlisted.map(({ raw }) => ({
      problem: 'no listed protocol has this name, so nobody hears of it',
      raw,
    }));
    yield odd.length === 0 ? page : { ...page, malformed: [...page.malformed, ...odd] };
  }
}

const identify = ({ itemId, txHash = '' }: Item): string => `${itemId} ${txHash}`;

export const createFeed = (client: ServiceClient, clock: ServiceClock, settings: FeedSettings, styles: ListStyles) => {
  const { assessment, wording } = settings;
  const numbering = { inspections: {} as PageNumbering, notifications: {} as PageNumbering };

  const read = <T>(
    fetch: (query: DateQuery) => Promise<Page<T>>,
    convert: (items: T[]) => Item[],
    shared: PageNumbering,
    since: number,
    thorough: boolean,
  ): AsyncGenerator<StretchPage<Item>> => {
    const walk = ({ after, before }: Stretch, pageSize?: number): AsyncGenerator<WalkedPage<Item>> =>
      walkPages(
        async (pageNumber, size) => {
          const page = await fetch({ startDate: after, endDate: before, pageNumber, pageSize: size });
          clock.observe(page.serverTime);
          return { ...page, items: convert(page.items) };
        },
        identify,
        // Pages that are smaller than usual show nothing of how large they can be.
        {
          numbering: pageSize === undefined ? shared : { ...shared, largest: 0 },
          pageSize: pageSize ?? client.pageSize,
        },
      );
    return thorough ? readStretches({ walk, identify, datesOf: ({ dates }) => dates }, since) : walk({ after: since });
  };

  return {
    /**
     * Inspections of one protocol dated after `since` (epoch milliseconds), page by page, oldest first if the service
     * sorts, without those that name another listed protocol. `thorough` lets nothing slip between two pages, and says up
     * to when everything was read. Otherwise it is one walk.
     */
    inspections: (protocol: string, since: number, signal: AbortSignal, thorough = false): AsyncGenerator<FeedPage> => {
      const pages = read(
        async (query) => {
          // A trouble of this protocol alone: a reader of several goes on with the others.
          const problem = `the name "${unquoted(protocol)}" cannot be written in a URL, so it cannot be read`;
          if (!isPathSegment(protocol)) throw new ServiceError('rejected', problem);
          return client.listInspections({ protocol, status: assessment, sort: 'asc', ...query }, signal);
        },
        (items) => items.map((item) => fromInspection(item, wording)),
        numbering.inspections,
        since,
        thorough,
      );
      return ownPages(pages, protocol, settings);
    },
    /** Notifications of several protocols, likewise. */
    notifications: (
      protocols: readonly string[],
      since: number,
      signal: AbortSignal,
      thorough = false,
    ): AsyncGenerator<FeedPage> =>
      withUnlisted(
        readInStyles(styles, protocols, thorough, (style) =>
          read(
            (query) => client.listNotifications({ protocols, listStyle: style, sort: 'asc', ...query }, signal),
            fromNotifications,
            numbering.notifications,
            since,
            thorough,
          ),
        ),
        protocols,
        clock,
        settings,
      ),
  };
};

export type Feed = ReturnType<typeof createFeed>;

/** Pages of one source: of inspections those of the only protocol, of notifications those of all that are named. */
export const pagesOf = (
  feed: Feed,
  { source, protocols }: { source: Source; protocols: readonly string[] },
  since: number,
  signal: AbortSignal,
  thorough: boolean,
): AsyncGenerator<FeedPage> => {
  const [only = ''] = protocols;
  return source === 'inspections'
    ? feed.inspections(only, since, signal, thorough)
    : feed.notifications(protocols, since, signal, thorough);
};
