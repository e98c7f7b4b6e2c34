/** A digest as a plain-text file, for what does not fit into a message: counts, then every item with its hash. */
import { mapSliced, type Sliced } from '../slices.ts';
import { cleanLine, quotedLines, shorten } from '../text.ts';
import { type DigestContent, type DigestItem, nameOf, topOf } from './digest-content.ts';

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

/** Text from outside: no line of it can pass for an item of ours. */
const saidLines = (text: string): string => quotedLines(text).replace(/^/gm, '   ');

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
    ...(said === '' ? [] : [saidLines(bound(said, limit))]),
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
