/**
 * Many alerts as one Telegram message: all of them in the text if there is room, else the worst in the caption of a file
 * that lists all. It is one message either way, because a group takes only twenty a minute. The title and what happened come
 * first: they are what a locked phone shows.
 */
import type { Sliced } from '../../slices.ts';
import { shorten, shortenAddresses } from '../../text.ts';
import type { Format } from '../channel.ts';
import { type Count, type CountTable, type DigestContent, type DigestItem, topOf } from '../digest-content.ts';
import { type DigestFile, digestFile } from '../digest-file.ts';
import { wholeItem } from './digest-items.ts';
import { disarm, disarmEach } from './disarm.ts';
import { takesLink } from './keyboard.ts';
import { CAPTION_LIMIT, ENTITIES_MAX, TEXT_LIMIT } from './limits.ts';
import { apart, BLANK, type Block, entitiesIn, type Line, lengthOf, type Piece } from './lines.ts';
import { lineOf } from './pieces.ts';
import { quoted } from './quotes.ts';
import { noticeLines } from './single.ts';

/** How much is shown of each text. */
interface Size {
  title: number;
  notice: number;
  /** One table's line. */
  table: number;
  /** Severity, protocol and contract of an incident. */
  name: number;
  /** What happened in it. */
  said: number;
}

const IN_TEXT: Size = { title: 240, notice: 500, table: 300, name: 120, said: 160 };
const IN_CAPTION: Size = { title: 140, notice: 120, table: 60, name: 80, said: 90 };

/** The worst, which are shown before all else. */
const TOP = 6;

const rowText = ({ name, count }: Count): string => `${shortenAddresses(name, { head: 6, tail: 4 })} ×${count}`;

const rowPieces = (row: Count, index: number, limit: number): Piece[] => {
  const text = shorten(rowText(row), limit);
  const piece = row.url !== undefined && takesLink(row.url) ? { text, href: row.url } : { text };
  return index === 0 ? [piece] : [{ text: ', ' }, piece];
};

/** `Detectors: Flash loan ×80, Mixer ×12 + 3 more`; at least the first name is shown. */
const tableLine = (table: CountTable, limit: number): Line => {
  const { rows } = topOf(table);
  const fitting = rows.filter(
    (_, index) =>
      rows
        .slice(0, index + 1)
        .map(rowText)
        .join(', ').length <= limit,
  );
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

/** The heaviest. */
const REMARKS_MAX = 2;

/** `0x5033…5ccb · privileged call, origin is an admin`; nothing where neither is known. */
const referenceLine = ({ url, hash, shortHash = hash, remarks }: DigestItem): Line[] => {
  const why = remarks.slice(0, REMARKS_MAX).join(', ');
  if (shortHash === undefined) return why === '' ? [] : [[{ text: why }]];
  const name = url !== undefined && takesLink(url) ? { text: shortHash, href: url } : { text: shortHash };
  return [[name, ...(why === '' ? [] : [{ text: ` · ${why}` }])]];
};

/** A table names ten origins, each with a link. */
const LINE_ENTITIES = 12;

const disarmed = (lines: readonly Line[]): Line[] => disarmEach(lines, Number.POSITIVE_INFINITY, LINE_ENTITIES);

const happenedOf = ({ happened }: DigestItem, { said }: Size): string => shorten(happened, said);

/** What it is and where, what happened, in the words of the service, and which transaction. */
const topBlocks = (item: DigestItem, size: Size, format: Format): Block[] => [
  { lines: disarmed([[{ text: shorten(item.title, size.name), mark: 'b' }]]) },
  quoted(disarmed([[{ text: happenedOf(item, size) }]]), format),
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

const linesIn = (blocks: readonly Block[]): Line[] => blocks.flatMap(({ lines }) => lines);

const isWithin = (blocks: readonly Block[], limit: number): boolean => {
  const lines = linesIn(blocks);
  const quotes = blocks.filter(({ as }) => as !== undefined).length;
  return lengthOf(lines) <= limit + 1 && entitiesIn(lines) + quotes <= ENTITIES_MAX;
};

/** What is folded is mostly what the service says. */
const folded = (lines: readonly Line[], format: Format): Block =>
  format === 'rich' ? { lines, as: 'folded' } : { lines };

/** Every item with all its messages. */
const wholeBlocks = (content: DigestContent, format: Format, now: number): Block[] => {
  const { items } = content;
  const whole = items.flatMap((item, index) =>
    wholeItem(item, { number: index + 1, now, ...(index < TOP ? { shown: happenedOf(item, IN_TEXT) } : {}) }),
  );
  return [
    titleBlock(content, IN_TEXT),
    ...items.slice(0, TOP).flatMap((item) => topBlocks(item, IN_TEXT, format)),
    noticeBlock(content, IN_TEXT),
    ...apart([{ lines: disarmed(countLines(content, IN_TEXT, now)) }]),
    ...apart([folded([[{ text: `All ${items.length}`, mark: 'b' }], ...disarmed(whole)], format)]),
  ];
};

/** Undefined if not everything fits into a text. Plain text is longer, a rich one has more entities: both have to fit. */
const wholeText = (content: DigestContent, format: Format, now: number): Block[] | undefined => {
  if (content.items.length > WHOLE_MAX) return undefined;
  const plain = wholeBlocks(content, 'plain', now);
  if (!isWithin(plain, TEXT_LIMIT)) return undefined;
  const rich = wholeBlocks(content, 'rich', now);
  if (!isWithin(rich, TEXT_LIMIT)) return undefined;
  return format === 'rich' ? rich : plain;
};

/** How many of the worst there is room for beside the rest of a caption. */
const worstIn = (content: DigestContent, others: readonly Block[]): readonly DigestItem[] => {
  let room = CAPTION_LIMIT + 1 - lengthOf([...linesIn(others), BLANK]);
  const items = content.items.slice(0, TOP);
  const lengths = items.map((item) => lengthOf(linesIn(topBlocks(item, IN_CAPTION, 'plain'))));
  const end = lengths.findIndex((length) => {
    room -= length;
    return room < 0;
  });
  return end === -1 ? items : items.slice(0, end);
};

/** As many of the worst as fit, and the counts. */
const captionOf = (content: DigestContent, format: Format, now: number): Block[] => {
  const head = titleBlock(content, IN_CAPTION);
  const notice = noticeBlock(content, IN_CAPTION);
  const tail: Block = {
    lines: disarmed([
      ...countLines(content, IN_CAPTION, now),
      [{ text: 'The file lists all of them, the worst first.' }],
    ]),
  };
  const worst = worstIn(content, [head, notice, tail]);
  const blocksAs = (as: Format): Block[] => [
    head,
    ...worst.flatMap((item) => topBlocks(item, IN_CAPTION, as)),
    notice,
    ...apart([tail]),
  ];
  const blocks = blocksAs(format);
  return isWithin(blocks, CAPTION_LIMIT) ? blocks : [{ lines: disarm(linesIn(blocksAs('plain')), ENTITIES_MAX) }];
};

export interface DigestLayout {
  /** The text, or the caption of `file`. */
  blocks: Block[];
  file?: DigestFile;
}

/** `now`: the time of sending, in epoch milliseconds. */
export function* layOutDigest(content: DigestContent, format: Format, now: number): Sliced<DigestLayout> {
  const blocks = wholeText(content, format, now);
  return blocks === undefined
    ? { blocks: captionOf(content, format, now), file: yield* digestFile(content) }
    : { blocks };
}
