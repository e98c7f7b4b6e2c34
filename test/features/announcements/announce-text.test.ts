import { expect, test } from 'vitest';
import { commandsIn } from '../../../src/features/announcements/announce.ts';

test('the commands of the lines that advise, each once and whole', () => {
  const message = [
    'Slack C1 is archived.',
    'To do: unarchive it; then run: tocsin dead retry --destination C1',
    'To do: `tocsin dead list` shows why; or run `tocsin dead drop --all`, and `redis-cli ping`. To see it, run: tocsin status',
    'To do: run: tocsin status',
  ].join('\n');
  expect(commandsIn(message)).toEqual([
    'tocsin dead retry --destination C1',
    'tocsin dead list',
    'tocsin dead drop --all',
    'tocsin status',
  ]);
});

test('what a provider or the service wrote is no command of ours', () => {
  expect(commandsIn('Its answer: “550 `tocsin dead drop --all`”\nNot To do: run: tocsin dead drop --all')).toEqual([]);
});
