/**
 * What people read in a digest, before any markup. Every kind has its parts in this order: the title, which says how many
 * alerts and where; the worst, with what happened; the notice; the counts; the span and why they come in one message; the
 * others. All are named by transaction hash, in the message or its file. Strings are cleaned, not escaped. What detectors and notifications say may be long; everything else
 * is short and in one line.
 */
import { mapSliced, type Sliced } from '../chunks.ts';
import { cleanLine, quotedLines, shorten } from '../text.ts';
import type { Detection, Line } from './content/content.ts';
import type { Tone } from './content/severity.ts';

export interface Count {
  name: string;
  count: number;
  /** An origin at its explorer. */
  url?: string | undefined;
}

export interface CountTable {
  /** `Protocols`, `Detectors`, `Contracts`, `Senders`. */
  title: string;
  /** The most first; may be long, see `topOf`. */
  counts: Count[];
}

/** One incident: the alerts of one transaction, or one alert of another sort. */
export interface DigestItem {
  severity: string;
  tone: Tone;
  sign: string;
  /** `🔴 CRITICAL · Vault A · Pool B` */
  title: string;
  /** What happened, in one line; from outside. */
  happened: string;
  /** The same in quotes, unless it is ours. */
  said: string;
  /** `title: said`; stands alone. */
  headline: string;
  /** Several as `Vault A + 2 more`. */
  protocol: string;
  /** Why it ranks where it does, in our words: `privileged call`, `sender is an admin`, `only 1 of 300 on this contract`, `90 %`. */
  reasons: string[];
  /** How many items this one stands for, as the same was found there; 0 for those that another stands for. */
  alike: number;
  /** Of the reasons, those that a message says: not what all items have, nor what stands in the words above. */
  remarks: string[];
  /** Names of those that fired: at most twelve entries, of which the last may be `3 more`. */
  detectors: string[];
  /** What is shown of the detections, see `Content`. */
  gist: Detection[];
  detections: Detection[];
  /** The whole text of a stored notification; may be long and of several lines. */
  message?: string | undefined;
  /** True where `message` is our own. */
  isOurs: boolean;
  /** In full; absent where the alert names no transaction. */
  hash?: string | undefined;
  /** `0x5033…5ccb` */
  shortHash?: string | undefined;
  /** The transaction at its explorer. */
  url?: string | undefined;
  /** `Base (8453)`; absent where there is no transaction. */
  chain?: string | undefined;
  /** `Base`, as far as it has a name. */
  chainName?: string | undefined;
  /** `2026-11-20 10:07:31 UTC`: of the transaction, else when the service wrote it. */
  time: string;
  /** The same in epoch milliseconds; absent where it cannot be read. */
  at?: number | undefined;
  /** The service's ids of the inspections or of the notification. */
  ids: string;
}

export interface DigestContent {
  /** 8 hex digits; the same alerts have the same. */
  id: string;
  /** `🔴 120 alerts, worst: `, the headline of the worst item, and `title`: a locked phone shows little. */
  headline: string;
  /** `🔴 120 alerts in 3 protocols: 118 critical, 2 notifications`, or `🔴 120 critical alerts in Vault A, 308 so far`. */
  title: string;
  /** How many alerts, for a subject: `120 alerts`, `120 alerts (308 so far)`. */
  lead: string;
  /** Of the worst item. */
  severity: string;
  tone: Tone;
  sign: string;
  /** Alerts, not items: several alerts of one transaction are one item. */
  alerts: number;
  /** `2026-11-20 10:07:12 to 10:12:31 UTC` */
  span: string;
  /** The same as pieces, for a kind that knows its reader's clock. */
  period: Line;
  /** Why these alerts come in one message; in a storm, which message it is. */
  why: string;
  /** Why the reader gets them in an unusual way or again; absent otherwise. */
  notice?: string | undefined;
  tables: CountTable[];
  /** Worst first: see `digest-rank.ts`. */
  items: DigestItem[];
  /** The command that lists them all, for a message that has no room to. */
  command: string;
}

export const HASH_LIMIT = 200;

/** What is seen of a table at a glance. */
const ROWS = 3;

/** The first rows of a table, and how many more it has. */
export const topOf = ({ counts }: CountTable, limit = ROWS): { rows: Count[]; more: number } => ({
  rows: counts.slice(0, limit),
  more: Math.max(0, counts.length - limit),
});

/** The worst `most` of those that are not like one before. */
export const worstOf = ({ items }: Pick<DigestContent, 'items'>, most: number): DigestItem[] =>
  items.filter(({ alike }) => alike > 0).slice(0, most);

/**
 * `CRITICAL, 99 more by time: 0x5033…5ccb 0x17aa…90e1 and 97 more in the file.` Of the worst severity at most
 * `most` that are not `shown`: the first, the last, and some from every time between, as a flood chooses all that ranks them.
 */
export const othersLine = ({ items, severity }: DigestContent, shown: readonly DigestItem[], most: number): Line => {
  const others = items
    .filter((item) => item.severity === severity && item.hash !== undefined && !shown.includes(item))
    .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
  if (others.length === 0 || most < 2) return [];
  const stepOf = (place: number): number => Math.floor((place * (most - 1)) / (others.length - 1));
  const named = others.filter((_, place) => stepOf(place) !== stepOf(place - 1));
  const more = others.length - named.length;
  return [
    { text: `${severity}, ${others.length.toLocaleString('en')} more by time: ` },
    ...named.flatMap(({ shortHash = '', url }, n) => [...(n === 0 ? [] : [{ text: ' ' }]), { text: shortHash, url }]),
    { text: more > 0 ? ` and ${more.toLocaleString('en')} more in the file.` : '.' },
  ];
};

/** `🔴 CRITICAL · Vault A ×98` where so many are alike. */
export const titleOf = ({ title, alike }: Pick<DigestItem, 'title' | 'alike'>): string =>
  alike > 1 ? `${title} ×${alike.toLocaleString('en')}` : title;

/** What identifies an item: its transaction's hash, else the service's ids. */
export const nameOf = ({ hash, ids }: DigestItem): string => hash ?? shorten(ids, HASH_LIMIT);

/** `Flash loan: A flash loan of 4 tokens`, or the name alone. */
export const detectionText = ({ name, message, between = ': ' }: Omit<Detection, 'id'>): string =>
  message === '' ? name : `${name}${between}${message}`;

/** A digest as a plain-text file, for what does not fit into a message. */
export interface DigestFile {
  /** ASCII, safe as a file name. */
  name: string;
  /** Lines end with a line feed. */
  text: string;
}

/** Characters for the messages of all items together, so that the file stays small in a storm. */
const SAID_BUDGET = 1_000_000;
const SAID_MIN = 200;
const SAID_MAX = 20_000;
const COUNTS_MAX = 50;

const bound = (text: string, limit: number): string =>
  text.length <= limit ? text : `${shorten(text, limit)} [${text.length - limit} characters left out]`;

const saidIn = ({ detections, message }: DigestItem): string[] => [
  ...detections.filter((detection) => detection.message !== '').map((one) => `${one.name}: ${cleanLine(one.message)}`),
  ...(message === undefined ? [] : [message]),
];

/** What it is, and what made it rank high; with what happened, unless the lines below say it in full. */
const headOf = ({ title, headline, reasons }: DigestItem, said: string): string => {
  const why = reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
  return `${said === '' ? headline : title}${why}`;
};

/** Two lines that identify the item, then its messages. */
const itemText = (item: DigestItem, index: number, limit: number): string => {
  const { hash, chain, time, ids, url } = item;
  const said = saidIn(item).join('\n');
  return [
    `${index + 1}. ${headOf(item, said)}`,
    `   ${[hash, chain, time, hash === undefined ? ids : `id ${ids}`].filter((part) => part !== undefined).join('  ')}`,
    ...(url === undefined ? [] : [`   ${url}`]),
    // Text from outside: no line of it can pass for an item of ours.
    ...(said === '' ? [] : [quotedLines(bound(said, limit)).replace(/^/gm, '   ')]),
  ].join('\n');
};

const tablesText = ({ tables }: DigestContent): string[] =>
  tables.map((table) => {
    const { rows, more } = topOf(table, COUNTS_MAX);
    const lines = rows.map(({ name, count }) => `${String(count).padStart(7)}  ${name}`);
    return [table.title, ...lines, ...(more > 0 ? [`         and ${more} more`] : [])].join('\n');
  });

/** `tocsin-digest-ID.txt`. Pure. */
export function* digestFile(content: DigestContent): Sliced<DigestFile> {
  const { id, title, span, why, notice, items } = content;
  const limit = Math.min(SAID_MAX, Math.max(SAID_MIN, Math.floor(SAID_BUDGET / items.length)));
  const texts = yield* mapSliced(items, (item, index) => itemText(item, index, limit));
  const parts = [
    [title, span, why, ...(notice === undefined ? [] : [notice])].join('\n'),
    ...tablesText(content),
    'All of them, the worst first',
    ...texts,
  ];
  return { name: `tocsin-digest-${id}.txt`, text: `${parts.join('\n\n')}\n` };
}

/** One line an item, without markup: severity, transaction hash (else id), protocol. */
export const itemLine = (item: DigestItem): string => `${nameOf(item)} ${item.severity} ${shorten(item.protocol, 60)}`;
