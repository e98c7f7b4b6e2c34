/** A config that changes while the daemon works: taken whole, or not at all. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Config } from '../../src/config/schema.ts';
import { createConfigSource } from '../../src/config/source.ts';
import { ownRedis } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { type RunningDaemon, startDaemon } from './daemons.ts';
import { startWorld, type World, type WorldOptions } from './world.ts';

const TAKEN = 'the new config is in force';
const GONE = 'nothing works by the old config any more';
const SAME = 'the config was read again, and says the same';
const REFUSED = 'the new config was refused; the one before it stays in force';

interface Reloading {
  world: World;
  daemon: RunningDaemon;
  file: string;
  /** Replaces the file by one in which something is otherwise, as editors do. */
  change(edit: (config: Tree) => void): Promise<void>;
}

const open = async (
  options: WorldOptions & Required<Pick<WorldOptions, 'onFinished'>>,
  onRead = (_: Config): void => {},
): Promise<Reloading> => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'], ...options });
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const source = createConfigSource(file, world.environment);
  const read = async (): Promise<Config> => {
    const config = await source.read();
    onRead(config);
    return config;
  };
  const daemon = await startDaemon(await read(), { source: { ...source, read } });
  options.onFinished(daemon.stop);
  const change = async (edit: (config: Tree) => void): Promise<void> => {
    const config = parse(world.configText) as Tree;
    edit(config);
    await writeFile(`${file}.new`, stringify(config));
    await rename(`${file}.new`, file);
  };
  return { world, daemon, file, change };
};

const keep = (config: Tree, section: string): Tree => config[section] as Tree;

test.concurrent('ten times under load: nothing is lost, nothing comes twice, and nothing of the old is left', async ({
  onTestFinished: onFinished,
}) => {
  const { world, daemon, change } = await open({ onFinished, names: ['Vault', 'Bridge'], kinds: ['webhook', 'slack'] });
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
  // After each digest a channel rests for up to ten seconds.
  await world.balanced(120_000);
}, 300_000);

test.concurrent('what was excluded begins where it is included again; status says what was skipped, and what brings it', async ({
  onTestFinished: onFinished,
}) => {
  const { world, daemon, change } = await open({ onFinished, names: ['Vault', 'Bridge'] });
  const { arrivalsOf } = world.reconciler;
  const reload = async (exclude: string[]): Promise<void> => {
    const gone = daemon.log(GONE).length;
    await change((config) => Object.assign(config, { protocols: { exclude } }));
    await daemon.reload('a test');
    await until('the old config is gone', () => daemon.log(GONE).length > gone);
  };
  for (const name of ['Vault', 'Bridge']) world.critical(name);
  await world.delivered();
  await reload(['Vault']);
  // Seconds before it is included: the clock of a service is known to the second.
  const at = world.sandbox.service.now() - 5000;
  const skipped = Array.from({ length: 3 }, () =>
    world.sandbox.service.insertInspection({
      ...{ protocol: 'Vault', assessment: 'critical', createdAt: at, updatedAt: at, txTimestamp: at },
    }),
  );
  const read = world.critical('Bridge');
  await until('what is read arrives', () => read.every(({ txHash }) => arrivalsOf(txHash).length > 0));
  await reload([]);
  const fresh = world.critical('Vault', 2);
  await until('what is new arrives', () => fresh.every(({ txHash }) => arrivalsOf(txHash).length > 0));
  const lines = daemon.log('it was left out for a while: reading begins again, and what came meanwhile is not sent');
  expect(lines.map(({ protocol }) => protocol)).toEqual(['Vault', 'Vault']);
  expect((await daemon.status()).problems).toContainEqual(
    expect.stringMatching(/what came of “Vault” between .* was left out then: tocsin replay --protocol Vault --since/),
  );
  // Sweeps read further back.
  const sweeps = daemon.log('polled').filter(({ sweep }) => sweep).length;
  await until('it was swept', () => daemon.log('polled').filter(({ sweep }) => sweep).length > sweeps + 2);
  expect(skipped.flatMap(({ txHash }) => arrivalsOf(txHash))).toEqual([]);
  expect(world.reconciler.balance().doubled).toEqual([]);
});

test.concurrent('what must not be taken changes nothing, and is told until the file is right again', async ({
  onTestFinished: onFinished,
}) => {
  const { world, daemon, file, change } = await open({ onFinished });
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

test.concurrent('another secret is used from then on, and the files are watched', async ({
  onTestFinished: onFinished,
}) => {
  const { world, daemon, file, change } = await open({ onFinished, kinds: ['webhook', 'slack'] });
  world.critical('Vault');
  await world.delivered();
  const secretFile = join(world.dataDir, 'secret');
  await writeFile(secretFile, `whsec_${Buffer.from('the first secret of this test').toString('base64')}`);
  await change((config) => {
    keep(keep(config, 'channels'), 'webhook').secret = `${'$'}{file:${secretFile}}`;
  });
  await until('the file is noticed', () => daemon.log(TAKEN).length === 1);
  expect(daemon.log(TAKEN)).toMatchObject([{ cause: 'the file has changed', changed: ['channels.webhook.secret'] }]);
  const second = `whsec_${Buffer.from('the second secret of this test').toString('base64')}`;
  await writeFile(secretFile, second);
  await until('the secret is noticed', () => daemon.log(TAKEN).length === 2);
  expect(daemon.logText()).not.toContain(second);
  expect(daemon.logText()).not.toContain('the second secret');
  expect((await daemon.status()).daemons).toMatchObject([{ config: { file } }]);
});

test.concurrent('a send that takes longer than a stop may take comes to its end, once, while the new config works', async ({
  onTestFinished: onFinished,
}) => {
  const { world, daemon, change } = await open({ onFinished });
  const { webhook } = world.sandbox.receivers;
  const endSlowness = webhook.script.always({ kind: 'slow', durationMs: 9000 });
  world.critical('Vault');
  await until('it is being sent', () => webhook.attempts().length === 1);
  await change((config) => {
    keep(config, 'poll').lookback = '20m';
  });
  await daemon.reload('a test');
  endSlowness();
  const [second] = world.critical('Vault');
  await until('a later one is sent', () => world.reconciler.arrivalsOf(second?.txHash ?? '').length === 1, 8000);
  const ended = () => daemon.log(GONE);
  expect(ended()).toEqual([]);
  await until('the slow one has ended', () => ended().length === 1);
  expect(ended()).toMatchObject([{ clean: true }]);
  await world.balanced();
});

test.concurrent('a stop in the middle of a reload ends both generations', async ({ onTestFinished: onFinished }) => {
  const { world, daemon, change } = await open({ onFinished });
  world.critical('Vault');
  await change((config) => {
    keep(config, 'poll').lookback = '20m';
  });
  const reloading = daemon.reload('a test');
  await daemon.stop();
  await reloading;
  await world.start();
  await world.balanced();
});

/** Also where Node was started without the flag. */
const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
};

test.concurrent('of thirty configs only the last is remembered', async ({ onTestFinished: onFinished }) => {
  const configs: WeakRef<object>[] = [];
  const { world, daemon, change } = await open({ onFinished }, (config) => configs.push(new WeakRef(config)));
  for (let round = 1; round <= 30; round += 1) {
    await change((config) => {
      keep(config, 'poll').lookback = `${15 + round}m`;
    });
    await daemon.reload('a test');
  }
  const isOver = () => daemon.log(GONE).length === 30;
  await until('the old ones have retired', isOver, 60_000);
  const kept = () => configs.filter((config) => config.deref() !== undefined).length;
  await until('they are forgotten', () => {
    collectGarbage();
    return kept() <= 2;
  });
  expect(daemon.log(GONE).filter(({ clean }) => clean !== true)).toEqual([]);
  await world.balanced();
}, 120_000);

test.concurrent('what comes while Redis is away is taken when it is back', async ({ onTestFinished: onFinished }) => {
  const redis = await ownRedis();
  onFinished(() => redis.remove());
  const { world, daemon, change } = await open({ onFinished, redisUrl: `redis://127.0.0.1:${redis.port}` });
  await redis.kill('SIGTERM');
  await until('its loss is known', () => daemon.log('Redis is in trouble').length > 0);
  await change((config) => {
    keep(config, 'poll').lookback = '20m';
  });
  await daemon.reload('a test');
  expect(daemon.log(REFUSED)).toMatchObject([{ problems: [expect.stringContaining('tried again by itself')] }]);
  await redis.start();
  await until('it is taken', () => daemon.log(TAKEN).length === 1);
  world.critical('Vault');
  await world.balanced(20_000);
});

test.concurrent('a refused config is told to the operators, once, and its end', async ({
  onTestFinished: onFinished,
}) => {
  const { world, file } = await open({
    ...{ onFinished, kinds: ['email'] },
    config: { watchdog: { after: '2s', channels: [{ name: 'email', contacts: ['ops@example.com'] }] } },
  });
  const mails = (said: string) => world.sandbox.receivers.smtp.received().filter(({ text }) => text.includes(said));
  await writeFile(file, world.configText.replace('sweepEvery', 'sweepEvry'));
  await until('it is told', () => mails('the new config was refused').length > 0);
  expect(mails('the new config was refused')[0]?.text).toContain('poll.sweepEvry');
  await writeFile(file, world.configText);
  await until('its end is told', () => mails('Over: ').length > 0);
  expect(mails('the new config was refused').filter(({ text }) => !text.includes('Over'))).toHaveLength(1);
});

test.concurrent('a channel and a service that are new are used, and those that are gone are not', async ({
  onTestFinished: onFinished,
}) => {
  const { world, daemon, change } = await open({ onFinished, kinds: ['webhook', 'slack'] });
  const kindsOf = (item: string): string[] =>
    world.reconciler.arrivalsOf(item).map((arrival) => arrival.split(' ')[0] ?? '');
  /** Written after the old config's last poll, which sends what it finds by the old config. */
  const found = async (): Promise<string> => {
    await until('the old config is gone', () => daemon.log(GONE).length === daemon.log(TAKEN).length);
    return world.critical('Vault')[0]?.txHash ?? '';
  };
  await change((config) => {
    const [service] = config.services as Tree[];
    config.services = [service, { ...service, name: 'second', baseUrl: 'http://127.0.0.1:1' }];
    config.channels = { webhook: keep(config, 'channels').webhook };
  });
  await daemon.reload('a test');
  expect(daemon.log(TAKEN).at(-1)).toMatchObject({ changed: ['services.second', 'channels.slack'] });
  const one = await found();
  await until('it is sent by webhook', () => kindsOf(one).length === 1);
  await until('the second service is tried', () => daemon.logText().includes('second'));
  expect((await daemon.ask('/metrics')).text).toContain('service="second"');

  await change(() => {});
  await daemon.reload('a test');
  const other = await found();
  await until('it is sent by both', () => kindsOf(other).length === 2);
  expect(kindsOf(one)).toEqual(['webhook']);
  await until(
    'nothing is left of the second',
    async () => !(await daemon.ask('/metrics')).text.includes('"second"'),
    20_000,
  );
  expect((await daemon.status()).services.map(({ name }) => name)).toEqual(['sandbox']);
});
