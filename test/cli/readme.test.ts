/** What the README and the guide for operators show works as it says. */
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { blocksOf, readDocument } from '../docs/documents.ts';
import { startSafeWorld, startWorldFor } from './config-file.ts';
import { runCommand } from './in-process.ts';

/** The words of a command, as a shell takes them apart. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');

test('the commands of the documents do what they say, one after the other', async ({ onTestFinished: onFinished }) => {
  const { world, environment } = await startSafeWorld({ onFinished, names: ['Lending Pool'] });
  const commands = ['README.md', 'docs/operating.md', 'docs/receivers.md']
    .flatMap((document) => blocksOf(readDocument(document), 'sh'))
    .flatMap((block) => block.split('\n').map((line) => line.trim()))
    .filter((line) => line.startsWith('tocsin '));
  expect(commands.length).toBeGreaterThan(9);
  for (const command of commands) {
    const [, ...args] = wordsOf(command);
    if (args[0] === 'run') await world.start();
    else expect({ command, ...(await runCommand(args, environment)) }).toMatchObject({ command, code: 0 });
  }
});

test('the smallest config of the README is right', async ({ onTestFinished: onFinished }) => {
  const { file } = await startWorldFor({ onFinished, names: [] });
  const [smallest = ''] = blocksOf(readDocument('README.md'), 'yaml');
  await writeFile(file, smallest);
  const variables = { TOCSIN_API_KEY: 'key', SLACK_TOKEN: 'xoxb-1' };
  expect(await runCommand(['check', '--config', file], variables)).toMatchObject({ code: 0, stderr: '' });
});
