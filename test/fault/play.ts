/** Plays one fault: alerts flow, it strikes, it is mended, everything arrives; then the books are closed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../src/errors.ts';
import type { Account } from './books.ts';
import type { Fault } from './fault.ts';
import { type Stage, setStage } from './stage.ts';

export interface Outcome extends Account {
  fault: Fault;
  /** How long the fault lasted, and how long after it the last missing line took to arrive. */
  lastedMs: number;
  backAfterMs: number;
  /** Why it has not passed; empty where it has. */
  complaints: string[];
  notes: readonly string[];
  /** Where the logs are, where it has not passed. */
  directory?: string;
}

const WARM_MS = 2000;
const AFTER_MS = 2000;
/** What is missing is lost when nothing has come for so long. The longest wait for a retry here is shorter. */
const LOST_AFTER_MS = 180_000;
/** The same where a fault is known to lose something. */
const GIVEN_UP_AFTER_MS = 20_000;
/** How long before a fault something may have been sent that is still in flight. */
const IN_FLIGHT_MS = 6000;

/** Waits until nothing is missing, or nothing more comes. */
const settle = async ({ books }: Stage, patienceMs: number): Promise<void> => {
  let missing = books.lost().length;
  for (let heardAt = Date.now(); missing > 0 && Date.now() - heardAt < patienceMs; ) {
    await sleep(250);
    const left = books.lost().length;
    if (left < missing) heardAt = Date.now();
    missing = left;
  }
};

/** How many of each channel kind, and the first. */
const sumUp = (lines: readonly string[]): string => {
  const kinds = Object.entries(Object.groupBy(lines, (line) => line.split(' ')[0] ?? ''));
  return `${kinds.map(([kind, of = []]) => `${of.length} ${kind}`).join(', ')}; such as ${lines[0]}`;
};

const judge = ({ doubles, doublesPerDestination, loses }: Fault, account: Account): string[] => {
  const { lost, doubled, unexplained, repeats, misnamed, unexpected } = account;
  const complaints: [string, readonly string[]][] = [
    ['lost', loses ? [] : lost],
    ['doubled and not in flight', doubles === 'none' ? doubled : unexplained],
    ['with another webhook-id', misnamed],
    ['unexpected', unexpected],
  ];
  const isTooMuch = doublesPerDestination !== undefined && repeats > doublesPerDestination;
  return [
    ...complaints.flatMap(([name, lines]) => (lines.length > 0 ? [`${lines.length} ${name}: ${sumUp(lines)}`] : [])),
    ...(isTooMuch ? [`${repeats} messages with something doubled at one destination`] : []),
  ];
};

const perform = async (fault: Fault, stage: Stage): Promise<Outcome> => {
  const { stream, books, notes } = stage;
  const patienceMs = fault.loses ? GIVEN_UP_AFTER_MS : LOST_AFTER_MS;
  stream.start();
  await sleep(WARM_MS);
  const beganAt = Date.now();
  await fault.strike(stage);
  const mendedAt = Date.now();
  await sleep(AFTER_MS);
  stream.stop();
  await settle(stage, patienceMs);
  const settledAt = Date.now();
  // A later positive proves the negative: what would still come, would come before these.
  stream.round();
  await settle(stage, patienceMs);
  const account = books.close(beganAt - IN_FLIGHT_MS, settledAt);
  const lasted = { lastedMs: mendedAt - beganAt, backAfterMs: settledAt - mendedAt };
  return { ...account, ...lasted, fault, complaints: judge(fault, account), notes };
};

const NONE = { lost: [], doubled: [], unexplained: [], misnamed: [], unexpected: [] };
const NOTHING: Account = { expected: 0, repeats: 0, identityOf: () => undefined, ...NONE };
const broken = (fault: Fault, stage: Stage | undefined, error: unknown): Outcome => ({
  ...NOTHING,
  fault,
  lastedMs: 0,
  backAfterMs: 0,
  complaints: [`it could not be played: ${messageOf(error)}`],
  notes: stage?.notes ?? [],
});

const never = new Promise<never>(() => {});

/** `interrupted` rejects when the suite has to end; then too everything is cleared away. */
export const play = async (fault: Fault, seed: number, interrupted = never): Promise<Outcome> => {
  let isInterrupted = false;
  interrupted.catch(() => {
    isInterrupted = true;
  });
  const stage = await setStage(fault.stage ?? {}, seed).catch((error: unknown) => broken(fault, undefined, error));
  if ('complaints' in stage) return stage;
  let keepFiles = true;
  try {
    const outcome = await Promise.race([perform(fault, stage), interrupted]);
    keepFiles = outcome.complaints.length > 0;
    return keepFiles ? { ...outcome, directory: stage.directory } : outcome;
  } catch (error) {
    keepFiles = !isInterrupted;
    if (isInterrupted) throw error;
    return { ...broken(fault, stage, error), directory: stage.directory };
  } finally {
    await stage.clear(keepFiles);
  }
};
