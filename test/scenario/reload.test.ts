/** A config that changes while the daemon works: taken whole, or not at all. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { createConfigSource } from '../../src/config/source.ts';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { type RunningDaemon, startDaemon } from './daemons.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

const TAKEN = 'the new config is in force';
const SAME = 'the config was read again, and says the same';
const REFUSED = 'the new config was refused; the one before it stays in force';

interface Reloading {
  world: World;
  daemon: RunningDaemon;
  file: string;
  environment: Record<string, string>;
  /** Replaces the file by one in which something is otherwise, as editors do. */
  change(edit: (config: Tree) => void): Promise<void>;
}

const open = async (options: WorldOptions = {}, more: Record<string, string> = {}): Promise<Reloading> => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], ...options });
  const file = join(world.dataDir, 'tocsin.yaml');
  const environment = { ...world.environment, ...more };
  await writeFile(file, world.configText);
  const source = createConfigSource(file, environment);
  const daemon = await startDaemon(await source.read(), source);
  onTestFinished(daemon.stop);
  const change = async (edit: (config: Tree) => void): Promise<void> => {
    const config = parse(world.configText) as Tree;
    edit(config);
    await writeFile(`${file}.new`, stringify(config));
    await rename(`${file}.new`, file);
  };
  return { world, daemon, file, environment, change };
};

const keep = (config: Tree, section: string): Tree => config[section] as Tree;

test('ten times under load: nothing is lost, nothing comes twice, and nothing of the old is left', async () => {
  const { world, daemon, change } = await open({ names: ['Vault', 'Bridge'], kinds: ['webhook', 'slack'] });
  const { webhook, slack } = world.sandbox.receivers;
  for (const { script } of [webhook, slack]) script.always({ kind: 'slow', durationMs: 50 });
  for (let round = 1; round <= 10; round += 1) {
    for (const name of ['Vault', 'Bridge']) world.critical(name, 4);
    await change((config) => {
      keep(config, 'poll').lookback = `${15 + round}m`;
    });
    await daemon.reload('a test');
    for (const name of ['Vault', 'Bridge']) world.critical(name, 2);
  }
  expect(daemon.log(TAKEN)).toHaveLength(10);
  expect(daemon.log(TAKEN).at(-1)).toMatchObject({ cause: 'a test', changed: ['poll.lookback'] });
  expect(daemon.log(REFUSED)).toEqual([]);
  await world.balanced(20_000);
}, 90_000);

test('what must not be taken changes nothing, and is told until the file is right again', async () => {
  const { world, daemon, file, change } = await open();
  await writeFile(file, world.configText.replace('sweepEvery', 'sweepEvry'));
  await daemon.reload('a test');
  expect(daemon.log(REFUSED)).toMatchObject([{ problems: [expect.stringMatching(/:\d+:\d+: poll\.sweepEvry: /)] }]);
  expect(await daemon.metric('tocsin_config_last_reload_successful')).toBe(0);
  const { troubles, daemons } = await daemon.status();
  expect(troubles).toMatchObject([{ name: 'config', what: expect.stringContaining('refused') }]);
  expect(daemons[0]?.config).toMatchObject({ file, refused: { problems: [expect.stringContaining('sweepEvry')] } });
  expect((await daemon.ask('/readyz')).text).toContain('sweepEvry');

  await change((config) => {
    Object.assign(config, { dataDir: './other', redis: { url: 'redis://elsewhere' } });
    keep(config, 'poll').lookback = '20m';
  });
  await daemon.reload('a test');
  expect(daemon.log(REFUSED).at(-1)).toMatchObject({
    problems: [expect.stringMatching(/^redis\.url, redis\.prefix, dataDir: a change of them needs a restart/)],
  });
  world.critical('Vault');
  await world.delivered();

  await writeFile(file, world.configText);
  await daemon.reload('a test');
  expect(daemon.log(SAME)).toHaveLength(1);
  expect(await daemon.metric('tocsin_config_last_reload_successful')).toBe(1);
  expect((await daemon.status()).troubles).toEqual([]);
  await world.balanced();
});

test('another channel and another secret are used from then on, and the file is watched', async () => {
  const { world, daemon, file, change } = await open({ kinds: ['webhook', 'slack'] });
  world.critical('Vault');
  await world.delivered();
  const secretFile = join(world.dataDir, 'secret');
  await writeFile(secretFile, `whsec_${Buffer.from('the first secret of this test').toString('base64')}`);
  await change((config) => {
    keep(keep(config, 'channels'), 'webhook').secret = `${'$'}{file:${secretFile}}`;
  });
  await until('the file is noticed', () => daemon.log(TAKEN).length === 1, 20_000);
  expect(daemon.log(TAKEN)).toMatchObject([{ cause: 'the file has changed', changed: ['channels.webhook.secret'] }]);
  const second = `whsec_${Buffer.from('the second secret of this test').toString('base64')}`;
  await writeFile(secretFile, second);
  await until('the secret is noticed', () => daemon.log(TAKEN).length === 2, 20_000);
  expect(daemon.logText()).not.toContain(second);
  expect(daemon.logText()).not.toContain('the second secret');
  expect((await daemon.status()).daemons).toMatchObject([{ config: { file } }]);
}, 60_000);
