/** The quickest faults of the suite, side by side; `make fault` plays all of them, one after the other. */
import { expect, test } from 'vitest';
import { createDaemonHere } from './daemon-here.ts';
import type { Fault } from './fault.ts';
import { faultsOf } from './faults.ts';
import { play } from './play.ts';

/** What kills it needs a process; the others are quicker here. */
const hereOf = (fault: Fault): Fault =>
  fault.grip === 'daemon' ? fault : { ...fault, stage: { ...fault.stage, createDaemon: createDaemonHere } };

const SEED = Number(process.env.TOCSIN_SEED ?? 1);

for (const fault of faultsOf({ backlog: 0, minutes: 0 }).filter(({ isQuick }) => isQuick)) {
  test.concurrent(`${fault.name}: ${fault.what}`, async () => {
    const { complaints, lost } = await play(hereOf(fault), SEED);
    expect({ complaints, lost }).toEqual({ complaints: [], lost: [] });
  }, 120_000);
}
