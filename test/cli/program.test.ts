/** The program from outside, without a daemon: help, slips of the hand, and the configuration. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build, buildText } from '../../src/version.ts';
import { MAIN, runProgram, startCommand } from '../support/program.ts';
import { ownRedis } from '../support/redis-server.ts';
import { runCommand } from './in-process.ts';

let room = '';
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'tocsin-cli-'));
});
afterAll(() => rm(room, { recursive: true, force: true }));

const temporaryDirectory = (): Promise<string> => mkdtemp(join(room, 'test-'));

const fileWith = async (lines: readonly string[]): Promise<string> => {
  const file = join(await temporaryDirectory(), 'tocsin.yaml');
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
};

const RIGHT = [
  'services:',
  '  - name: main',
  '    baseUrl: https://monitor.example.com/api',
  '    apiKey: key-hush-hush',
  'channels:',
  '  slack: { botToken: xoxb-hush-hush }',
];

const FIVE_MISTAKES = [
  'services:',
  '  - name: main',
  '    baseUrl: monitor.example.com',
  `    apiKey: \${TOCSIN_NOWHERE}`,
  '    timeuot: 10s',
  'poll:',
  '  interval: fast',
  'channels:',
  '  slack: { botToken: xoxb-hush-hush, concurrency: 0 }',
];

test.concurrent('the help of a group has one list of commands, and that of a command marks the options that it needs', async () => {
  const group = await runCommand(['mute', '--help']);
  expect(group.stdout.match(/^\S.*:$/gm)).toEqual(['Options:', 'Commands:']);
  const add = await runCommand(['mute', 'add', '--help']);
  const needed = add.stdout.split(/\n(?= {2}-)/).filter((option) => option.includes('(required)'));
  expect(needed.map((option) => /--\w+/.exec(option)?.[0])).toEqual(['--for', '--reason']);
});

test.concurrent('--help names every command of the contract that there is, and fails nobody', async () => {
  const { code, stdout, stderr } = await runCommand(['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  for (const command of ['run', 'check', 'demo', 'sandbox', 'test', 'status', 'schema']) {
    expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
  }
  const own = await runCommand(['test', '--help']);
  expect(own.code).toBe(0);
  for (const option of ['--config', '--protocol', '--channel', '--to', '--json', '--help']) {
    expect(own.stdout).toContain(option);
  }
});

test.concurrent('--version says the version and the commit', async () => {
  expect(build().version).toMatch(/^\d+\.\d+\.\d+/);
  expect(await runCommand(['--version'])).toMatchObject({ code: 0, stdout: `${buildText(build())}\n` });
  const { code, stdout } = await runCommand(['--version', '--json']);
  expect([code, JSON.parse(stdout)]).toEqual([0, build()]);
});

test.concurrent.for([
  [['statsu'], /no command 'statsu'.*did you mean 'status'/],
  [['--json', '--config', 'x.yaml', 'statsu'], /no command 'statsu'.*did you mean 'status'/],
  [['status', '--jsn'], /^tocsin: unknown option '--jsn'[\s\S]*\(see tocsin status --help\)/],
  [['mute', 'ad'], /^tocsin: unknown command 'ad'\n\(Did you mean add\?\)\n\(see tocsin mute --help\)/],
  [['mute', 'add', '--for', '2', '--reason', 'r', '--protocol', 'p'], /^tocsin: --for must be a duration/],
  [['test', '--channel', 'slak', '--to', 'C1'], /got 'slak'\); did you mean 'slack'\?/],
  [['replay', '--since', 'yesterday'], /^tocsin: --since must be a date-time/],
  [['watch', '--for', '3'], /^tocsin: --for must be a duration/],
  [['check', 'surplus'], /too many arguments/],
  [['test', '--channel'], /argument missing/],
] as const)('%j is a slip of the hand', async ([args, said]) => {
  const { code, stdout, stderr } = await runCommand(args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(said);
  expect(stderr).not.toMatch(/^ {4}at /m);
});

test.concurrent('what every command takes may stand before it', async () => {
  const file = await fileWith(RIGHT);
  for (const args of [
    ['--config', file, 'check', '--json'],
    ['--json', `--config=${file}`, 'check'],
    ['-c', 'nowhere.yaml', 'check', '-c', file, '--json'],
  ]) {
    const { code, stdout } = await runCommand(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ problems: [] });
  }
  const group = await runCommand(['-c', 'nowhere.yaml', 'dead', 'list']);
  expect(group).toMatchObject({ code: 1, stderr: expect.stringMatching(/^nowhere\.yaml: config: cannot be read/) });
});

test.concurrent.for(['run', 'check', 'status'])(
  '%s without its config file says which one it looked for',
  async (command) => {
    const file = join(await temporaryDirectory(), 'nowhere.yaml');
    const { code, stdout, stderr } = await runCommand([command], { TOCSIN_CONFIG: file });
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(`${file}: config: cannot be read`);
  },
);

test.concurrent('five mistakes are five lines with their places, whatever command reads them', async () => {
  const file = await fileWith(FIVE_MISTAKES);
  const { code, stdout } = await runCommand(['check', '--config', file]);
  expect(code).toBe(1);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.replace(file, 'FILE').replace(/: .*/, ''))).toEqual([
    'FILE:3:14',
    'FILE:4:13',
    'FILE:5:5',
    'FILE:7:13',
    'FILE:9:51',
  ]);
  expect(stdout).toContain('TOCSIN_NOWHERE');
  expect(stdout).not.toContain('hush');
  const run = await runCommand(['run', '--config', file]);
  expect(run.code).toBe(1);
  expect(run.stdout + run.stderr).toContain(stdout.trimEnd());
});

test.concurrent('a right config is summed up without its secrets, as text and as JSON', async () => {
  const file = await fileWith(RIGHT);
  const { code, stdout, stderr } = await runCommand(['check', '--config', file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`${file}: no problems`);
  expect(stdout).toContain('main at monitor.example.com');
  const json = await runCommand(['check', '--config', file, '--json']);
  expect(JSON.parse(json.stdout)).toMatchObject({ problems: [] });
  expect(stdout + json.stdout).not.toContain('hush');
});

test.concurrent('schema prints a JSON Schema of the config', async () => {
  const { code, stdout } = await runCommand(['schema']);
  expect(code).toBe(0);
  const schema = JSON.parse(stdout) as { $schema: string; properties: Record<string, unknown> };
  expect(schema.$schema).toContain('2020-12');
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(['services', 'channels', 'poll', 'ops']));
});

test.concurrent('status where no daemon has ever run needs somebody', async () => {
  const file = await fileWith([...RIGHT, `dataDir: ${await temporaryDirectory()}`]);
  const { code, stdout, stderr } = await runCommand(['status', '--config', file]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^tocsin: no daemon/);
});

test.concurrent('status without its Redis is worth another try later', async () => {
  const file = await fileWith([...RIGHT, 'redis: { url: "redis://127.0.0.1:1" }']);
  const { code, stderr } = await runCommand(['status', '--config', file]);
  expect(code).toBe(75);
  expect(stderr).toBe(
    'tocsin: Redis does not answer: 127.0.0.1:1 refuses connections (ECONNREFUSED): start it, or correct its address under redis in the config',
  );
});

test.concurrent('a Redis that refuses us is named with its address, by the daemon and by commands', async ({
  onTestFinished: onFinished,
}) => {
  const server = await ownRedis('--requirepass', 'right-pa55');
  onFinished(server.remove);
  const at = (credentials: string, database: string) => `redis://${credentials}127.0.0.1:${server.port}${database}`;
  const ended = async (url: string, ...args: string[]) => {
    const file = await fileWith([...RIGHT, 'ops: { listen: "127.0.0.1:0" }', `redis: { url: "${url}" }`]);
    const all = [...args, '--config', file];
    const { code, stdout, stderr } = await (args[0] === 'run' ? runProgram(all, {}, onFinished) : runCommand(all));
    expect(stdout + stderr).not.toContain('pa55');
    return { code, said: `${stdout}${stderr}` };
  };
  const [run, noDatabase, status, online] = await Promise.all([
    ended(at(':wrong-pa55@', ''), 'run'),
    ended(at(':right-pa55@', '/99'), 'run'),
    ended(at('', ''), 'status'),
    ended(at(':wrong-pa55@', '/2'), 'check', '--online'),
  ]);
  const here = `127.0.0.1:${server.port}`;
  expect(run).toEqual({ code: 1, said: expect.stringContaining(`tocsin: Redis at ${here} refuses our user and pass`) });
  expect(noDatabase.code).toBe(1);
  expect(noDatabase.said).toMatch(
    new RegExp(`^tocsin: Redis at ${here}/99 does not have the database .*\\(DB index is out of range\\)$`, 'm'),
  );
  expect(status).toEqual({ code: 1, said: expect.stringMatching(/^tocsin: Redis at .* asks for a password.*NOAUTH/) });
  expect(online.code).toBe(2);
  expect(online.said).toMatch(new RegExp(`^FAIL {2}redis: Redis at ${here}/2 refuses .* \\(WRONGPASS\\)`, 'm'));
});

test('a terminal that does not know its width, as in a container, gets the usual one', async () => {
  const words = `stty cols 0; ${process.execPath} ${MAIN} --help`;
  const terminal = startCommand(['script', '-qefc', words, '/dev/null'], { NO_COLOR: '1' });
  expect(await terminal.ended).toBe(0);
  const { stdout } = await runProgram(['--help']);
  expect(terminal.stdout().replaceAll('\r', '')).toBe(stdout);
});
