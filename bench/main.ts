/**
 * Prints each row of the table in docs/performance.md with its yardstick, and fails where one has become worse.
 *
 *   node bench/main.ts [--quick] [--only alerts,crash] [--repeat 5] [--alerts 10000] [--minutes 2]
 *     [--program FILE] [--json FILE] [--write]
 *
 * `--quick`: less of everything, in about seven minutes. `--only`: these benches. `--minutes`: how long alerts flow to all
 * kinds. `--program`: what runs as the daemon, such as `src/main.ts` of another version; left out: this tree's, built as
 * for the image. `--json`: writes what was measured. `--write`: writes down what later runs are compared with.
 */
import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { resolve } from 'node:path';
import { readExpected, writeExpected } from './expected.ts';
import { type Bench, type BenchOptions, isMet, type Row, watchedOf } from './row.ts';
import { measure as alerts } from './rows/alerts.ts';
import { measure as crash } from './rows/crash.ts';
import { measure as fair } from './rows/fair.ts';
import { measure as fresh } from './rows/fresh.ts';
import { measure as latency } from './rows/latency.ts';
import { measure as ledger } from './rows/ledger.ts';
import { measure as polls } from './rows/polls.ts';
import { measure as single } from './rows/single.ts';
import { measure as start } from './rows/start.ts';
import { measure as steady } from './rows/steady.ts';
import { measure as ten } from './rows/ten.ts';
import { measure as two } from './rows/two.ts';
import { measure as waiting } from './rows/waiting.ts';
import { optionsOf, positive, print, refuse, run } from './run.ts';
import { openProgram } from './stage/image.ts';
import { printRows } from './table.ts';

const BENCHES: Readonly<Record<string, Bench>> = {
  alerts,
  ten,
  single,
  steady,
  ledger,
  waiting,
  polls,
  start,
  fresh,
  latency,
  crash,
  two,
  fair,
};
const REPEAT = { full: 5, quick: 2 };
const ALERTS = { full: 10_000, quick: 5000 };

const values = optionsOf({
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: Object.keys(BENCHES).join(',') },
  repeat: { type: 'string' },
  alerts: { type: 'string' },
  minutes: { type: 'string', default: '2' },
  program: { type: 'string' },
  json: { type: 'string' },
  write: { type: 'boolean', default: false },
});

const chosen = (): [string, Bench][] =>
  values.only.split(',').map((name) => {
    const bench = BENCHES[name];
    return bench ? [name, bench] : refuse(`--only: no bench ${name}; there are ${Object.keys(BENCHES).join(', ')}`);
  });

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const machine = (): string =>
  `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, load average ${loadavg()
    .map((load) => load.toFixed(1))
    .join(' ')}`;

const asJson = (rows: readonly Row[]): string =>
  JSON.stringify(
    {
      at: new Date().toISOString(),
      machine: machine(),
      rows: rows.map((row) => ({ ...row, watched: watchedOf(row), met: isMet(row) })),
    },
    undefined,
    2,
  );

await run(async () => {
  const size = values.quick ? 'quick' : 'full';
  const options: BenchOptions = {
    program: await openProgram(values.program && resolve(values.program)),
    quick: values.quick,
    repeat: positive('repeat', values.repeat ?? String(REPEAT[size])),
    alerts: positive('alerts', values.alerts ?? String(ALERTS[size])),
    minutes: positive('minutes', values.minutes),
    say,
  };
  print(machine());
  const rows: Row[] = [];
  for (const [name, bench] of chosen()) {
    say(`${name} ...`);
    rows.push(...(await bench(options)));
  }
  print('');
  const isGood = printRows(rows, await readExpected());
  if (values.json !== undefined) await writeFile(values.json, `${asJson(rows)}\n`);
  if (values.write) await writeExpected(rows);
  return isGood || values.write;
});
