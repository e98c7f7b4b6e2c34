/** What happened: what detectors say, a stored notification or an announcement, in the room that a message has for it. */
import { beginningOf, cleanLine, counted, shorten, unquoted } from '../../text.ts';
import type { Format } from '../channel.ts';
import { boundDetection, type Content, type Detection, fairShares } from '../content/content.ts';
import { moreProtocols } from '../content/heading.ts';
import {
  type Block,
  disarm,
  disarmEach,
  entitiesIn,
  type Line,
  lengthOf,
  lineOf,
  lineToPlain,
  TEXT_LIMIT,
} from './lines.ts';

/** Room for the line that says what is left out. */
const REMARK_ROOM = 60;

interface Said {
  /** Below the title. */
  first: Block[];
  /** In full, where a reader has to tap. */
  folded: Block[];
}

interface Room {
  format: Format;
  /** UTF-16 units. */
  units: number;
  entities: number;
  /** Epoch milliseconds. */
  now: number;
}

/** Several entities in each line of ours: a sign, a time, a linked transaction. */
const OUR_ENTITIES = 12;

/** An announcement: our own words, with commands that can be copied and transactions that are linked. */
const ourLines = (content: Content, format: Format, now: number): Line[] =>
  content.messageLines === undefined || format !== 'rich'
    ? messageLines(content)
    : disarmEach(
        content.messageLines.map((line) => lineOf(line, now)),
        Number.POSITIVE_INFINITY,
        OUR_ENTITIES,
      );

/** A stored notification or an announcement, whole; undefined where it has no room. */
const asMessage = (content: Content, { format, units, entities, now }: Room): Said | undefined => {
  const { isOurs } = content;
  const lines = isOurs ? ourLines(content, format, now) : messageLines(content);
  const cost = isOurs ? 0 : quoteCost(format) * lines.length;
  if (lengthOf(lines) + cost > units || (isOurs && entitiesIn(lines) > entities)) return undefined;
  return { first: [isOurs ? { lines: disarm(lines, entities) } : quoted(disarm(lines, entities), format)], folded: [] };
};

/** Its beginning, in any room. */
export const beginningOfMessage = (content: Content, { format, units, entities, now }: Room): Block => {
  const { isOurs, message = '' } = content;
  if (isOurs) return { lines: disarm(firstLines(ourLines(content, format, now), units), entities) };
  const lines = messageLines({ message: beginningOf(message, units) });
  if (format !== 'rich') return { lines: firstLines(quoted(lines, format).lines, units) };
  return quoted(disarm(firstLines(lines, units), entities), format);
};

/** Where addresses are short in what is shown first. */
const isShortened = ({ gist, detections }: Content): boolean =>
  gist.some(({ message }, index) => detections[index]?.message.startsWith(message.replace(/…$/, '')) !== true);

/** What is shown first, where that is not all; none else. Few lines of several protocols are read at once. */
const briefLines = (content: Content, { format, units }: Room, needed: number): Line[] => {
  const { gist, detections, protocols } = content;
  const cost = quoteCost(format);
  if (protocols !== undefined) return detectionLines(gist, Math.min(SEVERAL_LIMIT, units / 2), cost);
  const isLong = detections.length > 1 && needed > VISIBLE_LIMIT;
  return format === 'rich' && (isLong || isShortened(content)) ? detectionLines(gist, VISIBLE_LIMIT, cost) : [];
};

/** A long text of one detector must not push what others say out of sight: each has its share, and the whole is folded. */
const asDetections = (content: Content, place: Room): Said => {
  const { format, units, entities } = place;
  const { detections } = content;
  const cost = quoteCost(format);
  const whole = wholeDetections(detections);
  const needed = lengthOf(whole) + cost * whole.length;
  const brief = briefLines(content, place, needed);
  const more = moreProtocols(content);
  const below: Line[] = brief.length === 0 || more === '' ? [] : [[{ text: more }]];
  const room = units - lengthOf([...brief, ...below]) - cost * brief.length;
  const full = detectionLines(detections, needed <= room ? room : room - REMARK_ROOM, cost);
  const remark: Block = { lines: omissionLines(detections, whole, full) };
  const block = (lines: readonly Line[], limit: number): Block => quoted(disarm(lines, limit), format);
  if (brief.length === 0) return { first: [block(full, entities), remark], folded: [] };
  const half = Math.floor(entities / 2);
  const first = [quoted(disarm(brief, half), format, SEVERAL_LIMIT), { lines: below }];
  return { first, folded: [block(full, half), remark] };
};

/** What happened, in the room that there is: what detectors say is cut, and counted. Undefined for a text that has no room. */
export const saidOf = (content: Content, room: Room): Said | undefined => {
  if (content.message !== undefined) return asMessage(content, room);
  if (content.detections.length > 0) return asDetections(content, room);
  // The notice of a follow-up says it, a template in its own words, and that no detector is named stands below.
  return { first: [], folded: [] };
};

/** UTF-16 units, where nothing is cut. */
export const neededFor = (content: Content, format: Format): number => {
  const lines = content.message === undefined ? wholeDetections(content.detections) : messageLines(content);
  const brief = content.protocols === undefined ? VISIBLE_LIMIT : SEVERAL_LIMIT;
  return lengthOf(lines) + quoteCost(format) * lines.length + brief;
};

// What happened, in the words of the service: text from outside, so it stands in a quote.

/** What a reader sees before a tap: longer texts are folded. */
const VISIBLE_LIMIT = 450;
/** Of the lines of several protocols, which are short. */
const SEVERAL_LIMIT = 900;
/** Of each detector at least this much is shown, or nothing. */
const SHARE_MIN = 60;
const NAME_LIMIT = 240;

export const NOTICE_LIMIT = 500;

export const noticeLines = (notice: string | undefined, limit = NOTICE_LIMIT): Line[] =>
  notice === undefined ? [] : [[{ text: shorten(notice, limit) }]];

const PLAIN_QUOTE = '> ';

/** UTF-16 units that a quote adds to each line. */
const quoteCost = (format: Format): number => (format === 'rich' ? 0 : PLAIN_QUOTE.length);

/** The lines as those of somebody else. */
export const quoted = (lines: readonly Line[], format: Format, limit = VISIBLE_LIMIT): Block => {
  if (format !== 'rich') return { lines: lines.map((line) => [{ text: PLAIN_QUOTE }, ...line]) };
  return { lines, as: lengthOf(lines) > limit ? 'folded' : 'quote' };
};

/** In one line, so that no line break in it can begin a line that passes for ours, and no more than a message holds. */
export const inOneLine = (detection: Detection): Detection => {
  const bound = boundDetection(detection, TEXT_LIMIT);
  return { ...bound, message: cleanLine(bound.message) };
};

/** At most `limit` UTF-16 units. In quotes of letters, too: a locked phone shows no other ones. */
const detectionLine = ({ name, message, between = ': ' }: Detection, limit: number): Line => {
  const label = shorten(unquoted(name), Math.min(NAME_LIMIT, limit - 2));
  const room = limit - label.length - 2 - between.length;
  const said = room > 0 ? shorten(unquoted(message), room) : '';
  return [{ text: '“' }, { text: label, mark: 'b' }, { text: said === '' ? '”' : `${between}${said}”` }];
};

/** What each detector said, in at most `room` UTF-16 units; `cost`: of a line beside its text. */
const detectionLines = (detections: readonly Detection[], room: number, cost: number): Line[] => {
  const shown = detections.slice(0, Math.max(1, Math.floor(room / SHARE_MIN)));
  return fairShares(shown, (one) => lengthOf(wholeDetections([one])) + cost, room).map(([one, share]) =>
    detectionLine(one, share - 1 - cost),
  );
};

const wholeDetections = (detections: readonly Detection[]): Line[] =>
  detections.map((one) => detectionLine(one, Number.POSITIVE_INFINITY));

/** Ours, below the quote. */
const omissionLines = (
  detections: readonly Detection[],
  wholeLines: readonly Line[],
  shown: readonly Line[],
): Line[] => {
  const hidden = wholeLines.length - shown.length;
  if (hidden > 0) return [[{ text: `[cut; ${counted(hidden, 'more detector')} left out]` }]];
  const before = detections.reduce((sum, { leftOut = 0 }) => sum + leftOut, 0);
  const missing = before + lengthOf(wholeLines) - lengthOf(shown);
  return missing > 0 ? [[{ text: `[${missing.toLocaleString('en')} characters left out]` }]] : [];
};

/** A stored notification as it came. */
const messageLines = ({ message = '' }: Pick<Content, 'message'>): Line[] =>
  message.split('\n').map((text) => [{ text }]);

// Cuts lines to the room that there is.

/** Room for the line that says how much was left out. */
const OMISSION_LIMIT = 80;
/** A shorter part of a long line is not worth showing. */
const PART_MIN = 200;

/** Shortens the last piece of a line, and leaves it out where that is not enough. */
export const cutLine = (line: Line, limit: number): Line => {
  const last = line.at(-1);
  if (last === undefined) return line;
  const before = line.slice(0, -1);
  const room = limit - lineToPlain(before).length;
  return room < 1 ? cutLine(before, limit) : [...before, { ...last, text: shorten(last.text, room) }];
};

/** The first lines that fit into `limit`, and a part of the next one if enough of it fits. */
const firstLines = (lines: readonly Line[], limit: number): Line[] => {
  const shown: Line[] = [];
  let room = limit;
  for (const line of lines) {
    const length = lengthOf([line]);
    if (length > room) {
      if (room > PART_MIN) shown.push(cutLine(line, room - 1));
      break;
    }
    shown.push(line);
    room -= length;
  }
  return shown;
};

/** At most `limit` UTF-16 units (at least 300); a last line says how much was left out, if anything. */
export const fitLines = (lines: readonly Line[], limit: number): Line[] => {
  const length = lengthOf(lines);
  if (length <= limit) return [...lines];
  const shown = firstLines(lines, limit - OMISSION_LIMIT);
  return [...shown, [{ text: `[${(length - lengthOf(shown)).toLocaleString('en')} characters left out]` }]];
};
