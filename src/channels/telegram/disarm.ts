/** What would be clickable in text from outside, made harmless. */
import { entitiesIn, type Line, type Piece, toPlain } from './lines.ts';

/**
 * Words that Telegram makes clickable by itself: links and e-mail addresses, mentions (which notify people), hash tags
 * and cash tags, bot commands, phone numbers. Inside code it leaves them alone.
 * Source: https://core.telegram.org/bots/api#messageentity; tdlib/td `MessageEntity.cpp`, `find_entities`.
 */
const CLICKABLE = /[@#\uff03]|(?<!\w)\/|\$\p{L}|\+\d|\.[^\d.]|\d\.\d+\.\d+\.\d/u;

const OPENS = /[\p{Ps}\p{Pi}"'<]/u;
const CLOSES = /[\p{Pe}\p{Pf}"'>.,;:!?…]/u;

/** Where a word begins and ends without the quotation marks, brackets and full stops around it; in time linear in it. */
const coreOf = (word: string): readonly [start: number, end: number] => {
  let start = 0;
  let end = word.length;
  while (start < end && OPENS.test(word.charAt(start))) start += 1;
  while (end > start && CLOSES.test(word.charAt(end - 1))) end -= 1;
  return [start, end];
};

const disarmPiece = (piece: Piece): Piece[] => {
  const { text, mark, href, time } = piece;
  if (href !== undefined || time !== undefined || mark === 'code' || mark === 'pre') return [piece];
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: whole, index } of text.matchAll(/\S+/g)) {
    const [from, to] = coreOf(whole);
    const word = whole.slice(from, to);
    if (!CLICKABLE.test(word)) continue;
    pieces.push({ ...piece, text: text.slice(end, index + from) }, { text: word, mark: 'code' });
    end = index + to;
  }
  pieces.push({ ...piece, text: text.slice(end) });
  return pieces.filter((part) => part.text !== '');
};

/**
 * The same text without anything that Telegram makes clickable. Telegram drops all entities beyond the hundredth, so lines
 * that need more than `limit` of them become one block.
 */
export const disarm = (lines: readonly Line[], limit: number): Line[] => {
  const disarmed = lines.map((line) => line.flatMap(disarmPiece));
  return entitiesIn(disarmed) <= limit ? disarmed : [[{ text: toPlain(lines), mark: 'pre' }]];
};

/** Entities for one line: enough for a label and a value. */
const LINE_ENTITIES = 3;

/** `disarm` line by line; as one block where that takes more than `limit` entities. */
export const disarmEach = (lines: readonly Line[], limit: number, perLine = LINE_ENTITIES): Line[] => {
  const each = lines.flatMap((line) => disarm([line], perLine));
  return entitiesIn(each) <= limit ? each : disarm(lines, limit);
};

/** A text for a place without markup: words that Telegram would make clickable are left out, visibly. */
export const withoutClickable = (text: string): string =>
  text.replace(/\S+/g, (word) => (CLICKABLE.test(word) ? '…' : word));
