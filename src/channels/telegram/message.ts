/**
 * Alerts as Telegram messages: one for each incident, or one digest. Sources: https://core.telegram.org/bots/api#sendmessage
 * and #senddocument
 */
import type { Alert, Parcel } from '../../alert.ts';
import type { Sliced } from '../../chunks.ts';
import { shorten } from '../../text.ts';
import type { ComposeContext, Format, Message } from '../channel.ts';
import { type Content, type Fact, fairShares, INDISPENSABLE, noticesOf } from '../content/content.ts';
import { describeIncident } from '../content/describe.ts';
import { ownTitled } from '../content/heading.ts';
import { describeNews } from '../content/news.ts';
import { wordingOf } from '../content/reading.ts';
import { isSilent } from '../content/severity.ts';
import { describeDigest } from '../digest.ts';
import type { DigestContent, DigestFile } from '../digest-content.ts';
import { messagesOf } from '../incidents.ts';
import { wholeFile } from '../whole.ts';
import { layOutDigest, minimalDigest, minimalParts } from './digest.ts';
import {
  apart,
  BLANK,
  type Block,
  blocksToHtml,
  blocksToPlain,
  CAPTION_LIMIT,
  disarmEach,
  ENTITIES_MAX,
  entitiesIn,
  type Keyboard,
  keyboardOf,
  type Line,
  lengthOf,
  lineOf,
  linesIn,
  type Piece,
  QUOTES_MAX,
  TEXT_LIMIT,
  takesLink,
  toPlain,
} from './lines.ts';
import { beginningOfMessage, cutLine, fitLines, inOneLine, neededFor, noticeLines, quoted, saidOf } from './said.ts';

export interface TelegramBody {
  /** The text, or the caption of `file`. */
  text: string;
  /** It changes the caption of a document that was sent before. */
  isCaption?: true;
  /** Absent: `text` is plain. */
  parse_mode?: 'HTML';
  /** Buttons below the first part. */
  reply_markup?: Keyboard;
  /** Arrives without a sound. */
  disable_notification?: true;
  /** All of it, where the text has no room. Sent as a document. */
  file?: DigestFile;
}

const textOf = (blocks: readonly Block[], format: Format): Pick<TelegramBody, 'text' | 'parse_mode'> =>
  format === 'rich' ? { text: blocksToHtml(blocks), parse_mode: 'HTML' } : { text: blocksToPlain(blocks) };

const singleBody = (content: Content, alerts: readonly Alert[], format: Format, sentAt: number): TelegramBody => {
  if (format === 'minimal') return { text: toPlain(minimalLines(content)) };
  const blocks = layOut(content, format, sentAt);
  const laidOut =
    blocks === undefined
      ? { ...textOf(captionOf(content, format, sentAt), format), file: wholeFile(content, alerts) }
      : textOf(blocks, format);
  // Buttons may be what a message was refused for, so only the first format has them.
  const keyboard = format === 'rich' ? keyboardOf(content.links) : undefined;
  return { ...laidOut, ...(keyboard === undefined ? {} : { reply_markup: keyboard }) };
};

function* digestBody(content: DigestContent, format: Format, sentAt: number): Sliced<TelegramBody> {
  if (format === 'minimal') return { text: toPlain(minimalDigest(content)) };
  const { blocks, file } = yield* layOutDigest(content, format, sentAt);
  return { ...textOf(blocks, format), ...(file ? { file } : {}) };
}

/** The messages of a parcel. A digest is one message; the minimal format has no file, so it takes as many as its hashes need. */
export function* composeTelegram(parcel: Parcel, context: ComposeContext): Sliced<Message<TelegramBody>[]> {
  const wording = wordingOf(context);
  const { format } = context;
  const digest = (part: readonly Alert[]): Sliced<DigestContent> => describeDigest(part, wording, context.storm);
  const heard = (alerts: readonly Alert[], body: TelegramBody): TelegramBody =>
    alerts.every(isSilent) ? { ...body, disable_notification: true } : body;
  return yield* messagesOf<TelegramBody>(parcel, {
    *single(alerts) {
      const content = yield* context.heard === undefined
        ? describeIncident(alerts, wording)
        : describeNews(alerts, context.heard, wording);
      return heard(alerts, singleBody(content, alerts, format, wording.sentAt));
    },
    *digest(alerts) {
      return heard(alerts, yield* digestBody(yield* digest(alerts), format, wording.sentAt));
    },
    split: format === 'minimal' ? (alerts) => minimalParts(alerts, wording, digest) : undefined,
  });
}

// One incident. The title and what happened come first: they are what a locked phone shows. Then who and what, one line of
// times, and everything else folded.

const HEAD_ENTITIES = 10;
const ABOUT_ENTITIES = 25;
const DETAILS_ENTITIES = 45;
/** A line names three contracts, each with a link. */
const LINE_ENTITIES = 12;

const TITLE_LIMIT = 240;
const ABOUT_LIMIT = 900;
/** The words of a template stand there, in the place of what happened. */
const TEMPLATE_LIMIT = 2100;
const LINKS_LIMIT = 500;
const DETAILS_MIN = 1300;
/** Of the details. */
const HEADING_ROOM = 20;
const VALUE_LIMIT = 160;

const eachNotice = (notices: readonly string[]): Line[] => notices.flatMap((notice) => noticeLines(notice));

/** As text, where a button cannot be. */
const linkLines = ({ links }: Content, format: Format): Line[] => {
  const lines = links
    .filter(({ url }) => format !== 'rich' || !takesLink(url))
    .map(({ label, url }): Line => [{ text: `${label}: ` }, { text: url, mark: 'code' }]);
  return lines.filter((_, index) => lengthOf(lines.slice(0, index + 1)) <= LINKS_LIMIT);
};

const headOf = (content: Content, notices = eachNotice(noticesOf(content).above)): Line[] => [
  [{ text: shorten(content.title, TITLE_LIMIT), mark: 'b' }],
  ...notices,
  // A locked phone shows no quote.
  ...(content.message === undefined || content.isOurs ? [] : [[{ text: 'The service wrote:' }]]),
];

/** Who and what, the times, and links. The times are ours. */
const aboutOf = (content: Content, format: Format, now: number): Line[] => {
  const { lines, times, detections, message } = content;
  const limit = detections.length === 0 && message === undefined ? TEMPLATE_LIMIT : ABOUT_LIMIT;
  const about = fitLines(
    lines.map((line) => lineOf(line, now)),
    limit,
  );
  return [
    ...disarmEach(about, ABOUT_ENTITIES, LINE_ENTITIES),
    ...(times.length > 0 ? [lineOf(times, now)] : []),
    ...linkLines(content, format),
  ];
};

const detailsOf = ({ details }: Content, room: number): Line[] =>
  details.length === 0
    ? []
    : [[{ text: 'Details', mark: 'b' }], ...disarmEach(factLines(details, room), DETAILS_ENTITIES)];

/** Undefined for a stored notification or an announcement that has no room. `now`: epoch milliseconds. */
export const layOut = (whole: Content, format: Format, now: number): Block[] | undefined => {
  const { gist, detections } = whole;
  const content = { ...ownTitled(whole), gist: gist.map(inOneLine), detections: detections.map(inOneLine) };
  const head = disarmEach(headOf(content), HEAD_ENTITIES);
  const notice = disarmEach(eachNotice(noticesOf(content).below), HEAD_ENTITIES);
  const about = aboutOf(content, format, now);
  // The last line has no line feed; blank lines stand before who and what, before the details, and before what is folded.
  const free = TEXT_LIMIT + 1 - lengthOf([...head, ...notice, ...about, BLANK, BLANK, BLANK]);
  const room = Math.min(free - HEADING_ROOM, Math.max(DETAILS_MIN, free - neededFor(content, format)));
  const details = detailsOf(content, room);
  const said = saidOf(content, {
    format,
    units: free - lengthOf(details),
    entities: ENTITIES_MAX - QUOTES_MAX - entitiesIn([...head, ...notice, ...about, ...details]),
    now,
  });
  if (said === undefined) return undefined;
  // Telegram folds only what is long: a few lines go with the details.
  const { short = [], long = [] } = Object.groupBy(said.folded, ({ as }) => (as === 'quote' ? 'short' : 'long'));
  const below = [...details, ...linesIn(short)];
  const fold: Block = { lines: below, ...(format === 'rich' ? { as: 'folded' as const } : {}) };
  return [
    { lines: head },
    ...[...said.first, { lines: notice }].filter(({ lines }) => lines.length > 0),
    ...apart([{ lines: about }]),
    ...apart(long),
    ...apart([fold]),
  ];
};

// A text that has no room in a message: its beginning is the caption of a file that has everything.

const IN_CAPTION = { title: 140, notice: 120, about: 300 };
const CAPTION_ENTITIES = { head: 10, said: 40, tail: 30 };

const captionOf = (whole: Content, format: Format, now: number): Block[] => {
  const content = ownTitled(whole);
  const { message = '', lines, times, isOurs } = content;
  const { above, below } = noticesOf(content);
  const noticed = (notices: readonly string[]): Line[] =>
    notices.flatMap((notice) => noticeLines(notice, IN_CAPTION.notice));
  const title = shorten(content.title, IN_CAPTION.title);
  const head = disarmEach(headOf({ ...content, title }, noticed(above)), CAPTION_ENTITIES.head);
  const about = fitLines(
    lines.map((line) => lineOf(line, now)),
    IN_CAPTION.about,
  );
  const tail = disarmEach(
    [
      [{ text: `[the whole text, ${message.length.toLocaleString('en')} characters, is in the file]` }],
      ...noticed(below),
      ...about,
      ...(times.length > 0 ? [lineOf(times, now)] : []),
    ],
    CAPTION_ENTITIES.tail,
    LINE_ENTITIES,
  );
  const said = beginningOfMessage(content, {
    format,
    units: CAPTION_LIMIT + 1 - lengthOf([...head, ...tail, BLANK]),
    entities: CAPTION_ENTITIES.said,
    now,
  });
  return [{ lines: head }, said, ...(isOurs ? apart([{ lines: tail }]) : [{ lines: tail }])];
};

/** Of a follow-up the notice says it. */
const happenedLines = ({ happened, isOurs, isFollowUp }: Content): readonly Line[] => {
  if (isFollowUp) return [];
  return isOurs ? [[{ text: happened }]] : quoted([[{ text: happened }]], 'minimal').lines;
};

/** The indispensable facts, one in each line; what the service says is quoted. */
const minimalLines = (content: Content): Line[] => [
  [{ text: shorten(content.title, TITLE_LIMIT) }],
  ...eachNotice(noticesOf(content).above),
  ...happenedLines(content),
  ...eachNotice(noticesOf(content).below),
  ...content.details
    .filter(({ label }) => INDISPENSABLE.has(label))
    .map(({ label, value }) => [{ text: `${label}: ${shorten(value, VALUE_LIMIT)}` }]),
];

// The folded part of a message: everything in full, and each value alone, so that a tap copies it.

const FACT_LIMIT = 600;
const NOTE_LIMIT = 100;
/** Room for the line that says how many are left out. */
const MORE_LIMIT = 30;

/** Of a fact of one protocol, where not all facts fit: a hash does. */
const TIGHT_LIMIT = 66;

const valuePiece = ({ value, code, isHeading }: Fact, limit: number): Piece => {
  const text = shorten(value, limit);
  if (isHeading) return { text, mark: 'b' };
  return code ? { text, mark: 'code' } : { text };
};

const factLine = (fact: Fact, limit = FACT_LIMIT): Line => [
  { text: `${fact.label}: ` },
  valuePiece(fact, limit),
  ...(fact.note === undefined ? [] : [{ text: ` (${shorten(fact.note, Math.min(NOTE_LIMIT, limit))})` }]),
];

/** The first lines that fit, and of the very first at least its beginning. */
const fitGroup = (lines: readonly Line[], room: number): Line[] => {
  const [first = [], ...others] = lines;
  if (lengthOf(lines) <= room) return [...lines];
  if (others.length === 0) return [cutLine(first, room - 1)];
  const shown = [cutLine(first, room - MORE_LIMIT - 1)];
  let left = room - MORE_LIMIT - lengthOf(shown);
  for (const line of others) {
    left -= lengthOf([line]);
    if (left < 0) break;
    shown.push(line);
  }
  return [...shown, [{ text: `[${lines.length - shown.length} more left out]` }]];
};

/** The facts in at most `room` UTF-16 units (at least 1300); the longest lists give way first. What is of protocols is one. */
const factLines = (facts: readonly Fact[], room: number): Line[] => {
  const listOf = ({ label, isOfOne }: Fact): string => (isOfOne ? '' : label);
  const isTight = lengthOf(facts.map((one) => factLine(one))) > room;
  const groups = [...Map.groupBy(facts, listOf).values()].map((same) =>
    same.map((one) => factLine(one, isTight && one.isOfOne ? TIGHT_LIMIT : FACT_LIMIT)),
  );
  return fairShares(groups, lengthOf, room).flatMap(([lines, share]) => fitGroup(lines, share));
};
