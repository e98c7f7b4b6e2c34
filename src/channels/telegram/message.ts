/** One alert as one Telegram message. Source: https://core.telegram.org/bots/api#sendmessage */
import { type Alert, deliveryId, type Parcel } from '../../alert.ts';
import type { ComposeContext, Format, Message } from '../channel.ts';
import { type Content, type Detection, describe, type Fact, UNKNOWN } from '../content.ts';
import { shorten } from '../text.ts';
import { disarm, fitLines, type Line, lengthOf, type Piece, splitLines, toHtml, toPlain } from './lines.ts';

/** What `sendMessage` takes, less the address. */
export interface TelegramText {
  text: string;
  /** Absent: `text` is plain. */
  parse_mode?: 'HTML';
  /** What did not fit, to be sent behind it: a stored notification is delivered whole. */
  continuations?: string[];
}

/** UTF-16 units after entity parsing. */
export const TEXT_LIMIT = 4096;
/** Together they stay under the hundred entities that Telegram keeps of a message: 4 lines, the middle, 11 lines. */
const LINE_ENTITIES = 3;
const BODY_ENTITIES = 50;
const TITLE_LIMIT = 300;
const VALUE_LIMIT = 160;
const ASSETS_LIMIT = 700;
const LISTED_MAX = 4;
/** Kept free for the line that says which part of a long text this is. */
const CONTINUED_ROOM = 60;
const SHORTEST_PART = 300;

const BLANK: Line = [];

/** Code is copied by a tap and never becomes a link or a mention: right for ids, and for names from the chain. */
const CODE = new Set(['Transaction', 'Origin', 'Method', 'Inspection', 'Notification']);

const valuePiece = ({ label, value, url }: Fact): Piece => {
  const text = shorten(value, label === 'Assets' ? ASSETS_LIMIT : VALUE_LIMIT);
  if (url !== undefined) return { text, href: url };
  return CODE.has(label) && value !== UNKNOWN ? { text, mark: 'code' } : { text };
};

const factLine = (fact: Fact): Line => [{ text: `${fact.label}: ` }, valuePiece(fact)];

const titleOf = ({ title }: Content): string => shorten(title, TITLE_LIMIT);

/** A chain that our table does not know has only its number. */
const chainText = ({ value }: Fact): string =>
  /^\d+$/.test(value) || value === UNKNOWN ? `Chain ${shorten(value, VALUE_LIMIT)}` : shorten(value, VALUE_LIMIT);

/** What, where, how sure, which transaction: the lines that a locked phone shows. */
const headOf = (content: Content, format: Format): Line[] => {
  const transaction = content.facts.find(({ label }) => label === 'Transaction');
  const chain = content.facts.find(({ label }) => label === 'Chain');
  const where = chain ? `${chainText(chain)}, transaction ` : 'Transaction ';
  return [
    [{ text: titleOf(content), mark: 'b' }],
    ...(transaction ? [[{ text: where }, valuePiece(transaction)]] : []),
    // Plain text has no other way to link.
    ...(transaction?.url && format === 'plain' ? [[{ text: transaction.url }]] : []),
    ...(content.notice ? [[{ text: content.notice }]] : []),
  ];
};

const detectionLines = ({ name, message }: Detection): Line[] => {
  const [first = '', ...rest] = (message || 'fired, without a message').split('\n');
  return [[{ text: shorten(name, VALUE_LIMIT), mark: 'b' }, { text: `: ${first}` }], ...rest.map((text) => [{ text }])];
};

const bodyOf = ({ detections, message }: Content): Line[] => [
  ...detections.flatMap(detectionLines),
  ...(message === undefined ? [] : message.split('\n').map((text) => [{ text }])),
];

/** A short list has a line for each item. */
const factLines = (fact: Fact): Line[] =>
  fact.items !== undefined && fact.items.length <= LISTED_MAX
    ? [[{ text: `${fact.label}:` }], ...fact.items.map((item) => [{ text: `- ${shorten(item, VALUE_LIMIT)}` }])]
    : [factLine(fact)];

const tailOf = ({ facts }: Content): Line[] =>
  facts.filter(({ label }) => label !== 'Transaction' && label !== 'Chain').flatMap(factLines);

const disarmEach = (lines: readonly Line[]): Line[] => lines.flatMap((line) => disarm([line], LINE_ENTITIES));

interface Layout {
  lines: Line[];
  continuations: Line[][];
}

const roomFor = (lines: readonly Line[]): number => TEXT_LIMIT + 1 - lengthOf([...lines, BLANK, BLANK]);

/** Only the middle is cut: who reads at night needs the transaction and the ids more than the end of a long text. */
const layOut = (content: Content, format: Format): Layout => {
  const head = headOf(content, format);
  const tail = tailOf(content);
  const body = bodyOf(content);
  // The last line has no line feed.
  const room = roomFor([...head, ...tail]);
  const around = (shown: readonly Line[]): Line[] => [
    ...disarmEach(head),
    ...(shown.length > 0 ? [BLANK, ...disarm(shown, BODY_ENTITIES)] : []),
    BLANK,
    ...disarmEach(tail),
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
      ...disarm(part, BODY_ENTITIES),
    ]),
  };
};

const MINIMAL = new Set(['Transaction', 'Sent', 'Inspection', 'Notification']);

const minimal = (content: Content): Line[] => [
  [{ text: titleOf(content) }],
  ...(content.notice ? [[{ text: content.notice }]] : []),
  ...content.facts.filter(({ label }) => MINIMAL.has(label)).map(factLine),
];

const render = ({ lines, continuations }: Layout, write: (lines: readonly Line[]) => string): TelegramText => ({
  text: write(lines),
  ...(continuations.length > 0 ? { continuations: continuations.map(write) } : {}),
});

const textOf = (content: Content, format: Format): TelegramText => {
  switch (format) {
    case 'rich':
      return { ...render(layOut(content, format), toHtml), parse_mode: 'HTML' };
    case 'plain':
      return render(layOut(content, format), toPlain);
    case 'minimal':
      return { text: toPlain(minimal(content)) };
  }
};

/** One message for each alert, in the parcel's order. */
export const composeTelegram = (
  { destination, alerts }: Parcel,
  { chains, sentAt, format }: ComposeContext,
): Message<TelegramText>[] =>
  alerts.map((alert: Alert) => ({
    destination,
    alerts: [alert],
    id: deliveryId(alert.id, destination.id),
    body: textOf(describe(alert, chains, sentAt), format),
  }));
