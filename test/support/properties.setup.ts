/**
 * Every run of a property draws the same cases, so that a red run is red again, and nobody's change fails for a case that
 * it has nothing to do with. `TOCSIN_SEED=123` draws others.
 *
 * What is slow to shrink is told as it was found: its test would end without a word otherwise.
 *
 * And a file with fewer tests than docs/security.md counts fails.
 */
import fc from 'fast-check';
import { afterAll, expect, type RunnerTestSuite } from 'vitest';
import { testsOf } from './attack-cases.ts';

fc.configureGlobal({ seed: Number(process.env.TOCSIN_SEED ?? 1), interruptAfterTimeLimit: 60_000 });

/** A test that is skipped, or not chosen, counts. */
const countTests = ({ tasks }: Pick<RunnerTestSuite, 'tasks'>): number =>
  tasks.reduce((sum, task) => sum + (task.type === 'suite' ? countTests(task) : 1), 0);

// The pattern of nothing is what Vitest asks for.
// biome-ignore lint/correctness/noEmptyPattern: see above
afterAll(({}, file) => {
  const path = expect.getState().testPath ?? '';
  if (countTests(file) < testsOf(path))
    throw new Error(`${path}: fewer tests than docs/security.md counts (test/support/attack-cases.ts)`);
});
