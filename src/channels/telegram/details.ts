/** The folded part of a message: everything in full, and each value alone, so that a tap copies it. */
import { shorten } from '../../text.ts';
import { type Fact, fairShares } from '../content/content.ts';
import { cutLine } from './fit.ts';
import { type Line, lengthOf, type Piece } from './lines.ts';

const VALUE_LIMIT = 600;
const NOTE_LIMIT = 100;
/** Room for the line that says how many are left out. */
const MORE_LIMIT = 30;

const valuePiece = ({ value, code }: Fact): Piece => {
  const text = shorten(value, VALUE_LIMIT);
  return code ? { text, mark: 'code' } : { text };
};

const factLine = (fact: Fact): Line => [
  { text: `${fact.label}: ` },
  valuePiece(fact),
  ...(fact.note === undefined ? [] : [{ text: ` (${shorten(fact.note, NOTE_LIMIT)})` }]),
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

/** The facts in at most `room` UTF-16 units (at least 1300); the longest lists give way first. */
export const factLines = (facts: readonly Fact[], room: number): Line[] => {
  const groups = [...Map.groupBy(facts, ({ label }) => label).values()].map((same) => same.map(factLine));
  const shares = fairShares(groups.map(lengthOf), room);
  return groups.flatMap((lines, index) => fitGroup(lines, shares[index] ?? 0));
};
