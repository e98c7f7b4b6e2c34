/** Findings of the reading stages, and how they become the problems of a `ConfigError`. */
import type { ConfigProblem } from '../errors.ts';
import { type Path, showPath, showUnknownKey } from './display.ts';
import type { PlaceOf } from './positions.ts';

/** Something wrong, at a place in the text. */
export interface Finding {
  path: Path;
  /** Offset into the text, in UTF-16 units. */
  offset: number;
  /** A sentence that goes on from the path. */
  rule: string;
  /** Already fit to be shown. */
  got?: string;
  /** The last key of the path may be a secret that slipped there. */
  isUnknown?: true;
}

const shownPath = ({ path, isUnknown }: Finding): string =>
  isUnknown ? showPath([...path.slice(0, -1), showUnknownKey(String(path.at(-1)))]) : showPath(path);

/** One problem for each finding, by their order in the file; the same rule at the same place is reported once. */
export const toProblems = (file: string, findings: readonly Finding[], placeOf: PlaceOf): ConfigProblem[] => {
  const bySentence = new Map(
    findings
      .toSorted((a, b) => a.offset - b.offset)
      .map((finding) => [`${finding.offset} ${shownPath(finding)} ${finding.rule}`, finding]),
  );
  return [...bySentence.values()].map((finding) => ({
    file,
    ...placeOf(finding.offset),
    path: shownPath(finding),
    rule: finding.rule,
    ...(finding.got === undefined ? {} : { got: finding.got }),
  }));
};
