/** Every command of Tocsin in the documents is one that the program takes, with its options. */
import type { Command } from 'commander';
import { CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { escapingContext } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { blocksOf, codeIn, GUIDES, readDocument } from './documents.ts';

const makeProgram = (): { program: Command; said: string[] } => {
  const said: string[] = [];
  const program = createProgram(
    escapingContext({
      env: {},
      signal: new AbortController().signal,
      onHangup: () => {},
      isTty: false,
      isErrorTty: false,
      write: () => {},
      warn: (text) => void said.push(text),
      readStdin: async () => new Uint8Array(),
    }),
    () => {},
  );
  return { program, said };
};

/** Each leaf does nothing. Where a command is only mentioned, what it needs may be left out. */
const disarm = (command: Command, isMention: boolean): void => {
  if (command.commands.length === 0) command.action(() => {});
  for (const option of isMention ? command.options : []) option.mandatory = false;
  for (const argument of isMention ? command.registeredArguments : []) argument.required = false;
  for (const child of command.commands) disarm(child, isMention);
};

/** The words of a command, as a shell takes them apart. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );

/** `dead list|retry` -> `dead list`, `dead retry`. A word in capitals is what the reader puts in. */
const expand = (command: string): string[] => {
  const choice = /(?<=^|\s)([a-z]+)((?:\|[a-z]+)+)(?=\s|$)/.exec(command);
  if (choice === null) return [command];
  const [all, first = '', others = ''] = choice;
  return [first, ...others.slice(1).split('|')].flatMap((word) => expand(command.replace(all, word)));
};

/** In a shell's line: after the words by which it is run elsewhere. */
const STARTS = /(?:^|\$\(|-- |\btocsin(?:-\d)? |run --rm (?:--no-deps )?)tocsin ([a-z-].*)$/;

const cutOff = (command: string): string =>
  command
    .replaceAll(/[[\]]|\.\.\.$/g, '')
    .replace(/\s+#\s.*$/, '')
    .replace(/ (\||>|&&) .*$/, '')
    .replace(/\)"?$/, '')
    .trim();

const shellLines = (text: string): string[] =>
  blocksOf(text, 'sh').flatMap((block) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.trim()),
  );

interface Named {
  command: string;
  /** In a sentence, where the rest may be left out. */
  isMention: boolean;
}

const commandsIn = (text: string): Named[] => {
  const lines = shellLines(text).map((line) => ({ line, isMention: false }));
  const mentions = codeIn(text).map((line) => ({ line: line.replaceAll('\\|', '|'), isMention: true }));
  return [...lines, ...mentions].flatMap(({ line, isMention }) => {
    const command = cutOff(STARTS.exec(line)?.[1] ?? '');
    return command === '' ? [] : expand(command).map((one) => ({ command: one, isMention }));
  });
};

const cases = GUIDES.flatMap((file) => commandsIn(readDocument(file)).map((named) => ({ file, ...named })));

test('the documents name commands', () => {
  expect(cases.length).toBeGreaterThan(100);
});

test('docs/commands.md names every command', () => {
  const { program } = makeProgram();
  const named = commandsIn(readDocument('docs/commands.md')).map(({ command }) => wordsOf(command)[0]);
  expect(program.commands.map((command) => command.name()).filter((name) => !named.includes(name))).toEqual([]);
});

test.each(cases)('$file: tocsin $command', async ({ command, isMention }) => {
  const { program, said } = makeProgram();
  disarm(program, isMention);
  const args = wordsOf(command);
  const named = program.commands.find((child) => child.name() === args[0]);
  expect(named !== undefined || ['--help', '--version'].includes(args[0] ?? '')).toBe(true);
  // A group of commands, such as `tocsin dead`, may be mentioned as a whole; alone it shows its help.
  if (isMention && args.length === 1 && named !== undefined && named.commands.length > 0) return;
  const end = await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => error);
  const isHelp = end instanceof CommanderError && end.exitCode === 0;
  expect({ isRight: isHelp || !(end instanceof Error), said }).toEqual({ isRight: true, said: isHelp ? said : [] });
});
