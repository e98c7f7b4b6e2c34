/** What happened: what detectors say, a stored notification or an announcement, in the room that a message has for it. */
import type { Format } from '../channel.ts';
import type { Content } from '../content/content.ts';
import { disarm, disarmEach } from './disarm.ts';
import { splitLines } from './fit.ts';
import { ENTITIES_MAX, QUOTES_MAX, TEXT_LIMIT } from './limits.ts';
import { type Block, entitiesIn, type Line, lengthOf } from './lines.ts';
import { lineOf } from './pieces.ts';
import {
  detectionLines,
  messageLines,
  omissionLines,
  quoteCost,
  quoted,
  VISIBLE_LIMIT,
  wholeDetections,
} from './quotes.ts';

/** Room for the line that says which part of a long text this is, or what is left out. */
const REMARK_ROOM = 60;

export interface Said {
  /** Below the title. */
  first: Block[];
  /** In full, where a reader has to tap. */
  folded: Block[];
  continuations: Block[][];
}

export interface Room {
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

const asMessage = (content: Content, { format, units, entities, now }: Room): Said => {
  const { isOurs } = content;
  const cost = isOurs ? 0 : quoteCost(format);
  const block = (lines: readonly Line[], limit: number): Block =>
    isOurs ? { lines: disarm(lines, limit) } : quoted(disarm(lines, limit), format);
  const lines = isOurs ? ourLines(content, format, now) : messageLines(content);
  const isShort = lengthOf(lines) + cost * lines.length <= units && (!isOurs || entitiesIn(lines) <= entities);
  if (isShort) return { first: [block(lines, entities)], folded: [], continuations: [] };
  const size = { cost, ...(isOurs ? { entities } : {}) };
  const [first = [], ...rest] = splitLines(lines, units - REMARK_ROOM, size);
  const others = splitLines(rest.flat(), TEXT_LIMIT - REMARK_ROOM, size);
  const total = others.length + 1;
  const remark = (text: string): Block => ({ lines: [[{ text }]] });
  return {
    first: [block(first, entities), remark(`[continues: part 1 of ${total}]`)],
    folded: [],
    continuations: others.map((part, index) => [
      remark(`[part ${index + 2} of ${total}]`),
      block(part, ENTITIES_MAX - QUOTES_MAX),
    ]),
  };
};

/** A long text of one detector must not push what others say out of sight: each has its share, and the whole is folded. */
const asDetections = ({ detections }: Content, { format, units, entities }: Room): Said => {
  const cost = quoteCost(format);
  const whole = wholeDetections(detections);
  const needed = lengthOf(whole) + cost * whole.length;
  const isShared = format === 'rich' && detections.length > 1 && needed > VISIBLE_LIMIT;
  const brief = isShared ? detectionLines(detections, VISIBLE_LIMIT, cost) : [];
  const room = units - lengthOf(brief);
  const full = detectionLines(detections, needed <= room ? room : room - REMARK_ROOM, cost);
  const remark: Block = { lines: omissionLines(detections, whole, full) };
  const block = (lines: readonly Line[], limit: number): Block => quoted(disarm(lines, limit), format);
  if (!isShared) return { first: [block(full, entities), remark], folded: [], continuations: [] };
  const half = Math.floor(entities / 2);
  return { first: [block(brief, half)], folded: [block(full, half), remark], continuations: [] };
};

/** What happened, in the room that there is. A longer text goes on in further messages; what detectors say is cut, and counted. */
export const saidOf = (content: Content, room: Room): Said => {
  if (content.message !== undefined) return asMessage(content, room);
  if (content.detections.length > 0) return asDetections(content, room);
  // The notice of a follow-up says it, a template in its own words, and that no detector is named stands below.
  return { first: [], folded: [], continuations: [] };
};

/** UTF-16 units, where nothing is cut. */
export const neededFor = (content: Content, format: Format): number => {
  const lines = content.message === undefined ? wholeDetections(content.detections) : messageLines(content);
  return lengthOf(lines) + quoteCost(format) * lines.length + VISIBLE_LIMIT;
};
