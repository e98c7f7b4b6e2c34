/** Bare `tocsin` at a terminal. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runInProcess } from './in-process.ts';

const CONFIG = 'services: [{ name: main, baseUrl: "https://m.example.com", apiKey: k }]\nchannels: { webhook: {} }\n';

test('it prints help, what is missing and the next step, and starts nothing', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-start-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'tocsin.yaml');
  const start = (...args: string[]) => runInProcess(args, { env: { TOCSIN_CONFIG: file }, tty: { out: true } });
  const nothing = await start();
  expect(nothing).toMatchObject({ code: 0, err: '' });
  expect(nothing.out).toMatch(/^Usage: tocsin/);
  expect(nothing.out).toContain(`There is no ${file} yet: tocsin init writes one`);
  await writeFile(file, `${CONFIG}pol: {}\n`);
  expect((await start()).out).toContain('has 1 problem: tocsin check names them');
  await writeFile(file, CONFIG);
  for (const args of [[], ['-c', file], [`--config=${file}`]]) {
    expect((await start(...args)).out).toContain('is right: tocsin run runs the daemon');
  }
});

test('without a terminal it is the daemon', async () => {
  const { code, out, err } = await runInProcess(['-c', '/nowhere/tocsin.yaml']);
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toMatch(/cannot be read: there is no such file\. Make it: tocsin init/);
});
