/** "Did you mean": the known word nearest to a mistyped one. */

/** Edits (insert, drop, change, swap of neighbours) from one word to the other; optimal string alignment distance. */
const distance = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(a.length, b.length);
};

const fold = (word: string): string => word.toLowerCase().replace(/[-_\s]/g, '');

const LONGEST_WORD = 40;

/** The nearest of `known`, if no more than a third of it is mistyped; case, `-` and `_` do not count. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  if (word.length > LONGEST_WORD) return undefined;
  const [best] = known
    .map((candidate) => ({ candidate, edits: distance(fold(word), fold(candidate)) }))
    .filter(
      ({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)) && edits < candidate.length,
    )
    .toSorted((a, b) => a.edits - b.edits);
  return best?.candidate;
};

/** Goes on from what is wrong with the word; empty where nothing is near. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : `; did you mean '${near}'?`;
};
