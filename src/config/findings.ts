/** Findings of the reading stages, and how they become the problems of a `ConfigError`. */
import type { ConfigProblem } from '../errors.ts';
import { type Path, showPath } from './display.ts';
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
}

/** One problem for each finding, by their order in the file; the same rule at the same place is reported once. */
export const toProblems = (file: string, findings: readonly Finding[], placeOf: PlaceOf): ConfigProblem[] => {
  const bySentence = new Map(
    findings
      .toSorted((a, b) => a.offset - b.offset)
      .map((finding) => [`${finding.offset} ${showPath(finding.path)} ${finding.rule}`, finding]),
  );
  return [...bySentence.values()].map(({ path, offset, rule, got }) => ({
    file,
    ...placeOf(offset),
    path: showPath(path),
    rule,
    ...(got === undefined ? {} : { got }),
  }));
};
