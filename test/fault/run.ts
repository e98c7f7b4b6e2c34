/**
 * Real daemons and a real Redis through every fault, each alone; what got lost or came twice is counted at the receivers.
 *
 *   node test/fault/run.ts [--only NAME[,NAME]] [--seed N] [--list]
 *
 * `--only` takes the beginning of names. Exits with 2 where something was lost or cannot be explained.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { interruption, print, printTable, run } from '../../bench/run.ts';
import type { Fault } from './fault.ts';
import { FAULTS } from './faults.ts';
import { type Outcome, play } from './play.ts';

const { values } = parseArgs({
  options: { only: { type: 'string' }, seed: { type: 'string' }, list: { type: 'boolean', default: false } },
});
const seed = Number(values.seed ?? Date.now() % 100_000);

const chosen = (): readonly Fault[] => {
  const beginnings = values.only?.split(',') ?? [''];
  return FAULTS.filter(({ name }) => beginnings.some((beginning) => name.startsWith(beginning)));
};

const HEAD = ['fault', 'deliveries', 'lost', 'doubled', 'lasted s', 'back after s', ''];
const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const rowOf = ({ name, expected, lost, doubled, lastedMs, backAfterMs, complaints }: Outcome): string[] => [
  name,
  ...[expected, lost.length, doubled.length].map(String),
  seconds(lastedMs),
  seconds(backAfterMs),
  complaints.length > 0 ? 'FAIL' : 'ok',
];

const playAll = async (faults: readonly Fault[]): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  const interrupted = interruption();
  for (const fault of faults) {
    const outcome = await play(fault, seed, interrupted);
    outcomes.push(outcome);
    const { complaints, directory } = outcome;
    print(`${complaints.length > 0 ? 'FAIL' : 'ok  '} ${fault.name}: ${fault.what}`);
    for (const complaint of complaints) print(`     ${complaint}`);
    if (directory !== undefined) print(`     logs: ${directory}`);
  }
  return outcomes;
};

await run(async () => {
  const faults = chosen();
  if (values.list) {
    printTable([['name', 'what'], ...faults.map(({ name, what }) => [name, what])]);
    return true;
  }
  if (faults.length === 0) throw new Error(`no fault begins with ${values.only}`);
  print(`seed ${seed}; ${execFileSync('redis-server', ['--version']).toString().trim()}`);
  const outcomes = await playAll(faults);
  print('');
  printTable([HEAD, ...outcomes.map(rowOf)]);
  return outcomes.every(({ complaints }) => complaints.length === 0);
});
