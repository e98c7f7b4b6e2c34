/** Where the interface is silent, a service may do this or that. Each quirk is one such choice and can change at any time. */
import type { SandboxChannel } from './model.ts';

export type ItemDate = 'createdAt' | 'txTimestamp' | 'updatedAt';
export type ArrayStyle = 'repeat' | 'brackets' | 'comma';

export interface Quirks {
  /** Number of the first page. Default 1. */
  firstPage: 0 | 1;
  /** What a page number below the first gives. Default `first`: the first page. */
  belowFirstPage: 'first' | 'empty' | 'reject';
  /** What a page number behind the last gives: an empty page, the last page again, 404 or 400. Default `empty`. */
  behindLastPage: 'empty' | 'last' | 'missing' | 'reject';
  /** How answers repeat the page number. Default `number`. */
  pageNumberEcho: 'number' | 'string' | 'missing';
  /** Default 20. */
  defaultPageSize: number;
  /** Larger requests are clamped without a word. Default 1000. */
  maxPageSize: number;
  /** `pageSize` is taken without a word and not looked at. Default false. */
  ignoresPageSize: boolean;
  /** What `total` counts. Default `items`. */
  totalCounts: 'items' | 'pages' | 'page';
  /** Default `dsc`. */
  defaultSort: 'asc' | 'dsc';
  /** How lists in a query are understood; other styles are not seen at all. Default `repeat`. */
  arrayParams: ArrayStyle;
  /** What a list of notifications gives where no name is understood. Default `reject`: 400. */
  withoutNames: 'reject' | 'nothing' | 'everything';
  /** Bounds that are taken without a word and not looked at. Default none. */
  ignoredBounds: 'none' | 'startDate' | 'endDate' | 'both';
  /** `sort` is taken without a word and not looked at. Default false. */
  ignoresSort: boolean;
  /** What startDate and endDate look at; notifications have no txTimestamp and use createdAt. Default `createdAt`. */
  dateField: ItemDate;
  /** What sorting looks at. Default `createdAt`. */
  sortField: ItemDate;
  /** How dates are written: `2026-11-20T10:00:00.000Z`, `2026-11-20T12:00:00.000+02:00`, or a number. Default `iso`. */
  dateFormat: 'iso' | 'offset' | 'seconds' | 'milliseconds';
  /** How far the service's clock is ahead of ours: its Date header and the dates it writes. Default 0. */
  clockSkewMs: number;
  /** Every object carries fields that nobody documented. Default false. */
  extraFields: boolean;
  /** Null where an array is empty. Default false. */
  nullArrays: boolean;
  /** How every body is compressed, asked for or not. Default `identity`. */
  contentEncoding: 'identity' | 'gzip' | 'br' | 'deflate';
  /** How a page without items is written: as an empty list, or without the key, as Go's `omitempty` does. Default `list`. */
  emptyPage: 'list' | 'missing';
  /** Other words for assessments, by the documented word. Default none. */
  assessmentWords: Record<string, string>;
  /** Other words for detection statuses. Default none. */
  statusWords: Record<string, string>;
  /** Listed after every protocol's own channels, such as a kind nobody knows. Default none. */
  extraChannels: SandboxChannel[];
  /** Shape of the statistics. Default `numbers`. */
  stats: 'numbers' | 'strings' | 'empty' | 'null' | 'negative';
  /** What the settings endpoint gives: the settings, 404, `{}` or `null`. Default `present`. */
  settings: 'present' | 'missing' | 'empty' | 'null';
  /** Under which key a listed protocol has its settings, if at all. Default `setttings`. */
  listedSettings: 'setttings' | 'settings' | 'missing' | 'null';
  /** One element with the whole page, or one element a protocol. Default `single`. */
  listing: 'single' | 'split';
  /** Body of an error. Default `json`. */
  errorBody: 'json' | 'nested' | 'array' | 'text' | 'html' | 'empty';
  /** Items of the same date come in another order at each request. Default false. */
  unstableTies: boolean;
  /** How many items each page repeats from the one before. Default 0. */
  pageOverlap: number;
  /** For how many more pages an item like the first is inserted in front of it, once the page is answered. Default 0. */
  shiftPages: number;
}

const DEFAULT_QUIRKS: Readonly<Quirks> = {
  firstPage: 1,
  belowFirstPage: 'first',
  behindLastPage: 'empty',
  pageNumberEcho: 'number',
  defaultPageSize: 20,
  maxPageSize: 1000,
  ignoresPageSize: false,
  totalCounts: 'items',
  defaultSort: 'dsc',
  arrayParams: 'repeat',
  withoutNames: 'reject',
  ignoredBounds: 'none',
  ignoresSort: false,
  dateField: 'createdAt',
  sortField: 'createdAt',
  dateFormat: 'iso',
  clockSkewMs: 0,
  extraFields: false,
  nullArrays: false,
  contentEncoding: 'identity',
  emptyPage: 'list',
  assessmentWords: {},
  statusWords: {},
  extraChannels: [],
  stats: 'numbers',
  settings: 'present',
  listedSettings: 'setttings',
  listing: 'single',
  errorBody: 'json',
  unstableTies: false,
  pageOverlap: 0,
  shiftPages: 0,
};

export interface QuirkStore {
  current(): Readonly<Quirks>;
  /** Changes what is named and leaves the rest. */
  change(quirks: Partial<Quirks>): void;
  /** Back to what it was created with. */
  reset(): void;
}

export const createQuirkStore = (initial: Partial<Quirks> = {}): QuirkStore => {
  const first: Quirks = { ...DEFAULT_QUIRKS, ...initial };
  let quirks = first;
  return {
    current: () => quirks,
    change: (changes) => {
      quirks = { ...quirks, ...changes };
    },
    reset: () => {
      quirks = first;
    },
  };
};
