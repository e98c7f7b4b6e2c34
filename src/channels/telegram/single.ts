/** One incident as lines of a Telegram message: what, where and which transaction first, the ids last. */

import { shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import { type Content, type Detection, type Fact, UNKNOWN } from '../content.ts';
import { disarm, disarmEach, entitiesIn, fitLines, type Line, lengthOf, type Piece, splitLines } from './lines.ts';

/** UTF-16 units after entity parsing. Telegram counts whole characters, of which there are no more. */
export const TEXT_LIMIT = 4096;
/** Telegram drops the entities beyond this number. */
export const ENTITIES_MAX = 100;

const HEAD_ENTITIES = 20;
const TAIL_ENTITIES = 60;
const TITLE_LIMIT = 300;
const NOTICE_LIMIT = 500;
const VALUE_LIMIT = 160;
/** Room for the line that says which part of a long text this is. */
const CONTINUED_ROOM = 60;
const SHORTEST_PART = 300;

export const BLANK: Line = [];

/** People copy code with a tap, and it never becomes a link or a mention: right for ids and for names from the chain. */
const CODE = new Set(['Transaction', 'Origin', 'Method', 'Inspection', 'Notification']);

const piece = (label: string, text: string): Piece =>
  CODE.has(label) && text !== UNKNOWN ? { text, mark: 'code' } : { text };

const valuePiece = ({ label, value, url }: Fact, limit = VALUE_LIMIT): Piece => {
  const text = shorten(value, limit);
  return url === undefined ? piece(label, text) : { text, href: url };
};

const titleOf = ({ title }: Content): string => shorten(title, TITLE_LIMIT);

/** For a chain that is not in our table there is only the number. */
const chainText = ({ value }: Fact): string =>
  /^\d+$/.test(value) || value === UNKNOWN ? `Chain ${shorten(value, VALUE_LIMIT)}` : shorten(value, VALUE_LIMIT);

export const noticeLines = (notice: string | undefined, limit = NOTICE_LIMIT): Line[] =>
  notice === undefined ? [] : [[{ text: shorten(notice, limit) }]];

/** What, where and which transaction: the lines that a locked phone shows. */
const headOf = (content: Content, format: Format): Line[] => {
  const transaction = content.facts.find(({ label }) => label === 'Transaction');
  const chain = content.facts.find(({ label }) => label === 'Chain');
  const where = chain ? `${chainText(chain)}, transaction ` : 'Transaction ';
  return [
    [{ text: titleOf(content), mark: 'b' }],
    ...(transaction ? [[{ text: where }, valuePiece(transaction)]] : []),
    // Plain text has no other way to link.
    ...(transaction?.url && format === 'plain' ? [[{ text: transaction.url }]] : []),
    ...noticeLines(content.notice),
  ];
};

const detectionLines = ({ name, message }: Detection): Line[] => {
  const [first = '', ...rest] = (message || 'fired, without a message').split('\n');
  return [[{ text: shorten(name, VALUE_LIMIT), mark: 'b' }, { text: `: ${first}` }], ...rest.map((text) => [{ text }])];
};

/** All messages, whole. */
const saidLines = ({ detections, message }: Pick<Content, 'detections' | 'message'>): Line[] => [
  ...detections.flatMap(detectionLines),
  ...(message === undefined ? [] : message.split('\n').map((text) => [{ text }])),
];

/** How much of each fact is shown: the first row that leaves enough room for the detectors' messages. */
const TAIL_SIZES = [
  { value: VALUE_LIMIT, assets: 700, listed: 4 },
  { value: VALUE_LIMIT, assets: VALUE_LIMIT, listed: 0 },
  { value: 60, assets: 60, listed: 0 },
] as const;
type TailSize = (typeof TAIL_SIZES)[number];
const TAIL_LIMIT = 2400;

/** A short list has a line for each item. */
const factLines = (fact: Fact, size: TailSize): Line[] => {
  const { label, items = [] } = fact;
  if (items.length > 0 && items.length <= size.listed) {
    return [[{ text: `${label}:` }], ...items.map((item) => [{ text: '- ' }, piece(label, shorten(item, size.value))])];
  }
  return [[{ text: `${label}: ` }, valuePiece(fact, label === 'Assets' ? size.assets : size.value)]];
};

const tailOf = ({ facts }: Content): Line[] => {
  const shown = facts.filter(({ label }) => label !== 'Transaction' && label !== 'Chain');
  const tails = TAIL_SIZES.map((size) => shown.flatMap((fact) => factLines(fact, size)));
  return tails.find((lines) => lengthOf(lines) <= TAIL_LIMIT) ?? tails.at(-1) ?? [];
};

export interface Layout {
  lines: Line[];
  /** What did not fit, as further messages. */
  continuations: Line[][];
}

/** Only the middle is cut: a reader at night needs the transaction and the ids more than the end of a long text. */
export const layOut = (content: Content, format: Format): Layout => {
  const headLines = headOf(content, format);
  const tailLines = tailOf(content);
  const body = saidLines(content);
  // The last line has no line feed.
  const room = TEXT_LIMIT + 1 - lengthOf([...headLines, ...tailLines, BLANK, BLANK]);
  const head = disarmEach(headLines, HEAD_ENTITIES);
  const tail = disarmEach(tailLines, TAIL_ENTITIES);
  const left = ENTITIES_MAX - entitiesIn([...head, ...tail]);
  const around = (shown: readonly Line[]): Line[] => [
    ...head,
    ...(shown.length > 0 ? [BLANK, ...disarm(shown, left)] : []),
    BLANK,
    ...tail,
  ];
  if (content.message === undefined || lengthOf(body) <= room) {
    return { lines: around(fitLines(body, room)), continuations: [] };
  }
  const [first = [], ...rest] = splitLines(body, Math.max(room - CONTINUED_ROOM, SHORTEST_PART));
  const others = splitLines(rest.flat(), TEXT_LIMIT - CONTINUED_ROOM);
  const total = others.length + 1;
  return {
    lines: around([...first, [{ text: `[continues: part 1 of ${total}]` }]]),
    continuations: others.map((part, index) => [
      [{ text: `[part ${index + 2} of ${total}]` }],
      ...disarm(part, ENTITIES_MAX),
    ]),
  };
};

const MINIMAL = new Set(['Transaction', 'Sent', 'Inspection', 'Notification']);

/** The indispensable facts, one in each line. */
export const minimalLines = (content: Content): Line[] => [
  [{ text: titleOf(content) }],
  ...noticeLines(content.notice),
  ...content.facts
    .filter(({ label }) => MINIMAL.has(label))
    .map((fact) => [{ text: `${fact.label}: ${shorten(fact.value, VALUE_LIMIT)}` }]),
];
