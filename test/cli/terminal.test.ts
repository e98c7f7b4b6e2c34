/** What others wrote must not move the cursor, turn the line around or hide in what an operator reads. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runInProcess } from './in-process.ts';
import { startServiceWorld } from './service-world.ts';

/** Clears the screen by a control of one character, turns the line around, hides a tag. */
const NAME = 'Vault\u009b2J\u202e\u{e0041} \u001b[31m\u007f';
const SHOWN = 'Vault\\u009b2J\\u202e\\udb40\\udc41 \\u001b[31m\\u007f';
const UNSAFE = /(?![\n\t])\p{Cc}|\p{Default_Ignorable_Code_Point}|[\u2028\u2029]/u;

test('JSON for scripts is pure, and says the same', async () => {
  const { run } = await startServiceWorld({ services: { main: [{ name: NAME }] } });
  const listed = await run(['protocols', 'list', '--json']);
  expect(listed.out).not.toMatch(UNSAFE);
  expect(listed.out).toContain(SHOWN);
  expect(JSON.parse(listed.out)).toMatchObject([{ descriptor: NAME }]);
});

test('a problem of the config shows what stands there', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-cli-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'tocsin.yaml');
  await writeFile(file, `services:\n  - name: ${JSON.stringify(NAME)}\n`);
  for (const more of [[], ['--json']]) {
    const { out } = await runInProcess(['check', '--config', file, ...more]);
    expect(out).not.toMatch(UNSAFE);
    expect(out).toContain('Vault');
  }
});

test('an error shows what was typed', async () => {
  const { err, code } = await runInProcess([NAME]);
  expect(code).not.toBe(0);
  expect(err).not.toMatch(UNSAFE);
  expect(err).toContain('Vault');
});
