/**
 * What detectors say, as a message shows it first: each has a share of the room, so that one that says much pushes out neither
 * the others nor who and what. Only beginnings are looked at: a text may be a thousand times longer than what is shown. Pure.
 */
import { beginningOf, cleanLine, counted, shorten } from '../../text.ts';
import { type Detection, fairShares } from './content.ts';

const NAME_LIMIT = 300;
/** Characters of all detectors together that are shown first, and how many detectors are. */
const FIRST = { characters: 500, detections: 8 };
/** Characters that are cleaned to show some of them: more than enough, unless a text is nothing but spaces. */
const CLEANED = 4 * FIRST.characters;

/** The beginning of a text in one line; `most`: how much of it is looked at. An ellipsis shows that there is more. */
export const saidLine = (message: string, most = CLEANED): string =>
  message.length <= most ? cleanLine(message) : `${cleanLine(beginningOf(message, most))}…`;

export interface Said {
  /** In one line each. */
  first: Detection[];
  /** Detectors that are not among them. */
  more: number;
  /** What is not, or not in full, among the first. */
  whole: Detection[];
}

/** Says how many detectors are not among the first; empty for none. */
export const moreText = ({ more }: Pick<Said, 'more'>): string =>
  more === 0 ? '' : `And ${counted(more, 'more detector')}, see below.`;

/** What a message shows first of its detectors; pure. For the bounds see `FIRST`. */
export const saidFirst = (detections: readonly Detection[]): Said => {
  const lines = detections
    .slice(0, FIRST.detections)
    .map(({ id, name, message }) => ({ id, name: shorten(name, NAME_LIMIT), message: saidLine(message) }));
  const shares = fairShares(
    lines.map(({ message }) => message.length),
    FIRST.characters,
  );
  const first = lines.map((line, index) => ({ ...line, message: shorten(line.message, shares[index] ?? 0) }));
  const isWhole = ({ name, message, leftOut }: Detection, index: number): boolean =>
    message.length <= CLEANED &&
    leftOut === undefined &&
    first[index]?.message === lines[index]?.message &&
    first[index]?.name === name;
  return {
    first,
    more: detections.length - first.length,
    whole: detections.filter((detection, index) => !isWhole(detection, index)),
  };
};
