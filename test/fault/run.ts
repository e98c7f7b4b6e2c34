/**
 * Real daemons and a real Redis through every fault, each alone, then drawn at random together; what got lost or came
 * twice is counted at the receivers.
 *
 *   node test/fault/run.ts [--only NAME[,NAME]] [--seed N] [--minutes M] [--backlog N] [--markdown] [--list]
 *
 * `--only` takes the beginnings of names. `--minutes` is how long faults are drawn together, `--backlog` how many alerts
 * wait. Exits with 2 where something was lost or cannot be explained.
 */
import { execFileSync } from 'node:child_process';
import { interruption, optionsOf, positive, print, printTable, refuse, run } from '../../bench/run.ts';
import type { Fault } from './fault.ts';
import { faultsOf } from './faults.ts';
import { type Outcome, play } from './play.ts';

const values = optionsOf({
  only: { type: 'string', default: '' },
  seed: { type: 'string', default: String(1 + (Date.now() % 100_000)) },
  minutes: { type: 'string', default: '2' },
  backlog: { type: 'string', default: '20000' },
  markdown: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
});
const seed = positive('seed', values.seed);
const FAULTS = faultsOf({ backlog: positive('backlog', values.backlog), minutes: positive('minutes', values.minutes) });

const chosen = (): readonly Fault[] => {
  const beginnings = values.only.split(',');
  return FAULTS.filter(({ name }) => beginnings.some((beginning) => name.startsWith(beginning)));
};

const HEAD = ['fault', 'deliveries', 'lost', 'doubled', 'lasted s', 'back after s', ''];
const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const rowOf = ({ fault, expected, lost, doubled, lastedMs, backAfterMs, complaints }: Outcome): string[] => [
  fault.name,
  ...[expected, lost.length, doubled.length].map(String),
  seconds(lastedMs),
  seconds(backAfterMs),
  complaints.length > 0 ? 'FAIL' : 'ok',
];

/** As docs/faults.md has it, each with its command. */
const markdownOf = (outcome: Outcome): string => {
  const [name, ...cells] = rowOf(outcome);
  return `| ${name} | ${outcome.fault.what} | ${cells.join(' | ')} | \`make fault ARGS="--only ${name} --seed ${seed}"\` |`;
};

const tell = ({ fault, complaints, doubled, identityOf, notes, directory }: Outcome): void => {
  print(`${complaints.length > 0 ? 'FAIL' : 'ok  '} ${fault.name}: ${fault.what}`);
  for (const line of doubled) print(`     twice: ${line} ${identityOf(line) ?? ''}`.trimEnd());
  for (const line of complaints) print(`     ${line}`);
  if (directory === undefined) return;
  for (const line of notes) print(`     ${line}`);
  print(`     logs: ${directory}`);
};

const playAll = async (faults: readonly Fault[]): Promise<Outcome[]> => {
  const outcomes: Outcome[] = [];
  const interrupted = interruption();
  for (const fault of faults) {
    const why = fault.whyNot?.();
    if (why !== undefined) {
      print(`left out: ${fault.name}: ${why}`);
      continue;
    }
    const outcome = await play(fault, seed, interrupted);
    outcomes.push(outcome);
    tell(outcome);
  }
  return outcomes;
};

await run(async () => {
  const faults = chosen();
  if (faults.length === 0) refuse(`no fault begins with ${values.only}; --list names all`);
  if (values.list) {
    printTable([['name', 'what'], ...faults.map(({ name, what }) => [name, what])]);
    return true;
  }
  print(`seed ${seed}; ${execFileSync('redis-server', ['--version']).toString().trim()}`);
  const outcomes = await playAll(faults);
  print('');
  if (values.markdown) for (const outcome of outcomes) print(markdownOf(outcome));
  else printTable([HEAD, ...outcomes.map(rowOf)]);
  return outcomes.every(({ complaints }) => complaints.length === 0);
});
