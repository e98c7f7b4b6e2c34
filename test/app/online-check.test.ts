/** `check --online` behind a proxy: from the variables of the environment to the sentence that names what to mend. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askEverything } from '../../src/app/online-check.ts';
import { parseConfig } from '../../src/config/load.ts';
import { messageOf } from '../../src/errors.ts';
import { startProxy } from '../support/proxy.ts';

const CONFIG = `
services: [{ name: main, baseUrl: "https://monitor.example/api", apiKey: key }]
channels:
  slack: { botToken: xoxb-1 }
  telegram: { botToken: "1:a", proxy: "http://127.0.0.1:1" }
`;

test('what a proxy refuses is said of each peer, with the key or variable that names the proxy', async () => {
  const proxy = await startProxy();
  onTestFinished(proxy.close);
  proxy.refuse(407, 407);
  const url = proxy.origin.replace('//', '//tocsin:s3cr3t@');
  const config = parseConfig(CONFIG, 'tocsin.yaml', { https_proxy: url });
  const findings = await askEverything(config, AbortSignal.timeout(10_000));
  const said = Object.fromEntries(findings.map(({ subject, detail }) => [subject, detail]));
  const { host } = new URL(proxy.origin);
  const refused = `the proxy ${host} wants other credentials (407): correct user and password in https_proxy`;
  expect(said['service main']).toBe(`main: GET protocols: no answer: ${refused}`);
  expect(said['channel slack']).toBe(refused);
  expect(said['channel telegram']).toBe(
    'the proxy 127.0.0.1:1 refuses connections (ECONNREFUSED): see channels.telegram.proxy',
  );
  expect(proxy.asked.toSorted()).toEqual(['monitor.example:443', 'slack.com:443']);
  expect(JSON.stringify([findings, config])).not.toContain('s3cr3t');
});

test('a variable that names no proxy is a problem of the config, without its value', () => {
  const parse = () => parseConfig(CONFIG, 'tocsin.yaml', { HTTPS_PROXY: 'socks5://u:s3cr3t@proxy.example' });
  let said = '';
  try {
    parse();
  } catch (error) {
    said = messageOf(error);
  }
  expect(said).toContain('HTTPS_PROXY');
  expect(said).not.toContain('s3cr3t');
});

test('a data directory that cannot be made is named, with what to do', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-online-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'file');
  await writeFile(file, '');
  const redisIn = async (dataDir: string) => {
    const config = parseConfig(`${CONFIG}dataDir: ${dataDir}\n`, 'tocsin.yaml', {});
    return (await askEverything(config, AbortSignal.timeout(10_000))).find(({ subject }) => subject === 'redis');
  };
  expect(await redisIn(join(directory, 'not/there/yet'))).toMatchObject({ ok: true });
  expect(await redisIn(join(file, 'below'))).toMatchObject({
    ok: false,
    detail: `the data directory ${join(file, 'below')} cannot be written (ENOTDIR): set dataDir to a directory that this user may write`,
  });
});
