/** The quickest faults of the suite, side by side; `make fault` plays all of them, one after the other. */
import { expect, test } from 'vitest';
import { FAULTS } from './faults.ts';
import { play } from './play.ts';

const SEED = Number(process.env.TOCSIN_SEED ?? 1);

for (const fault of FAULTS.filter(({ isQuick }) => isQuick)) {
  test.concurrent(`${fault.name}: ${fault.what}`, async () => {
    const { complaints, lost } = await play(fault, SEED);
    expect({ complaints, lost }).toEqual({ complaints: [], lost: [] });
  }, 120_000);
}
