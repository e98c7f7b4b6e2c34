import { expect, test } from 'vitest';
import { runStages, type Stage } from '../../src/deliver/stage.ts';

const step =
  (name: string, end?: string): Stage<string[], string, { suffix: string }> =>
  async (done, { suffix }) => {
    done.push(`${name}${suffix}`);
    return end;
  };

test('stages run in their order, each with what it needs, until one gives an end', async () => {
  const done: string[] = [];
  const end = await runStages([step('a'), step('b', 'over'), step('c')], done, { suffix: '!' });
  expect(end).toBe('over');
  expect(done).toEqual(['a!', 'b!']);
  expect(await runStages([step('a'), step('b')], done, { suffix: '' })).toBeUndefined();
});
