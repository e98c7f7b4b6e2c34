/** docker-compose.ha.yml: its commands run here, with free ports in the place of names and directories in that of volumes. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MAIN, startCommand } from '../support/program.ts';
import { freePort } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { COMPOSE_FILES, readCompose, readProject, unescaped } from './compose-files.ts';

const SECRET = '/run/redis-secret';
const REDISES = ['redis-1', 'redis-2', 'redis-3'];
const SENTINELS = ['sentinel-1', 'sentinel-2', 'sentinel-3'];
const WAIT_FOR_CONFIG = fileURLToPath(new URL('../../deploy/wait-for-config.sh', import.meta.url));

const setUp = async () => {
  const { services } = await readCompose('docker-compose.ha.yml');
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-ha-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const ports = Object.fromEntries(
    await Promise.all([...REDISES, ...SENTINELS].map(async (name) => [name, await freePort()] as const)),
  );
  for (const name of ['secret', ...Object.keys(ports)]) await mkdir(join(directory, name));
  const secret = join(directory, 'secret');
  const script = (name: string): string => unescaped(String(services[name]?.command)).replaceAll(SECRET, secret);
  await promisify(execFile)('sh', ['-c', script('redis-password')]);
  const password = await readFile(join(secret, 'password'), 'utf8');

  /** Its name is `localhost`, so that it is looked up as in the container, and its port is its own. */
  const launch = (name: string): ChildProcess => {
    const here = script(name)
      .replaceAll('cd /data', `cd ${join(directory, name)}`)
      .replace(/(exec redis-server \S+)/, `$1 --port ${ports[name]}`)
      .replace('redis-1 6379', `localhost ${ports['redis-1']}`)
      .replace('down-after-milliseconds mymaster 5000', 'down-after-milliseconds mymaster 1000');
    const { REPLICA_OF = '' } = services[name]?.environment ?? {};
    const replicaOf = REPLICA_OF?.replace('redis-1 6379', `localhost ${ports['redis-1']}`);
    const env = { ...process.env, NODE: 'localhost', REPLICA_OF: replicaOf };
    const server = spawn('sh', ['-c', here], { stdio: 'ignore', env });
    onTestFinished(() => void server.kill('SIGKILL'));
    return server;
  };

  const connect = (name: string): Redis => {
    const isSentinel = name.startsWith('sentinel');
    const redis = new Redis({ port: Number(ports[name]), ...(isSentinel ? {} : { password }) });
    redis.on('error', () => {});
    onTestFinished(() => redis.disconnect());
    return redis;
  };
  return { services, directory, secret, ports, launch, connect };
};

type Where = Awaited<ReturnType<typeof setUp>>;

const startServers = async ({ launch, connect }: Where) => {
  const redises = new Map([...REDISES, ...SENTINELS].map((name) => [name, connect(name)]));
  /** Empty of one that does not answer: what is waited for has a bound of its own. */
  const info = async (name: string, section: string): Promise<string> =>
    (await redises
      .get(name)
      ?.info(section)
      .catch(() => '')) ?? '';
  const servers = new Map(REDISES.map((name) => [name, launch(name)]));
  // Until then it takes no writes, and a daemon's container is started again.
  await until('the replicas follow', async () => /good_slaves:2/.test(await info('redis-1', 'replication')));
  for (const name of SENTINELS) launch(name);
  await until('the Sentinels know each other and the replicas', async () => {
    const known = await Promise.all(SENTINELS.map((name) => info(name, 'sentinel')));
    return known.every((text) => text.includes('status=ok') && /slaves=2,sentinels=3/.test(text));
  });
  return { servers, redises, info };
};

/** A daemon as its container starts it, without tini. */
const openDaemon = async ({ services, directory, secret, ports }: Where, name: string) => {
  const place = join(directory, name);
  const bin = join(place, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'tocsin'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(join(bin, 'tocsin'), 0o755);
  await symlink(WAIT_FOR_CONFIG, join(bin, 'wait-for-config'));
  const config = join(place, 'tocsin.yaml');
  const text = (await readProject('deploy/tocsin.ha.yaml'))
    .replace('https://monitor.example.com/api', 'http://127.0.0.1:9/api')
    .replaceAll(SECRET, secret)
    .replaceAll(/(sentinel-\d):26379/g, (_, sentinel: string) => `localhost:${ports[sentinel]}`);
  const given = { TOCSIN_API_KEY: 'key', SLACK_TOKEN: 'xoxb-1' };
  const passed = Object.entries(services[name]?.environment ?? {}).flatMap(([key, value]) => {
    const set = value ?? Object(given)[key];
    return set === undefined ? [] : [[key, unescaped(set)]];
  });
  const [, , ...entrypoint] = services[name]?.entrypoint ?? [];
  const environment = {
    ...Object.fromEntries(passed),
    PATH: `${bin}:${process.env.PATH}`,
    TOCSIN_CONFIG: config,
    TOCSIN_DATA_DIR: join(place, 'data'),
    TOCSIN_OPS_LISTEN: '127.0.0.1:0',
  };
  const start = (...command: string[]) => startCommand([...entrypoint, ...command], environment);
  return { start, daemon: start(...(services[name]?.command ?? [])), config, text };
};

test('a config without Sentinels is refused: each daemon would have a Redis of its own and send every alert', async () => {
  const { start, daemon, config, text } = await openDaemon(await setUp(), 'tocsin-1');
  await until('it says what to do', () => daemon.stdout().includes('Make it, from deploy/tocsin.ha.yaml.'));
  await writeFile(config, text.replace(/^redis:\n(?: .*\n)+/m, ''));
  const check = start('check');
  expect({ code: await check.ended, said: check.stdout() }).toEqual({
    code: 1,
    said: expect.stringContaining('the variable THE_CONFIG_MUST_HAVE_redis_sentinel, which is not set'),
  });
});

test('two daemons work through the Sentinels, also when another Redis becomes master', async () => {
  const where = await setUp();
  const { servers, redises, info } = await startServers(where);
  const one = await openDaemon(where, 'tocsin-1');
  const two = await openDaemon(where, 'tocsin-2');
  await Promise.all([one, two].map(({ config, text }) => writeFile(config, text)));
  const members = (name: string) =>
    redises
      .get(name)
      ?.hgetall('{tocsin}:members')
      .catch(() => undefined);
  for (const { daemon } of [one, two]) {
    await until('the daemon has started', () => daemon.log('started')[0], 60_000);
  }
  await until('both beat', async () => Object.keys((await members('redis-1')) ?? {}).length === 2);

  servers.get('redis-1')?.kill('SIGKILL');
  const master = await until(
    'another Redis is master',
    async () => {
      const roles = await Promise.all(['redis-2', 'redis-3'].map((name) => info(name, 'replication')));
      return ['redis-2', 'redis-3'][roles.findIndex((text) => text.includes('role:master'))];
    },
    30_000,
  );
  const before = JSON.stringify(await members(master));
  await until('the daemons beat there', async () => JSON.stringify(await members(master)) !== before, 20_000);

  // After a restart of all, the roles are those of the end, and not those of the file that compose has.
  const configOf = (name: string) => readFile(join(where.directory, name, 'redis.conf'), 'utf8');
  const follower = master === 'redis-2' ? 'redis-3' : 'redis-2';
  expect(await configOf(master)).not.toContain('replicaof');
  await until('the other replica follows', async () =>
    (await configOf(follower)).includes(`replicaof localhost ${where.ports[master]}`),
  );
  for (const { daemon } of [one, two]) daemon.signal('SIGTERM');
  expect(await Promise.all([one.daemon.ended, two.daemon.ended])).toEqual([0, 0]);
}, 120_000);

test('a master that nobody follows takes no writes', async () => {
  const where = await setUp();
  where.launch('redis-1');
  const redis = where.connect('redis-1');
  await until('Redis answers', () => redis.ping().catch(() => undefined));
  await expect(redis.set('x', '1')).rejects.toThrow(/NOREPLICAS/);
});

test('nobody reads or writes without the password, and only Redis, the Sentinels and the daemons have it', async () => {
  const { services } = await setUp();
  const having = Object.keys(services).filter((name) =>
    services[name]?.volumes?.some((volume) => volume.startsWith('redis-secret:')),
  );
  expect(having.toSorted()).toEqual(['redis-password', ...REDISES, ...SENTINELS, 'tocsin-1', 'tocsin-2'].toSorted());
  for (const name of having.filter((one) => one !== 'redis-password')) {
    expect(services[name]?.volumes).toContain(`redis-secret:${SECRET}:ro`);
  }
});

test('each Redis, Sentinel and daemon has a volume of its own, and only daemons are reached from outside', async () => {
  const { services, volumes, networks } = await readCompose('docker-compose.ha.yml');
  const data = Object.values(services).flatMap(
    (service) => service.volumes?.filter((volume) => volume.endsWith(':/data')) ?? [],
  );
  expect(new Set(data).size).toBe(data.length);
  expect(data.length).toBe(8);
  const named = Object.values(services).flatMap((service) => service.volumes?.map((each) => each.split(':')[0]) ?? []);
  expect([...new Set(named.filter((name) => !name?.startsWith('.')))].toSorted()).toEqual(
    Object.keys(volumes).toSorted(),
  );
  expect(networks?.redis?.internal).toBe(true);
  for (const name of [...REDISES, ...SENTINELS]) {
    expect(services[name]?.networks).toEqual(['redis']);
    expect(services[name]?.ports).toBeUndefined();
  }
  const ports = ['tocsin-1', 'tocsin-2'].flatMap((name) => services[name]?.ports ?? []);
  expect(ports).toEqual([
    expect.stringMatching(/^127\.0\.0\.1:.*:-9464\}:9464$/),
    expect.stringMatching(/^127\.0\.0\.1:.*:-9465\}:9464$/),
  ]);
});

describe.each(COMPOSE_FILES)('%s', (file) => {
  test('every container is hardened, and has time to stop', async () => {
    const { services } = await readCompose(file);
    for (const [name, service] of Object.entries(services)) {
      expect({ name, ...service }).toMatchObject({
        name,
        restart: name === 'redis-password' ? 'no' : 'unless-stopped',
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        stop_grace_period: '30s',
        // A core dump would hold every secret.
        ulimits: { core: 0 },
      });
    }
  });

  test('the daemons get the variables of the example config, and a bound on memory', async () => {
    const { services } = await readCompose(file);
    const example = await readProject('config/tocsin.example.yaml');
    const named = [...example.matchAll(/^[^#\n]*\$\{([A-Z_]+)\}/gm)].map(([, name]) => name);
    const daemons = Object.entries(services).filter(([name]) => name.startsWith('tocsin'));
    expect(daemons.length).toBeGreaterThan(0);
    for (const [, { environment = {}, mem_limit }] of daemons) {
      const passedOn = Object.entries(environment).flatMap(([name, value]) => (value === null ? [name] : []));
      expect(passedOn.toSorted()).toEqual(named.toSorted());
      expect(mem_limit).toBe(`\${TOCSIN_MEMORY:-512m}`);
    }
  });
});
