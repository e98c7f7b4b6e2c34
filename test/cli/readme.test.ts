/** What the README shows works as it says. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { runProgram, startDaemonProgram } from '../support/program.ts';
import { startSafeWorld, startWorldFor } from './config-file.ts';

const readReadme = async (): Promise<(language: string) => string[]> => {
  const text = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^ *```(\w+)\n(.*?)^ *```/gms)];
  return (language) => blocks.filter(([, found]) => found === language).map(([, , block = '']) => block);
};

/** The words of a command, as a shell takes them apart. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

test('the commands of the README do what it says, one after the other', async ({ onTestFinished: onFinished }) => {
  const { file, environment } = await startSafeWorld({ onFinished, names: ['Lending Pool'] });
  const blocks = await readReadme();
  const commands = blocks('sh')
    .flatMap((block) => block.split('\n').map((line) => line.trim()))
    .filter((line) => line.startsWith('tocsin '));
  expect(commands.length).toBeGreaterThan(5);
  for (const command of commands) {
    const [, ...args] = wordsOf(command);
    if (args[0] === 'run') await startDaemonProgram(file, environment, onFinished);
    else expect({ command, ...(await runProgram(args, environment, onFinished)) }).toMatchObject({ command, code: 0 });
  }
}, 90_000);

test('the smallest config of the README is right', async ({ onTestFinished: onFinished }) => {
  const { file } = await startWorldFor({ onFinished, names: [] });
  const [smallest = ''] = (await readReadme())('yaml');
  await writeFile(file, smallest);
  const variables = { TOCSIN_API_KEY: 'key', SLACK_TOKEN: 'xoxb-1' };
  expect(await runProgram(['check', '--config', file], variables, onFinished)).toMatchObject({ code: 0, stderr: '' });
});
