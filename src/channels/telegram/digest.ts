/**
 * Many alerts as one Telegram message: all of them in the text if there is room, else the worst in the caption of a file
 * that lists all. It is one message either way, because a group takes only twenty a minute.
 */
import type { Alert } from '../../alert.ts';
import { packed } from '../../chunks.ts';
import type { Sliced } from '../../slices.ts';
import { shorten, shortenAddresses } from '../../text.ts';
import { detectionText } from '../content.ts';
import { type Count, type CountTable, type DigestContent, type DigestItem, nameOf, topOf } from '../digest-content.ts';
import { type DigestFile, digestFile, itemLine } from '../digest-file.ts';
import { incidentsOf } from '../incidents.ts';
import { disarmEach, entitiesIn, type Line, lengthOf, type Piece } from './lines.ts';
import { BLANK, ENTITIES_MAX, noticeLines, TEXT_LIMIT } from './single.ts';

/** UTF-16 units after entity parsing. Source: https://core.telegram.org/bots/api#senddocument */
const CAPTION_LIMIT = 1024;

/** How much is shown of the texts around the items. */
interface Size {
  title: number;
  notice: number;
  /** One table's line. */
  table: number;
}

const IN_TEXT: Size = { title: 240, notice: 500, table: 300 };
const IN_CAPTION: Size = { title: 140, notice: 160, table: 90 };
/** An item's first line in a caption. */
const ITEM_LIMIT = 120;

const rowText = ({ name, count }: Count): string => `${shortenAddresses(name, { head: 6, tail: 4 })} ×${count}`;

/** `Detectors: flashLoan ×80, mixer ×12 + 3 more`; at least the first name is shown. */
const tableLine = (table: CountTable, limit: number): Line => {
  const { rows } = topOf(table);
  const shown = rows.filter(
    (_, index) =>
      rows
        .slice(0, index + 1)
        .map(rowText)
        .join(', ').length <= limit,
  );
  const texts = shown.length > 0 ? shown.map(rowText) : rows.slice(0, 1).map((row) => shorten(rowText(row), limit));
  const more = table.counts.length - texts.length;
  return [{ text: `${table.title}: `, mark: 'b' }, { text: `${texts.join(', ')}${more > 0 ? ` + ${more} more` : ''}` }];
};

const hashPiece = (item: DigestItem): Piece =>
  item.url === undefined ? { text: nameOf(item), mark: 'code' } : { text: nameOf(item), href: item.url };

const headOf = (content: DigestContent, size: Size): Line[] => [
  [{ text: shorten(content.title, size.title), mark: 'b' }],
  [{ text: content.span }],
  ...noticeLines(content.notice, size.notice),
  BLANK,
  // A single protocol is in the title already.
  ...content.tables
    .filter(({ title, counts }) => title !== 'Protocols' || counts.length > 1)
    .map((table) => tableLine(table, size.table)),
  BLANK,
];

const plainLines = (text: string): Line[] => text.split('\n').map((line) => [{ text: line }]);

/** An item with all its messages; the headline would repeat the detectors. */
const detailedItem = (item: DigestItem, index: number): Line[] => {
  const { severity, protocol, headline, detections, message, chain, time } = item;
  const hasDetails = detections.length > 0 || message !== undefined;
  return [
    [{ text: `${index + 1}. ${hasDetails ? `${severity}: ${protocol}` : headline}`, mark: 'b' }],
    [hashPiece(item)],
    [{ text: [chain, time].filter((part) => part !== undefined).join(', ') }],
    ...detections.flatMap((one) => plainLines(detectionText(one))),
    ...(message === undefined ? [] : plainLines(message)),
    BLANK,
  ];
};

/** Above this number items never fit into a text, so it is not even tried: a storm has thousands of alerts. */
const WHOLE_MAX = 150;

/** Every item with all its messages; undefined if that does not fit into a text. */
const wholeText = (content: DigestContent): Line[] | undefined => {
  if (content.items.length > WHOLE_MAX) return undefined;
  const lines = disarmEach(
    [...headOf(content, IN_TEXT), ...content.items.flatMap(detailedItem), [{ text: content.why }]],
    Number.POSITIVE_INFINITY,
  );
  return lengthOf(lines) <= TEXT_LIMIT + 1 && entitiesIn(lines) <= ENTITIES_MAX ? lines : undefined;
};

/** The counts, and as many of the worst as fit. */
const captionOf = (content: DigestContent): Line[] => {
  const { items, why } = content;
  const head = headOf(content, IN_CAPTION);
  const tail: Line[] = [[{ text: `The file lists all of them, the worst first. ${why}` }]];
  let room = CAPTION_LIMIT + 1 - lengthOf([...head, ...tail]);
  const shown: Line[] = [];
  for (const item of items) {
    const lines: Line[] = [[{ text: shorten(item.headline, ITEM_LIMIT), mark: 'b' }], [hashPiece(item)], BLANK];
    room -= lengthOf(lines);
    if (room < 0) break;
    shown.push(...lines);
  }
  return disarmEach([...head, ...shown, ...tail], ENTITIES_MAX);
};

export interface DigestLayout {
  /** The text, or the caption of `file`. */
  lines: Line[];
  file?: DigestFile;
}

export function* layOutDigest(content: DigestContent): Sliced<DigestLayout> {
  const lines = wholeText(content);
  return lines === undefined ? { lines: captionOf(content), file: yield* digestFile(content) } : { lines };
}

/** Without file and markup: one line for every item. */
export const minimalDigest = (content: DigestContent): Line[] => [
  [{ text: shorten(content.title, IN_TEXT.title) }],
  ...noticeLines(content.notice, IN_TEXT.notice),
  ...content.items.map((item) => [{ text: itemLine(item) }]),
];

/** Room for the items below title and notice. */
const MINIMAL_ROOM = TEXT_LIMIT - IN_TEXT.title - IN_TEXT.notice - 2;

/** Splits alerts so that each part's minimal digest fits into a message. `digestOf` describes the alerts of one incident. */
export function* minimalParts(
  alerts: readonly Alert[],
  digestOf: (alerts: readonly Alert[]) => Sliced<DigestContent>,
): Sliced<Alert[][]> {
  const sized: { incident: Alert[]; size: number }[] = [];
  for (const incident of incidentsOf(alerts)) {
    const { items } = yield* digestOf(incident);
    sized.push({ incident, size: lengthOf(items.map((item) => [{ text: itemLine(item) }])) });
  }
  return packed(sized, MINIMAL_ROOM, ({ size }) => size).map((part) => part.flatMap(({ incident }) => incident));
}
