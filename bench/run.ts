/** What the benches have in common as programs: options, tables, exit codes. */
import { readFileSync } from 'node:fs';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** Ends the program, as its options make no sense. */
export const refuse = (why: string): never => {
  process.stderr.write(`${why}\n--help lists the options\n`);
  process.exit(1);
};

/** The program's options. `--help` shows the comment that its file begins with, and ends it. */
export const optionsOf = <Options extends ParseArgsOptionsConfig>(options: Options) => {
  const parse = () => {
    try {
      return parseArgs({ options: { ...options, help: { type: 'boolean' } } as Options }).values;
    } catch (error) {
      return refuse(error instanceof Error ? error.message : String(error));
    }
  };
  const values = parse();
  if ('help' in values) {
    const [, comment = ''] = /\/\*\*\n(.*?) \*\//s.exec(readFileSync(process.argv[1] ?? '', 'utf8')) ?? [];
    print(comment.replaceAll(/^ \* ?/gm, '').trimEnd());
    process.exit(0);
  }
  return values;
};

/** Of `--NAME TEXT`. */
export const positive = (name: string, text: string): number => {
  const number = Number(text);
  return number > 0 ? number : refuse(`--${name} takes a number above 0`);
};

/** `--name N` for each key of `defaults`. */
export const numbersOf = <Name extends string>(defaults: Record<Name, number>): Record<Name, number> => {
  const names = Object.keys(defaults) as Name[];
  const values = optionsOf(Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])));
  const numberOf = (name: Name): number => {
    const number = Number(values[name] ?? defaults[name]);
    return Number.isFinite(number) ? number : refuse(`--${name} takes a number`);
  };
  return Object.fromEntries(names.map((name) => [name, numberOf(name)])) as Record<Name, number>;
};

/** The value that a share of all does not exceed; NaN where there is none. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? Number.NaN;

export const medianOf = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
};

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** The first column to the left, all others to the right. */
export const printTable = (rows: readonly (readonly string[])[]): void => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  for (const row of rows) print(row.map(pad).join('  ').trimEnd());
};

/** Rejects at the first signal to stop, so that nothing that was started is left behind. */
export const interruption = (): Promise<never> => {
  const { promise, reject } = Promise.withResolvers<never>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => reject(new Error('interrupted')));
  promise.catch(() => {});
  return promise;
};

/** Ends the program: 0, or 2 where the bench says that a bar was missed. */
export const run = async (bench: () => Promise<boolean>): Promise<never> => {
  try {
    process.exit((await bench()) ? 0 : 2);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  }
};
