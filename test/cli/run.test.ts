/** The program from outside, at work: run, status, test and check against a sandbox. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { World } from '../scenario/world.ts';
import { createCertificate } from '../support/certificate.ts';
import { undocumentedFields } from '../support/log-fields.ts';
import { MAIN, runProgram, startCommand, startDaemonProgram, startProgram } from '../support/program.ts';
import { ownRedis } from '../support/redis-server.ts';
import { startSmtpRelay } from '../support/smtp-relay.ts';
import { until } from '../support/until.ts';
import { startSafeWorld, startWorldFor } from './config-file.ts';
import { runCommand } from './in-process.ts';

/** Starting Node takes longest of all, the more so where much runs at once. */
interface Outcome {
  to: string;
  state: string;
  latencyMs?: number;
  providerId?: string;
}

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** For `--import`: its own quotes and spaces would end the option. */
const moduleOf = (code: string): string => `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;

test.concurrent('run delivers with a bounded heap, logs JSON lines only, those of libraries too, and ends with 0 at SIGTERM', async ({
  onTestFinished: onFinished,
}) => {
  // One that may evict what is queued: a library says so on the console.
  const redis = await ownRedis('--maxmemory-policy', 'allkeys-lru');
  onFinished(() => redis.remove());
  const redisUrl = `redis://127.0.0.1:${redis.port}`;
  const { world, file, environment } = await startWorldFor({ onFinished, redisUrl });
  const written = Object.entries(environment).reduce(
    (all, [name, value]) => all.replaceAll(`\${${name}}`, value),
    world.configText,
  );
  await writeFile(file, written);
  await chmod(file, 0o644);
  const prints = [
    ...['process.emitWarning("of Node itself")', 'console.dir("of dir")', 'console.table(["of table"])'],
    ...['process.stdout.write("of stdout\\n", () => process.stderr.write("of stderr", "utf8"))'],
  ].join(';');
  const daemon = await startDaemonProgram(
    file,
    {
      ...environment,
      NODE_NO_WARNINGS: '',
      NODE_OPTIONS: `--import ${moduleOf(`process.on('SIGUSR2', () => { ${prints} })`)}`,
    },
    onFinished,
  );
  world.critical('Vault', 3);
  await world.balanced();
  daemon.process.kill('SIGUSR2');
  const said = () => daemon.log('a library writes to the console').map(({ message }) => String(message));
  const texts = ['of Node itself', "'of dir'", "'of table'", 'of stdout', 'of stderr'];
  await until('what was printed is in the log', () => texts.every((text) => said().some((one) => one.includes(text))));
  const metrics = await (await fetch(new URL('/metrics', daemon.url))).text();
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);

  const [, young] = /^nodejs_heap_space_size_total_bytes\{space="new"\} (\d+)/m.exec(metrics) ?? [];
  expect(Number(young)).toBeLessThanOrEqual(2 * 8 * 1024 * 1024);
  expect(daemon.stderr()).toBe('');
  const lines = linesOf(daemon.stdout());
  for (const { level, time, msg } of lines) {
    expect({ level, msg, at: Date.parse(String(time)) > 0 }).toEqual({
      level: expect.any(String),
      msg: expect.any(String),
      at: true,
    });
  }
  expect(undocumentedFields(lines)).toEqual([]);
  expect(lines.filter(({ message }) => String(message).startsWith('IMPORTANT! Eviction policy'))).toHaveLength(1);
  const warned = lines.filter(({ msg }) => String(msg).includes('every user of this machine can read it'));
  expect(warned).toMatchObject([{ level: 'warn' }]);
  expect(lines.at(-1)).toMatchObject({ msg: 'stopped', clean: true });
});

test.concurrent('run on a port that is taken says so and ends with 1, not with a clean stop', async ({
  onTestFinished: onFinished,
}) => {
  const { file, environment } = await startWorldFor({ onFinished, names: ['Vault'], kinds: ['webhook'] });
  const taken = createServer().listen(0, '127.0.0.1');
  onFinished(async () => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const ended = await runProgram(
    ['run', '--config', file],
    { ...environment, TOCSIN_OPS_LISTEN: `127.0.0.1:${port}` },
    onFinished,
  );
  expect(ended.code).toBe(1);
  expect(ended.stderr).toMatch(/ops.listen: cannot listen on .*: the port is in use/);
  const lines = linesOf(ended.stdout);
  expect(undocumentedFields(lines)).toEqual([]);
  expect(lines.at(-1)).toMatchObject({ level: 'fatal', clean: false, msg: 'stopped: it could not start' });
  expect(lines.filter(({ clean }) => clean === true)).toEqual([]);
  const [failed] = lines.filter(({ msg }) => msg === 'the daemon cannot start');
  expect(failed?.err).toMatchObject({ message: expect.stringContaining(String(port)) });
});

test.concurrent('a second signal forces the end', async ({ onTestFinished: onFinished }) => {
  const { world, file, environment } = await startWorldFor({ onFinished, names: ['Vault'], kinds: ['webhook'] });
  const { webhook } = world.sandbox.receivers;
  webhook.script.always({ kind: 'hang' });
  const daemon = await startDaemonProgram(file, environment, onFinished);
  world.critical('Vault');
  await until('something hangs', () => webhook.attempts().length > 0);
  daemon.signal('SIGTERM');
  await until(
    'it is stopping',
    () => daemon.log('stopping: running sends may finish, the rest stays queued').length > 0,
  );
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(143);
});

test('nothing of ours is loaded before SIGHUP is heard', async () => {
  const [before = '', ...rest] = (await readFile(MAIN, 'utf8')).split("process.on('SIGHUP'");
  expect(before).not.toMatch(/^\s*import\b|import\(/m);
  // A static import is loaded first, wherever it stands.
  expect(rest.join('')).not.toMatch(/^import\b/m);
});

test.concurrent('SIGHUP ends nothing at any time, and the config is read again', async ({
  onTestFinished: onFinished,
}) => {
  const { world, file, environment } = await startWorldFor({ onFinished, names: ['Vault'], kinds: ['webhook'] });
  // With its flags it does not replace itself. Before it runs anything of ours, no signal can be caught.
  const flags = ['--max-semi-space-size=8', '--heap-growing-percent=50'];
  const starting = startCommand([process.execPath, ...flags, MAIN, 'run', '--config', file], environment, onFinished);
  const isCaught = async () =>
    /^SigCgt:.*[13579bdf]$/m.test(await readFile(`/proc/${starting.process.pid}/status`, 'utf8'));
  await until('it hears SIGHUP', isCaught, 20_000);
  const timer = setInterval(() => starting.signal('SIGHUP'), 20);
  onFinished(async () => clearInterval(timer));
  await until('it has started', () => starting.log('started').length > 0, 60_000);
  clearInterval(timer);
  const same = 'the config was read again, and says the same';
  await until('it was asked', () => starting.log(same).length > 0);
  expect(starting.log(same)[0]).toMatchObject({ cause: 'SIGHUP', file });

  await writeFile(file, world.configText.replace('startFrom: 1h', 'startFrom: 2h'));
  starting.signal('SIGHUP');
  const taken = () => starting.log('the new config is in force');
  await until('it is in force', () => taken().length > 0);
  expect(taken()[0]).toMatchObject({ changed: ['poll.startFrom'] });
  world.critical('Vault');
  await world.balanced();
  starting.signal('SIGTERM');
  starting.signal('SIGHUP');
  expect(await starting.ended).toBe(0);
});

/** A Redis whose user `limited` may do everything but what `commands` name. */
const startLimited = async (onFinished: (stop: () => Promise<void>) => void, ...commands: string[]) => {
  const redis = await ownRedis('--user', 'limited', 'on', '>pass', '~*', '&*', '+@all', ...commands);
  onFinished(() => redis.remove());
  const redisUrl = `redis://limited:pass@127.0.0.1:${redis.port}`;
  return { redis, ...(await startWorldFor({ onFinished, names: ['Vault'], kinds: ['webhook'], redisUrl })) };
};
const LIMITED = /Redis at 127\.0\.0\.1:\d+ does not let our user run CLIENT LIST, HVALS, RENAME; docs\/redis-keys\.md/;

test.concurrent('run and check name the commands that a Redis user may not run', async ({
  onTestFinished: onFinished,
}) => {
  const { file, environment } = await startLimited(onFinished, '-rename', '-hvals', '-client|list');
  const { code, stderr } = await runProgram(['run', '--config', file], environment, onFinished);
  expect(code).toBe(1);
  expect(stderr).toMatch(LIMITED);
  expect(stderr).not.toMatch(/ at .*\.ts:/);
  const checked = await runCommand(['check', '--online'], environment);
  expect(checked.code).toBe(2);
  expect(checked.stdout).toMatch(new RegExp(`^FAIL {2}redis: ${LIMITED.source}`, 'm'));
  const sample = ['test', '--channel', 'webhook', '--to', 'https://hooks.example.com/x'];
  expect(await runCommand(sample, environment)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^tocsin: Redis does not let our user do this \(NOPERM .*client\|list.*\); docs.*rule$/,
    ),
  });
});

test.concurrent('so it is with a Redis that comes up later than the daemon', async ({ onTestFinished: onFinished }) => {
  const { redis, file, environment } = await startLimited(onFinished, '-rename', '-hvals', '-client|list');
  await redis.kill('SIGKILL');
  const daemon = startProgram(['run', '--config', file], environment, onFinished);
  await until('it waits for Redis', () => daemon.stdout().includes('"finding":"unreachable"'));
  await redis.start();
  expect(await daemon.ended).toBe(1);
  expect(daemon.stderr()).toMatch(LIMITED);
});

test.concurrent('status describes a running daemon, for people and for scripts', async ({
  onTestFinished: onFinished,
}) => {
  const { world, environment } = await startWorldFor({ onFinished });
  await world.start();
  world.critical('Vault', 2);
  await world.balanced();
  const people = await runCommand(['status'], environment);
  expect(people.code).toBe(0);
  expect(people.stdout).toMatch(/Vault .*sandbox .*inspections/);
  // What has arrived is counted a moment later.
  const report = await until('all are counted', async () => {
    const { stdout } = await runCommand(['status', '--json'], environment);
    const read = JSON.parse(stdout) as { protocols: { name: string }[]; destinations: { delivered: number }[] };
    return read.destinations.reduce((sum, { delivered }) => sum + delivered, 0) >= 4 * 2 + 12 ? read : undefined;
  });
  expect(report.protocols.map(({ name }) => name)).toContain('Bridge');
  expect(report.destinations.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(4 * 2 + 12);
});

const samplesAt = ({ sandbox }: World): string[] =>
  sandbox.received().flatMap(({ kind, text }) => (/TEST|test\.sample/.test(text) ? [kind] : []));

test.concurrent.for([
  ['without a daemon', false],
  ['through a running daemon', true],
] as const)('test sends a marked sample %s', async ([, withDaemon], { onTestFinished: onFinished }) => {
  const { world, environment } = await startWorldFor({ onFinished });
  if (withDaemon) await world.start();
  const to = `${world.addresses.webhook.url}/hooks/sample`;
  const one = await runCommand(['test', '--channel', 'webhook', '--to', to], environment);
  expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/^webhook .*: delivered in \d+ ms\n$/) });
  const all = await runCommand(['test', '--protocol', 'Vault', '--json'], environment);
  expect(all.code).toBe(0);
  const outcomes = JSON.parse(all.stdout) as Outcome[];
  expect(outcomes.map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered', 'delivered']);
  expect(outcomes.filter(({ providerId }) => providerId !== undefined)).toHaveLength(3);
  expect(samplesAt(world).toSorted()).toEqual(['email', 'slack', 'telegram', 'webhook', 'webhook']);
  expect(JSON.stringify(outcomes)).not.toContain('/hooks/');
});

test.concurrent('test says what is wrong with what it was asked', async ({ onTestFinished: onFinished }) => {
  const { world, environment } = await startWorldFor({ onFinished, kinds: ['slack', 'webhook'] });
  const refused = async (args: readonly string[], said: RegExp): Promise<void> => {
    const { code, stderr } = await runCommand(['test', ...args], environment);
    expect(`${code} ${stderr}`).toMatch(said);
  };
  await Promise.all([
    refused(['--channel', 'pigeon', '--to', 'x'], /^1 tocsin: --channel must be one of/),
    refused(['--channel', 'slack'], /^1 tocsin: name either --protocol NAME, or --channel KIND/),
    refused(['--channel', 'slack', '--to', 'not a channel'], /^1 tocsin: --to: /),
    refused(['--channel', 'email', '--to', 'x@example.com'], /^1 tocsin: .*does not set up.*'email'/),
    refused(
      ['--protocol', 'Nobody'],
      /^1 tocsin: no service lists a protocol 'Nobody' that the config includes; they list .*“Vault”/,
    ),
  ]);
  await world.sandbox.service.stop();
  await refused(['--protocol', 'Vault'], /^75 tocsin: /);
});

test.concurrent('test ends with 1 where the receiver refuses for good', async ({ onTestFinished: onFinished }) => {
  const { world, environment } = await startWorldFor({ onFinished });
  world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 410 });
  const to = `${world.addresses.webhook.url}/hooks/gone`;
  const { code, stdout } = await runCommand(['test', '--channel', 'webhook', '--to', to], environment);
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/: dead: .*410/) });
});

test.concurrent('check --online lists destinations that may not be written to, each with why', async ({
  onTestFinished: onFinished,
}) => {
  const { world, environment } = await startSafeWorld({
    onFinished,
    names: ['Vault', 'Left out'],
    kinds: ['webhook', 'telegram'],
    config: {
      channels: { webhook: { allowHttp: false } },
      protocols: { exclude: ['Left*'] },
      fallback: { channels: [{ name: 'webhook', url: 'https://10.0.0.1/hooks/secret' }] },
    },
  });
  const { code, stdout } = await runCommand(['check', '--online'], environment);
  const { host } = new URL(world.addresses.webhook.url);
  const refused = stdout.split('\n').filter((line) => line.startsWith('FAIL'));
  expect(refused).toEqual([
    expect.stringContaining(`destination webhook ${host} (`),
    expect.stringContaining('destination webhook 10.0.0.1 ('),
  ]);
  expect(refused[0]).toMatch(/127\.0\.0\.1 is blocked: .*plain http.*\(channels\.webhook\.allowHttp\)$/);
  expect(refused[1]).toMatch(/: 10\.0\.0\.1 is blocked: .*\(channels\.webhook\.allowNetworks\)$/);
  expect(stdout).toMatch(/^ok {4}channel webhook/m);
  expect(stdout).not.toContain('hooks/secret');
  expect(code).toBe(2);
});

test.concurrent('check --online counts the protocols, and names kinds of their channels that are not set up', async ({
  onTestFinished: onFinished,
}) => {
  const { world, environment } = await startSafeWorld({ onFinished, names: ['Vault'], kinds: ['telegram'] });
  const [vault] = world.sandbox.service.protocols();
  if (vault === undefined) throw new Error('there is no protocol');
  const { name: protocol, apiKey, channels } = vault;
  world.sandbox.service.replaceChannels({ protocol, apiKey }, [...channels, { name: 'slack', contacts: ['C1'] }]);
  const { code, stdout } = await runCommand(['check', '--online'], environment);
  expect(stdout).toMatch(/^ok {4}service sandbox: answers and lists 1 protocol, such as “Vault”$/m);
  expect(stdout).toMatch(
    /^note {2}channel slack: not set up, so nothing is sent there, though 1 protocol has such a channel$/m,
  );
  expect(code).toBe(0);
  const short = { ...environment, TOCSIN_SANDBOX_SERVICE: new URL(world.addresses.service.url).origin };
  const lost = await runCommand(['check', '--online'], short);
  expect(lost.stdout).toMatch(/^FAIL {2}service sandbox: .*404.*; baseUrl must be the whole address of the API/m);
});

test.concurrent('check --online says whether a private Redis could be started', async ({
  onTestFinished: onFinished,
}) => {
  const { world, environment } = await startWorldFor({ onFinished, names: ['Vault'], kinds: ['telegram'] });
  const file = join(world.dataDir, 'embedded.yaml');
  await writeFile(file, stringify({ ...(parse(world.configText) as object), redis: undefined }));
  const check = (path: Record<string, string>) =>
    runProgram(['check', '--online', '--config', file], { ...environment, ...path }, onFinished);
  const good = await check({});
  expect(good.stdout).toMatch(/^ok {4}redis: private, under \S+; redis-server \d+\.\d+/m);
  expect(good.code).toBe(0);
  const bad = await check({ PATH: world.dataDir });
  expect(bad.stdout).toMatch(/^FAIL {2}redis: redis-server is not installed.*apt-get install/m);
  expect(bad.code).toBe(2);
});

test.concurrent('a redis-server that make setup has unpacked needs no PATH', async ({ onTestFinished: onFinished }) => {
  const { world, environment } = await startWorldFor({ onFinished, names: ['Vault'], kinds: ['telegram'] });
  const file = join(world.dataDir, 'unpacked.yaml');
  const dataDir = join(world.dataDir, 'of its own');
  await writeFile(file, stringify({ ...(parse(world.configText) as object), redis: undefined, dataDir }));
  const checkout = join(world.dataDir, 'checkout');
  const modules = join(dirname(MAIN), '../node_modules');
  const own = join(checkout, 'node_modules/.cache/redis/bin');
  await mkdir(own, { recursive: true });
  await cp(dirname(MAIN), join(checkout, 'src'), { recursive: true });
  await cp(join(modules, '../package.json'), join(checkout, 'package.json'));
  for (const name of await readdir(modules)) {
    if (!name.startsWith('.')) await symlink(join(modules, name), join(checkout, 'node_modules', name));
  }
  const { stdout: installed } = await promisify(execFile)('sh', ['-c', 'command -v redis-server']);
  await symlink(installed.trim(), join(own, 'redis-server'));
  const here = (args: string[]) =>
    runProgram(
      [...args, '--config', file],
      { ...environment, PATH: dataDir },
      onFinished,
      join(checkout, 'src/main.ts'),
    );
  expect((await here(['check', '--online'])).stdout).toMatch(/^ok {4}redis: private, .*redis-server \d+\.\d+/m);
  const sent = await here(['test', '--protocol', 'Vault']);
  expect(sent).toMatchObject({ code: 0, stdout: expect.stringMatching(/^telegram .*: delivered/) });
});

test.concurrent('check --online names the key that mends a relay with a certificate of its own', async ({
  onTestFinished: onFinished,
}) => {
  const { world, environment } = await startSafeWorld({ onFinished, names: ['Vault'], kinds: ['telegram'] });
  const { key, cert } = createCertificate();
  const relay = await startSmtpRelay({ server: { key, cert, disabledCommands: ['AUTH'] } });
  onFinished(() => relay.close());
  const [file, ca] = [join(world.dataDir, 'relay.yaml'), join(world.dataDir, 'relay-ca.pem')];
  await writeFile(ca, cert);
  const config = parse(world.configText) as { channels: object };
  const check = async (more: object) => {
    const smtp = { host: 'localhost', port: relay.port, ...more };
    const channels = { ...config.channels, email: { from: 'tocsin@example.com', smtp } };
    await writeFile(file, stringify({ ...config, channels }));
    return runCommand(['check', '--online', '--config', file], environment);
  };

  const unknown = await check({});
  expect(unknown.code).toBe(2);
  expect(unknown.stdout).toMatch(
    /^FAIL {2}channel email: localhost:\d+ has a certificate .*channels\.email\.smtp\.ca/m,
  );
  const known = await check({ ca: `${'$'}{file:${ca}}` });
  expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok {4}channel email/m) });
});

test.concurrent('check --online asks everything: 0 where all answer, 2 where a key or token is wrong', async ({
  onTestFinished: onFinished,
}) => {
  const { world, environment } = await startSafeWorld({ onFinished });
  const good = await runCommand(['check', '--online'], environment);
  expect(good).toMatchObject({ code: 0, stderr: '' });
  const subjects = good.stdout.trimEnd().split('\n');
  expect(subjects).toHaveLength(6);
  expect(subjects.filter((line) => !line.startsWith('ok '))).toEqual([]);

  const wrong = { ...environment, TOCSIN_SANDBOX_KEY: 'wrong-key', TOCSIN_SANDBOX_SLACK_TOKEN: 'xoxb-wrong' };
  const bad = await runCommand(['check', '--online', '--json'], wrong);
  expect(bad.code).toBe(2);
  const findings = JSON.parse(bad.stdout) as { subject: string; ok: boolean; detail: string }[];
  expect(findings.filter(({ ok }) => !ok).map(({ subject }) => subject)).toEqual(['service sandbox', 'channel slack']);
  expect(bad.stdout).not.toMatch(/wrong-key|xoxb-wrong/);

  await world.sandbox.stop();
  const away = await runCommand(['check', '--online'], environment);
  expect(away.code).toBe(2);
  expect(away.stdout.match(/^FAIL {2}/gm)).toHaveLength(4);
});
