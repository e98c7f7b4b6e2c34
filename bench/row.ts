/** A row of the table: what was measured, the yardstick of the same run beside it, what is wanted. */
export interface Row {
  /** Its name in `expected.json` and for `--only`. */
  key: string;
  work: string;
  unit: string;
  measured: number;
  /** It was not waited for any longer: it is more than that. */
  isLeast?: boolean;
  /** In the same unit, of the same run. `ratio`: the median of those of the repetitions. */
  yardstick?: { name: string; measured: number; ratio?: number };
  /** Why there is no yardstick, or what else was seen. */
  note?: string;
  wanted: Wanted;
  /** What is compared with earlier runs. A time is the machine's as well, so its ratio is. Default: as `wanted`. */
  watched?: Side;
}

/** A bound of the measured value, or of its ratio to the yardstick. `most`: less is better; `least`: more is. */
export type Wanted = { of: Side } & ({ most: number } | { least: number });

export type Side = 'ratio' | 'value';

const sideOf = ({ measured, yardstick }: Row, side: Side): number | undefined => {
  if (side === 'value') return measured;
  return yardstick === undefined ? undefined : (yardstick.ratio ?? measured / yardstick.measured);
};

/** What is compared with what was written down; undefined where its yardstick is missing. */
export const watchedOf = (row: Row): number | undefined => sideOf(row, row.watched ?? row.wanted.of);

/** Undefined where its yardstick is missing. */
export const isMet = (row: Row): boolean | undefined => {
  const side = sideOf(row, row.wanted.of);
  if (side === undefined) return undefined;
  return 'most' in row.wanted ? side <= row.wanted.most : side >= row.wanted.least;
};

/** Worse than what was written down by more than this fails. */
const TOLERANCE = 1.25;

/** NaN, where something was not to be measured, is worse too. */
export const isWorse = (row: Row, expected: number | undefined): boolean => {
  const side = watchedOf(row);
  if (side === undefined || expected === undefined) return false;
  return 'most' in row.wanted ? !(side <= expected * TOLERANCE) : !(side >= expected / TOLERANCE);
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
