/** Errors for scripts: whatever went wrong, `--json` gives one line of one shape on standard error, and nothing else. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runInProcess } from './in-process.ts';

const CONFIG = `services: [{ name: main, baseUrl: https://monitor.example, apiKey: key, nope: 1 }]
channels: { webhook: {} }
`;

const configFile = async (text: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tocsin-json-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'tocsin.yaml');
  await writeFile(file, text);
  return file;
};

const errorOf = async (...args: string[]) => {
  const { code, out, err } = await runInProcess(args);
  expect(out).toBe('');
  expect(err.split('\n')).toHaveLength(1);
  const { error } = JSON.parse(err) as { error: { message: string; exitCode: number } };
  expect(error.exitCode).toBe(code);
  return error;
};

test.each([
  [['stauts', '--json'], "there is no command 'stauts'; did you mean 'status'?"],
  [['--json', 'status', '--nope'], "unknown option '--nope'"],
  [['trace', '--json'], "missing required argument 'id'"],
  [['dead', 'shwo', '--json'], "unknown command 'shwo'\n(Did you mean show?)"],
])('%j is a mistake', async (args, message) => {
  expect(await errorOf(...args)).toEqual({ message, exitCode: 1 });
});

test('a config that is refused has its problems, each with its place', async () => {
  const file = await configFile(CONFIG);
  expect(await errorOf('status', '--json', '--config', file)).toEqual({
    message: `${file}:1:73: services.0.nope: is not a known key`,
    exitCode: 1,
    problems: [{ file, line: 1, column: 73, path: 'services.0.nope', rule: 'is not a known key' }],
  });
});

test('what cannot be reached is worth another try', async () => {
  const file = await configFile(`${CONFIG.replace(', nope: 1', '')}redis: { url: redis://127.0.0.1:1 }\n`);
  const { message, exitCode } = await errorOf('status', '--json', '--config', file);
  expect({ exitCode, isSaid: /127\.0\.0\.1:1\b/.test(message) }).toEqual({ exitCode: 75, isSaid: true });
});

test('help and version are no errors', async () => {
  for (const option of ['--help', '--version']) {
    expect(await runInProcess(['--json', option])).toMatchObject({ code: 0, err: '' });
  }
});
