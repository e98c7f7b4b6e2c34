/** Completion in the shells themselves; a shell that is not installed is left out. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { SHELLS } from '../../src/cli/completion.ts';
import { runInProcess } from './in-process.ts';

const scriptOf = async (shell: string): Promise<string> => {
  const { code, out } = await runInProcess(['completion', shell]);
  expect(code).toBe(0);
  return out;
};

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

/** What each shell completes, one candidate a line, for the words that were typed; the last one is being typed. */
const ASK: Record<(typeof SHELLS)[number], { args: string[]; ask(words: readonly string[]): string }> = {
  bash: {
    args: ['--norc', '-c'],
    ask: (words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _tocsin; printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    args: ['-f', '-c'],
    ask: (words) =>
      `words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; _tocsin | grep '^${words.at(-1)}' | sed 's/:.*//'`,
  },
  fish: { args: ['--no-config', '-c'], ask: (words) => `complete -C '${words.join(' ')}' | cut -f1` },
};
/** The parts of zsh's completion that need a terminal. */
const BEFORE = `compdef() { :; }; _describe() { shift; local n=$1; print -l -- \${(P)n}; }\n`;

describe.each(SHELLS.filter(isThere))('%s', (shell) => {
  test.each([
    [['tocsin', 'sta'], ['status']],
    [['tocsin', 'dead', 're'], ['retry']],
    [
      ['tocsin', 'mute', 'e'],
      ['end', 'extend'],
    ],
    [['tocsin', 'dead', 'retry', '--de'], ['--destination']],
    [
      ['tocsin', '--json', 'cursor', 's'],
      ['set', 'show'],
    ],
  ])('%j', async (words, expected) => {
    const { args, ask } = ASK[shell];
    const before = shell === 'zsh' ? BEFORE : '';
    const script = [before, await scriptOf(shell), ask(words)].join('\n');
    const { stdout, stderr } = spawnSync(shell, [...args, script], { encoding: 'utf8' });
    expect({ stderr, found: stdout.split('\n').filter(Boolean).toSorted() }).toEqual({ stderr: '', found: expected });
  });
});

test('every command and option is in every script', async () => {
  for (const shell of SHELLS) {
    const script = await scriptOf(shell);
    for (const word of ['status', 'replay', 'mute', 'extend', 'protocols', 'completion']) {
      expect(script).toMatch(new RegExp(`\\b${word}\\b`));
    }
  }
});

test('another shell is refused by name', async () => {
  const { code, err } = await runInProcess(['completion', 'tcsh']);
  expect({ code, err }).toEqual({ code: 1, err: "tocsin: completion is for one of bash, zsh, fish (got 'tcsh')" });
});
