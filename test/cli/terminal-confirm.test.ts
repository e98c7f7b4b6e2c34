import { expect, test } from 'vitest';
import { confirm } from '../../src/cli/terminal.ts';

const DEED = 'drops 12 deliveries';

test('--yes asks nobody', async () => {
  const ask = () => Promise.reject(new Error('asked'));
  expect(await confirm({ ask }, DEED, true)).toBeUndefined();
});

test.each(['y', 'Y', 'yes', ' YES '])('a person who answers %j goes on', async (answer) => {
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answer;
  };
  await confirm({ ask }, DEED, undefined);
  expect(asked).toEqual(['This drops 12 deliveries. Go on? [y/N] ']);
});

test.each(['', 'n', 'no', 'yesterday', 'ok'])('one who answers %j does not', async (answer) => {
  const refused = confirm({ ask: async () => answer }, DEED, false);
  await expect(refused).rejects.toMatchObject({ name: 'UsageError', message: 'nothing was done' });
});

test('where nobody can be asked --yes is needed', async () => {
  const message = 'this drops 12 deliveries: say --yes to do it';
  await expect(confirm({}, DEED, undefined)).rejects.toMatchObject({ name: 'UsageError', message });
});
