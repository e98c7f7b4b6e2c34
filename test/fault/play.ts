/** Plays one fault: alerts flow, it strikes, it is mended, everything arrives; then the books are closed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Account } from './books.ts';
import type { Fault } from './fault.ts';
import { type Stage, setStage } from './stage.ts';

export interface Outcome extends Account {
  name: string;
  what: string;
  /** How long the fault lasted, and how long after it the last missing line took to arrive. */
  lastedMs: number;
  backAfterMs: number;
  /** Why it has not passed; empty where it has. */
  complaints: string[];
  /** Where the logs are, where it has not passed. */
  directory?: string;
}

const WARM_MS = 2000;
const AFTER_MS = 2000;
/** What is not there by then is lost. The longest wait for a retry after a fault of minutes is shorter. */
const LOST_AFTER_MS = 240_000;
/** How long before a fault something may have been sent that is still in flight. */
const IN_FLIGHT_MS = 6000;

/** Waits until nothing is missing; false where something still is when the time is over. */
const settle = async ({ books }: Stage): Promise<boolean> => {
  const deadline = Date.now() + LOST_AFTER_MS;
  while (books.lost().length > 0) {
    if (Date.now() > deadline) return false;
    await sleep(200);
  }
  return true;
};

const judge = ({ doubles }: Fault, account: Account): string[] => {
  const { lost, doubled, unexplained, misnamed, unexpected } = account;
  const complaints: [string, readonly string[]][] = [
    ['lost', lost],
    ['doubled and not in flight', doubles === 'none' ? doubled : unexplained],
    ['another webhook-id', misnamed],
    ['unexpected', unexpected],
  ];
  return complaints.flatMap(([name, lines]) => (lines.length > 0 ? [`${lines.length} ${name}: ${lines[0]}`] : []));
};

const perform = async (fault: Fault, stage: Stage): Promise<Outcome> => {
  const { stream, books } = stage;
  stream.start();
  await sleep(WARM_MS);
  const beganAt = Date.now();
  await fault.strike(stage);
  const mendedAt = Date.now();
  await sleep(AFTER_MS);
  stream.stop();
  await settle(stage);
  const settledAt = Date.now();
  // A later positive proves the negative: what would still come, would come before these.
  stream.round();
  await settle(stage);
  const account = books.close(beganAt - IN_FLIGHT_MS, settledAt);
  return {
    ...account,
    name: fault.name,
    what: fault.what,
    lastedMs: mendedAt - beganAt,
    backAfterMs: settledAt - mendedAt,
    complaints: judge(fault, account),
  };
};

const never = new Promise<never>(() => {});

/** `interrupted` rejects when the suite has to end; then too everything is cleared away. */
export const play = async (fault: Fault, seed: number, interrupted = never): Promise<Outcome> => {
  const stage = await setStage(fault.stage ?? {}, seed);
  let hasPassed = false;
  try {
    const outcome = await Promise.race([perform(fault, stage), interrupted]);
    hasPassed = outcome.complaints.length === 0;
    return hasPassed ? outcome : { ...outcome, directory: stage.directory };
  } finally {
    await stage.clear(!hasPassed);
  }
};
