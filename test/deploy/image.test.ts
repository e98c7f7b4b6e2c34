/** The image gets what its Dockerfile asks for, and runs as any user of group 0. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { startWorldFor } from '../cli/config-file.ts';
import { MAIN, type Program, startCommand } from '../support/program.ts';
import { until } from '../support/until.ts';
import { readProject } from './compose-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('every file that is copied into the image is there, and not ignored', async () => {
  const copies = (await readProject('Dockerfile')).match(/^COPY (?!--from)(.+)$/gm) ?? [];
  const sources = copies.flatMap((line) => line.split(' ').slice(1, -1));
  expect(sources).toContain('deploy/wait-for-config.sh');
  const letIn = (await readProject('.dockerignore')).split('\n').flatMap((line) => line.match(/^!(.+)/)?.[1] ?? []);
  for (const source of sources) {
    expect(existsSync(join(ROOT, source)), source).toBe(true);
    expect(
      letIn.some((path) => path === source || path.startsWith(`${source}/`)),
      source,
    ).toBe(true);
  }
  // What is let in may hold no secret: of `config` only files that are named.
  expect(letIn).not.toContain('config');
  expect(letIn).not.toContain('deploy');
});

test('the container hands its arguments on, and keeps no core dumps', async () => {
  const [, json = '[]'] = /^ENTRYPOINT (.+)$/m.exec(await readProject('Dockerfile')) ?? [];
  const [tini, end, ...entrypoint] = JSON.parse(json) as string[];
  expect([tini, end]).toEqual(['/usr/bin/tini', '--']);
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-image-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'tocsin'), '#!/bin/sh\nulimit -c\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const { PATH = '' } = process.env;
  const container = startCommand(
    ['sh', '-c', 'ulimit -S -c unlimited 2>/dev/null; exec "$@"', 'sh', ...entrypoint, 'trace', 'a b'],
    {
      PATH: `${directory}:${PATH}`,
    },
  );
  expect(await container.ended).toBe(0);
  expect(container.stdout()).toBe('0\ntrace\na b\n');
});

/** One that no passwd knows, as OpenShift chooses it. */
const SOMEBODY = 1_000_650_000;

/** Why nothing can be run as somebody else here. */
const whyNobodyElse = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'only root can run it as another user';
  return spawnSync('setpriv', ['--version']).error === undefined ? undefined : 'setpriv of util-linux is not installed';
};

test('it runs as any user of group 0: on what the Dockerfile makes, without a name, and without a home', {
  timeout: 90_000,
}, async ({ skip, onTestFinished: onFinished }) => {
  const dockerfile = await readProject('Dockerfile');
  // Kubernetes sees that it is not root by a number only.
  expect(/^USER (.+)$/m.exec(dockerfile)?.[1]).toBe('1000:0');
  skip(whyNobodyElse() !== undefined, whyNobodyElse());
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-image-'));
  onFinished(() => rm(directory, { recursive: true }));
  execFileSync('chmod', ['755', directory]);
  const [, made = ''] = /(mkdir -p \/data .*\n.*chmod.*)$/m.exec(dockerfile) ?? [];
  execFileSync('sh', ['-euc', made.replaceAll(/(?<= )\/(?=data|etc)/g, `${directory}/`).replaceAll('\\\n', '')]);

  // No Redis is named: that of the container is used, and writes below /data.
  const { world, environment } = await startWorldFor({ onFinished, names: ['Vault'], kinds: ['webhook'] });
  const { redis: _, ...config } = parse(world.configText) as Record<string, unknown>;
  const file = join(directory, 'etc/tocsin/tocsin.yaml');
  await writeFile(file, stringify(config), { mode: 0o640 });
  const ofImage = [...dockerfile.matchAll(/^(?:ENV)? +(TOCSIN_DATA_DIR|XDG_CACHE_HOME)=(\S+)/gm)].map(
    ([, name = '', path = '']) => [name, join(directory, path)] as const,
  );
  expect(ofImage).toHaveLength(2);
  const variables = { ...environment, ...Object.fromEntries(ofImage), TOCSIN_CONFIG: file, HOME: '/' };
  const start = (...args: string[]): Program => {
    const identity = [`--reuid=${SOMEBODY}`, '--regid=0', '--clear-groups', '--bounding-set=-all', '--inh-caps=-all'];
    return startCommand(['setpriv', ...identity, process.execPath, MAIN, ...args], variables, onFinished);
  };
  const daemon = start('run');
  await until('it has started', () => daemon.log('started')[0], 60_000);
  world.critical('Vault');
  await world.delivered();
  const mute = start('mute', 'add', '--protocol', 'Vault', '--for', '1h', '--reason', 'a test', '--json');
  expect({ code: await mute.ended, said: mute.stdout() + mute.stderr() }).toEqual({
    code: 0,
    said: expect.stringContaining(`uid-${SOMEBODY}@`),
  });
  daemon.signal('SIGTERM');
  expect(await daemon.ended).toBe(0);
  expect(daemon.log('the data directory cannot be used')).toEqual([]);
  const { uid, gid, mode } = await stat(join(directory, 'data/data'));
  expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: SOMEBODY, gid: 0, mode: 0o700 });
});
