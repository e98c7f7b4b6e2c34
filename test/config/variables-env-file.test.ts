/** The file of variables beside the config. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/errors.ts';

const CONFIG = `
services: [{ name: main, baseUrl: "https://m.example.com", apiKey: "\${TOCSIN_API_KEY}" }]
channels: { webhook: {} }
`;

const place = async (variables?: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-env-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'mine.yaml');
  await writeFile(file, CONFIG);
  if (variables !== undefined) await writeFile(join(directory, 'mine.env'), variables, { mode: 0o644 });
  return file;
};

const keyOf = async (file: string, environment: Record<string, string>): Promise<string | undefined> =>
  (await loadConfig(file, environment)).services[0]?.apiKey.reveal();

test('stands for variables that the environment does not have', async () => {
  const file = await place("# a key\nTOCSIN_API_KEY='from $file'\n".replace(' $', '$'));
  expect(await keyOf(file, {})).toBe('from$file');
  expect(await keyOf(file, { TOCSIN_API_KEY: 'from-environment' })).toBe('from-environment');
  expect(await keyOf(file, { TOCSIN_API_KEY: '' })).toBe('from$file');
});

test('is named where a variable is missing', async () => {
  const file = await place();
  const error = await loadConfig(file, {}).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toContain('TOCSIN_API_KEY, which is not set: export it, or write it into');
  expect(String(error)).toContain('mine.env');
});
