/** A config for commands that only read and change what Redis has. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig, loadWithoutSecrets } from '../../src/config/load.ts';

const load = async (text: string, environment: Record<string, string> = {}) => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-without-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'c.yaml');
  await writeFile(file, text);
  await expect(loadConfig(file, environment)).rejects.toThrow(/not set|cannot be read/);
  return loadWithoutSecrets(file, environment);
};

const SECRETS = `
services:
  - { name: main, baseUrl: "https://m.example.com", apiKey: "\${KEY}" }
redis: { url: "\${REDIS:-redis://127.0.0.1:6379/0}" }
channels:
  email: { from: t@example.com, smtp: { host: h.example.com, user: u, pass: "\${PASS}", ca: "\${file:nowhere.pem}" } }
  telegram: { botToken: "\${TELEGRAM}" }
  slack: { botToken: "\${SLACK}" }
  webhook:
    secret: ["\${NEW}", "\${OLD}"]
    receivers:
      a.example.com: { cert: "\${file:cert.pem}", key: "\${file:key.pem}", headers: { X-Key: "\${HEADER}" } }
`;

test('secrets that are missing are not needed', async () => {
  const { config, missing } = await load(SECRETS);
  expect(config.services.map(({ name }) => name)).toEqual(['main']);
  expect(Object.keys(config.channels).toSorted()).toEqual(['email', 'slack', 'telegram', 'webhook']);
  expect(config.channels.slack?.botToken).toBeDefined();
  expect(missing.map(({ path }) => path)).toContain('services.0.apiKey');
});

test('those that are there are used', async () => {
  const { config } = await load(SECRETS, { KEY: 'key-1' });
  expect(config.services[0]?.apiKey.reveal()).toBe('key-1');
});

test('an address that is missing is told by its place', async () => {
  const { missing } = await load(
    `${SECRETS}protocols: { overrides: { a: { channels: [{ name: webhook, url: "\${HOOK}" }] } } }\n`,
  );
  expect(missing.map(({ path }) => path)).toContain('protocols.overrides.a.channels.0.url');
});

test('of Redis everything is needed, and every other mistake is still one', async () => {
  const isRefused = (text: string): Promise<void> => expect(load(text)).rejects.toThrow(/c\.yaml:\d+:\d+/);
  await isRefused(SECRETS.replace('REDIS:-redis://127.0.0.1:6379/0', 'REDIS'));
  await isRefused(`${SECRETS}dataDir: "\${DIR}"\n`);
  await isRefused(`${SECRETS}poll: { interval: fast }\n`);
});
