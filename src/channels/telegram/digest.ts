/**
 * Many alerts as one Telegram message: all of them in the text if there is room, else the worst in the caption of a file
 * that lists all. It is one message either way, because a group takes only twenty a minute. The title and what happened come
 * first: they are what a locked phone shows.
 */
import type { Alert } from '../../alert.ts';
import { packed, type Sliced } from '../../chunks.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import type { Line as ContentLine } from '../content/content.ts';
import { shortenHex } from '../content/foreign.ts';
import type { Wording } from '../content/reading.ts';
import {
  type Count,
  type CountTable,
  type DigestContent,
  type DigestFile,
  type DigestItem,
  detectionText,
  digestFile,
  itemLine,
  nameOf,
  othersLine,
  titleOf,
  topOf,
  worstOf,
} from '../digest-content.ts';
import { worstFirst } from '../digest-items.ts';
import {
  apart,
  BLANK,
  type Block,
  CAPTION_LIMIT,
  disarm,
  disarmEach,
  ENTITIES_MAX,
  entitiesIn,
  type Line,
  lengthOf,
  lineOf,
  linesIn,
  linkPiece,
  type Piece,
  TEXT_LIMIT,
} from './lines.ts';
import { NOTICE_LIMIT, noticeLines, quoted } from './said.ts';

/**
 * How much is shown of each text: `table`: of one table's line; `name`: of severity, protocol and contract of an incident;
 * `said`: of what happened in it.
 */
type Size = Record<'title' | 'notice' | 'table' | 'name' | 'said', number>;

const IN_TEXT: Size = { title: 240, notice: 500, table: 300, name: 120, said: 160 };
const IN_CAPTION: Size = { title: 140, notice: 400, table: 60, name: 80, said: 90 };

/** The worst, which are shown before all else. */
const TOP = 5;

const rowText = ({ name, count }: Count): string => `${shortenHex(name)} ×${count}`;

const rowPieces = (row: Count, index: number, limit: number): Piece[] => {
  const piece = linkPiece(shorten(rowText(row), limit), row.url);
  return index === 0 ? [piece] : [{ text: ', ' }, piece];
};

/** `Detectors: Flash loan ×80, Mixer ×12 + 3 more`; at least the first name is shown. */
const tableLine = (table: CountTable, limit: number, most?: number): Line => {
  const { rows } = topOf(table, most);
  const names = rows.map(rowText);
  const fitting = rows.filter((_, index) => names.slice(0, index + 1).join(', ').length <= limit);
  const shown = rows.slice(0, Math.max(1, fitting.length));
  const more = table.counts.length - shown.length;
  return [
    { text: `${table.title}: `, mark: 'b' },
    ...shown.flatMap((row, index) => rowPieces(row, index, limit)),
    ...(more > 0 ? [{ text: ` + ${more} more` }] : []),
  ];
};

const tableLines = ({ tables }: DigestContent, { table: limit }: Size): Line[] =>
  tables
    // A single protocol is in the title already.
    .filter(({ title, counts }) => counts.length > 0 && (title !== 'Protocols' || counts.length > 1))
    .map((table) => tableLine(table, limit));

const ROWS_MAX = 10;

/** Those that are cut above. */
const longTables = ({ tables }: DigestContent, { table: limit }: Size): Line[] =>
  tables.filter((table) => topOf(table).more > 0).map((table) => tableLine(table, limit, ROWS_MAX));

const REMARKS_MAX = 2;

/** `0x5033…5ccb · privileged call, sender is an admin`; nothing where neither is known. */
const referenceLine = ({ url, hash, shortHash = hash, remarks }: DigestItem): Line[] => {
  const why = remarks.slice(0, REMARKS_MAX).join(', ');
  if (shortHash === undefined) return why === '' ? [] : [[{ text: why }]];
  return [[linkPiece(shortHash, url), ...(why === '' ? [] : [{ text: ` · ${why}` }])]];
};

/** A table names ten origins, each with a link. */
const LINE_ENTITIES = 12;

const disarmed = (lines: readonly Line[]): Line[] => disarmEach(lines, Number.POSITIVE_INFINITY, LINE_ENTITIES);

/** How many are alike stays where the title is cut. */
const shortTitle = (item: DigestItem, limit: number): string => {
  const times = titleOf(item).slice(item.title.length);
  return `${shorten(item.title, limit - times.length)}${times}`;
};

/** What it is and where, what happened, in the words of the service, and which transaction. */
const topBlocks = (item: DigestItem, size: Size, format: Format): Block[] => [
  { lines: disarmed([[{ text: shortTitle(item, size.name), mark: 'b' }]]) },
  quoted(disarmed([[{ text: shorten(item.said, size.said) }]]), format),
  { lines: disarmed(referenceLine(item)) },
];

const titleBlock = ({ title }: DigestContent, size: Size): Block => ({
  lines: disarmed([[{ text: shorten(title, size.title), mark: 'b' }]]),
});

const noticeBlock = ({ notice }: DigestContent, size: Size): Block => ({
  lines: disarmed(noticeLines(notice, size.notice)),
});

/** The counts, then from when to when, and why all of it is one message. */
const countLines = (content: DigestContent, size: Size, now: number): Line[] => [
  ...tableLines(content, size),
  [...lineOf(content.period, now), { text: `. ${content.why}` }],
];

/** Above this number items never fit into a text, so it is not even tried: a storm has thousands of alerts. */
const WHOLE_MAX = 150;

const isWithin = (blocks: readonly Block[], limit: number): boolean => {
  const lines = linesIn(blocks);
  const quotes = blocks.filter(({ as }) => as !== undefined).length;
  return lengthOf(lines) <= limit + 1 && entitiesIn(lines) + quotes <= ENTITIES_MAX;
};

/** What is folded is mostly what the service says. */
const folded = (lines: readonly Line[], format: Format): Block =>
  format === 'rich' ? { lines, as: 'folded' } : { lines };

/** Every item with all its messages. */
const wholeItems = (content: DigestContent, now: number): Line[] => {
  const worst = worstOf(content, TOP);
  return content.items.flatMap((item, index) =>
    wholeItem(item, index + 1, now, worst.includes(item) ? shorten(item.happened, IN_TEXT.said) : undefined),
  );
};

const wholeBlocks = (content: DigestContent, whole: readonly Line[], format: Format, now: number): Block[] => {
  const { items } = content;
  const worst = worstOf(content, TOP);
  const rows = longTables(content, IN_TEXT);
  return [
    titleBlock(content, IN_TEXT),
    ...worst.flatMap((item) => topBlocks(item, IN_TEXT, format)),
    noticeBlock(content, IN_TEXT),
    ...apart([{ lines: disarmed(countLines(content, IN_TEXT, now)) }]),
    ...apart([folded([[{ text: `All ${items.length}`, mark: 'b' }], ...disarmed([...whole, ...rows])], format)]),
  ];
};

/** Undefined if not everything fits into a text. Plain text is longer, a rich one has more entities: both have to fit. */
const wholeText = (content: DigestContent, format: Format, now: number): Block[] | undefined => {
  if (content.items.length > WHOLE_MAX) return undefined;
  const whole = wholeItems(content, now);
  // Most digests are too long by their items alone, and disarming these takes longest.
  if (lengthOf(whole) > TEXT_LIMIT) return undefined;
  const plain = wholeBlocks(content, whole, 'plain', now);
  if (!isWithin(plain, TEXT_LIMIT)) return undefined;
  const rich = wholeBlocks(content, whole, 'rich', now);
  if (!isWithin(rich, TEXT_LIMIT)) return undefined;
  return format === 'rich' ? rich : plain;
};

interface Top {
  item: DigestItem;
  plain: Block[];
}

/** How many of the worst there is room for beside the rest of a caption. */
const worstIn = (tops: readonly Top[], others: readonly Block[]): readonly Top[] => {
  let room = CAPTION_LIMIT + 1 - lengthOf([...linesIn(others), BLANK]);
  const end = tops.findIndex(({ plain }) => {
    room -= lengthOf(linesIn(plain));
    return room < 0;
  });
  return end === -1 ? tops : tops.slice(0, end);
};

/** So many of the worst come before the counts of detectors, contracts and origins. */
const WORST_MIN = 3;

/** Around the transactions that are named besides, and of each: ` 0x5033…5ccb`. */
const [NAMED_ROOM, HASH_ROOM] = [60, 12];

/** Why it comes this way is not cut for the counts, which the file has. */
const captionOf = (content: DigestContent, format: Format, now: number): Block[] => {
  const head = titleBlock(content, IN_CAPTION);
  const notice = noticeBlock(content, IN_CAPTION);
  const tailWith = (tables: number): Block => ({
    lines: disarmed([
      ...countLines({ ...content, tables: content.tables.slice(0, tables) }, IN_CAPTION, now),
      [{ text: 'The file lists all of them, the worst first.' }],
    ]),
  });
  const tops = worstOf(content, TOP).map((item): Top => ({ item, plain: topBlocks(item, IN_CAPTION, 'plain') }));
  const least = Math.min(WORST_MIN, tops.length);
  const tables = [4, 2, 1].find((some) => worstIn(tops, [head, notice, tailWith(some)]).length >= least) ?? 0;
  const tail = tailWith(tables);
  const worst = worstIn(tops, [head, notice, tail]);
  const topAs = (as: Format): Block[] => [
    head,
    ...worst.flatMap(({ item, plain }) => (as === 'plain' ? plain : topBlocks(item, IN_CAPTION, as))),
  ];
  const room = CAPTION_LIMIT - lengthOf(linesIn([...topAs('plain'), notice, tail])) - NAMED_ROOM;
  const shown = worst.map(({ item }) => item);
  const others = lineOf(othersLine(content, shown, Math.floor(room / HASH_ROOM)), now);
  const blocksAs = (as: Format): Block[] => [
    ...topAs(as),
    { lines: others.length === 0 ? [] : [others] },
    notice,
    ...apart([tail]),
  ];
  const blocks = blocksAs(format);
  return isWithin(blocks, CAPTION_LIMIT) ? blocks : [{ lines: disarm(linesIn(blocksAs('plain')), ENTITIES_MAX) }];
};

/** The text, or the caption of a file. `now`: the time of sending, in epoch milliseconds. */
export function* layOutDigest(
  content: DigestContent,
  format: Format,
  now: number,
): Sliced<{ blocks: Block[]; file?: DigestFile }> {
  const blocks = wholeText(content, format, now);
  return blocks === undefined
    ? { blocks: captionOf(content, format, now), file: yield* digestFile(content) }
    : { blocks };
}

// An incident of a digest in full: every detector's message, and a hash to copy.

/** Whether `shown` has all that detectors and notifications say. A notification is delivered whole, to its last full stop. */
const isShown = ({ detections, message }: DigestItem, shown: string): boolean =>
  message === undefined
    ? detections.every((one) => shown.includes(cleanLine(one.message).replace(/[.;\s]+$/, '')))
    : shown.includes(message);

/** Each in one line that is quoted: no line of it can pass for ours, in plain text neither. */
const saidLines = ({ detections, message, happened }: DigestItem): Line[] => {
  const found = detections.length === 0 ? [happened] : detections.map(detectionText);
  return (message === undefined ? found : [message]).map((text) => [{ text: `> ${cleanLine(text)}` }]);
};

/** Chain, time and the detectors that fired. */
const factsLine = ({ chain, time, at, detectors }: DigestItem): ContentLine => {
  const fired = detectors.join(', ');
  return [
    { text: ` ${chain === undefined ? '' : `${chain}, `}` },
    { text: time, at },
    ...(fired === '' ? [] : [{ text: `, ${fired}` }]),
  ];
};

/** `number`: in the list, from 1. `shown`: what the message says of it above, which is not said twice. */
const wholeItem = (item: DigestItem, number: number, now: number, shown: string | undefined): Line[] => {
  const name: Line = [{ text: nameOf(item), mark: 'code' }, ...lineOf(factsLine(item), now)];
  if (shown === undefined) return [[{ text: `${number}. ${item.title}` }], name, ...saidLines(item)];
  return [[{ text: `${number}. ` }, ...name], ...(isShown(item, shown) ? [] : saidLines(item))];
};

// A digest at its plainest: without file and markup, in as many messages as its hashes need.

const TITLE_LIMIT = 240;

/** One line for every item. */
export const minimalDigest = (content: DigestContent): Line[] => [
  [{ text: shorten(content.title, TITLE_LIMIT) }],
  ...noticeLines(content.notice),
  ...content.items.map((item) => [{ text: itemLine(item) }]),
];

/** Room for the items below title and notice. */
const MINIMAL_ROOM = TEXT_LIMIT - TITLE_LIMIT - NOTICE_LIMIT - 2;

/**
 * Splits alerts so that each part's minimal digest fits into a message, the worst into the first. `digestOf` describes the
 * alerts of one incident.
 */
export function* minimalParts(
  alerts: readonly Alert[],
  wording: Wording,
  digestOf: (alerts: readonly Alert[]) => Sliced<DigestContent>,
): Sliced<Alert[][]> {
  const sized: { incident: readonly Alert[]; size: number }[] = [];
  for (const incident of yield* worstFirst(alerts, wording)) {
    const { items } = yield* digestOf(incident);
    sized.push({ incident, size: lengthOf(items.map((item) => [{ text: itemLine(item) }])) });
  }
  return packed(sized, MINIMAL_ROOM, ({ size }) => size).map((part) => part.flatMap(({ incident }) => incident));
}
