/** Cuts lines to the room that there is, or spreads them over several messages. */
import { packed } from '../../chunks.ts';
import { beginningOf, shorten } from '../../text.ts';
import { entitiesIn, type Line, lengthOf, lineToPlain } from './lines.ts';

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
const head = (lines: readonly Line[], limit: number): Line[] => {
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
  const shown = head(lines, limit - OMISSION_LIMIT);
  return [...shown, [{ text: `[${(length - lengthOf(shown)).toLocaleString('en')} characters left out]` }]];
};

export interface PartSize {
  /** UTF-16 units that a line takes beside its text. Default 0. */
  cost?: number;
  /** Of a part. Default: any number. */
  entities?: number;
}

/**
 * The whole text in parts of at most `limit` UTF-16 units, cut between lines. Only a line that is longer than a part is cut,
 * and loses its markup.
 */
export const splitLines = (lines: readonly Line[], limit: number, { cost = 0, entities }: PartSize = {}): Line[][] =>
  packed(
    lines.flatMap((line) => foldLine(line, limit - cost)),
    limit,
    (line) => Math.max(lengthOf([line]) + cost, (entitiesIn([line]) * limit) / (entities ?? Number.POSITIVE_INFINITY)),
  );

/** A line that is longer than a part becomes several lines without markup. */
const foldLine = (line: Line, limit: number): Line[] => {
  const text = lineToPlain(line);
  if (text.length < limit) return [line];
  const folded: Line[] = [];
  for (let rest = text; rest !== ''; ) {
    const piece = foldedPiece(rest, limit - 1);
    folded.push([{ text: piece.trimEnd() }]);
    rest = rest.slice(piece.length);
  }
  return folded;
};

/** The first piece of a long line: cut at a space in its second half, else between two characters. */
const foldedPiece = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const space = text.lastIndexOf(' ', limit - 1);
  return space > limit / 2 ? text.slice(0, space + 1) : beginningOf(text, limit);
};
