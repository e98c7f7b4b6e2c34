/** A row of the table: what was measured, the yardstick of the same run beside it, what is wanted. */
export interface Row {
  /** Its name in `expected.json` and for `--only`. */
  key: string;
  work: string;
  unit: string;
  measured: number;
  /** In the same unit, of the same run. `ratio`: the median of those of the repetitions. */
  yardstick?: { name: string; measured: number; ratio?: number };
  /** Why there is no yardstick, or what else was seen. */
  note?: string;
  wanted: Wanted;
}

/** A bound of the measured value, or of its ratio to the yardstick. `most`: less is better; `least`: more is. */
export type Wanted = { of: 'ratio' | 'value' } & ({ most: number } | { least: number });

/** What is compared with what is wanted and with what was written down; undefined where the yardstick is missing. */
export const judgedOf = ({ measured, yardstick, wanted }: Row): number | undefined => {
  if (wanted.of === 'value') return measured;
  return yardstick === undefined ? undefined : (yardstick.ratio ?? measured / yardstick.measured);
};

export const isMet = (row: Row): boolean | undefined => {
  const judged = judgedOf(row);
  if (judged === undefined) return undefined;
  return 'most' in row.wanted ? judged <= row.wanted.most : judged >= row.wanted.least;
};

/** Worse than what was written down by more than this fails. */
const TOLERANCE = 1.25;

/** NaN, where something was not to be measured, is worse too. */
export const isWorse = (row: Row, expected: number | undefined): boolean => {
  const judged = judgedOf(row);
  if (judged === undefined || expected === undefined) return false;
  return 'most' in row.wanted ? !(judged <= expected * TOLERANCE) : !(judged >= expected / TOLERANCE);
};

/** What every bench gets. */
export interface BenchOptions {
  /** What is run as the daemon: `src/main.ts` of this tree or of another version. */
  program: string;
  /** Less of everything, for people in a hurry. */
  quick: boolean;
  /** Repetitions; the median of them counts. */
  repeat: number;
  /** So many at once, where the cost of one is measured. */
  alerts: number;
  /** Of the bench that shows whether memory stays. */
  minutes: number;
  /** Says how far it is. */
  say(line: string): void;
}

export type Bench = (options: BenchOptions) => Promise<Row[]>;
