/** Redis goes away, comes back, comes back empty, stands still, or takes nothing. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { CONTAINER, whyNoContainers } from '../../support/container.ts';
import type { OwnRedis } from '../../support/redis-server.ts';
import { until } from '../../support/until.ts';
import { metricsTell, ROOT, statusOf } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';

const REFUSING_MS = 8000;

const stopped = (seconds: number): Fault => ({
  name: `redis-away-${seconds}s`,
  what: `Redis is stopped for ${seconds} s`,
  doubles: 'in flight',
  isQuick: seconds < 10,
  ...(seconds < 10 && { grip: 'redis' }),
  strike: async ({ redis: { master } }) => {
    await master.kill('SIGTERM');
    await sleep(seconds * 1000);
    await master.start();
  },
});

const empty = async (redis: OwnRedis): Promise<void> => {
  await redis.kill('SIGKILL');
  await rm(redis.directory, { recursive: true, force: true });
  await mkdir(redis.directory);
  await redis.start();
};

/** It lives, and no way leads to it any more. */
const cutOff = async (socket: string): Promise<void> => {
  const redis = new Redis(socket, { lazyConnect: true, retryStrategy: () => null });
  await redis.connect();
  await rm(socket);
  await redis.call('CLIENT', 'KILL', 'TYPE', 'normal');
  redis.disconnect();
};
const BACK_WITHIN_MS = 90_000;

/** Nothing listens there. */
const NOWHERE = ['127.0.0.1', '1'] as const;

export const REDIS_FAULTS: readonly Fault[] = [
  stopped(5),
  stopped(30),
  stopped(120),
  {
    name: 'redis-killed',
    what: 'kill -9 of Redis (append-only, everysec) and a start at once, three times',
    doubles: 'in flight',
    grip: 'redis',
    strike: async ({ redis: { master } }) => {
      for (let round = 0; round < 3; round += 1) {
        await master.kill('SIGKILL');
        await master.start();
        await sleep(3000);
      }
    },
  },
  {
    name: 'redis-empty',
    what: 'kill -9 of Redis, its data deleted; the daemon has its state file',
    stage: { config: { poll: { startFrom: 'now' } } },
    doubles: 'in flight',
    strike: ({ redis: { master } }) => empty(master),
  },
  {
    name: 'redis-empty-alone',
    what: 'the same while no daemon runs, and the state file is deleted too',
    stage: { config: { poll: { startFrom: 'now' } } },
    doubles: 'in flight',
    loses: true,
    strike: async ({ redis: { master }, daemons: [daemon] }) => {
      await daemon.kill();
      await empty(master);
      await rm(daemon.dataDir, { recursive: true, force: true });
      await sleep(5000);
      await daemon.start();
    },
  },
  {
    name: 'redis-frozen',
    what: 'Redis is suspended for 20 s',
    doubles: 'in flight',
    grip: 'redis',
    strike: async ({ redis: { master } }) => {
      master.freeze();
      await sleep(20_000);
      master.thaw();
    },
  },
  {
    name: 'redis-told',
    what: 'Redis is suspended, its packets are swallowed, it is killed, each during a scrape, until the metrics tell it',
    doubles: 'in flight',
    strike: async ({ redis: { master, links }, daemons: [daemon] }) => {
      const ways: (readonly [strike: () => unknown, mend: () => unknown])[] = [
        [master.freeze, master.thaw],
        [() => links.map((link) => link.swallow()), () => links.map((link) => link.heal())],
        [() => master.kill('SIGKILL'), master.start],
      ];
      for (const [strike, mend] of ways) {
        const scrape = metricsTell(daemon, 'tocsin_redis_up 0');
        await strike();
        await scrape;
        await mend();
        await metricsTell(daemon, 'tocsin_redis_up 1');
      }
    },
  },
  {
    name: 'redis-full',
    what: 'Redis has no memory left (maxmemory, noeviction) for 8 s',
    doubles: 'in flight',
    isQuick: true,
    grip: 'redis',
    strike: async ({ redis: { master, command } }) => {
      await command(master, 'CONFIG', 'SET', 'maxmemory', '1mb');
      await sleep(REFUSING_MS);
      await command(master, 'CONFIG', 'SET', 'maxmemory', '0');
    },
  },
  {
    name: 'redis-read-only',
    what: 'Redis becomes the replica of a master that is not there, for 8 s',
    doubles: 'in flight',
    isQuick: true,
    grip: 'redis',
    strike: async ({ redis: { master, command } }) => {
      await command(master, 'REPLICAOF', ...NOWHERE);
      await sleep(REFUSING_MS);
      await command(master, 'REPLICAOF', 'NO', 'ONE');
    },
  },
  {
    name: 'redis-no-replicas',
    what: 'Redis takes writes only with a replica, and has none, for 8 s',
    doubles: 'in flight',
    grip: 'redis',
    strike: async ({ redis: { master, command } }) => {
      await command(master, 'CONFIG', 'SET', 'min-replicas-to-write', '1');
      await sleep(REFUSING_MS);
      await command(master, 'CONFIG', 'SET', 'min-replicas-to-write', '0');
    },
  },
  {
    name: 'redis-unreachable',
    what: 'the embedded Redis lives, its socket is gone and its connections are cut, until the daemon starts it again',
    stage: { redis: 'embedded' },
    doubles: 'in flight',
    strike: async ({ daemons: [daemon] }) => {
      await cutOff(join(daemon.dataDir, 'redis', 'redis.sock'));
      const isBack = async () => (await daemon.log()).includes('embedded Redis is back');
      await until('the embedded Redis is back', isBack, BACK_WITHIN_MS);
    },
  },
  {
    name: 'redis-named',
    what: 'the same; until then `tocsin status` names the daemon that lives, and since when its Redis is silent',
    stage: { redis: 'embedded' },
    doubles: 'in flight',
    strike: async ({ daemons: [daemon], note }) => {
      await cutOff(join(daemon.dataDir, 'redis', 'redis.sock'));
      const { code, said } = await statusOf(daemon);
      note(said);
      if (code !== 75 || !/daemon \d+ runs, but its Redis does not answer, since \d/.test(said)) {
        throw new Error(`status ends with ${code}: ${said}`);
      }
      const isBack = async () => (await daemon.log()).includes('embedded Redis is back');
      await until('the embedded Redis is back', isBack, BACK_WITHIN_MS);
      await until('status says so no more', async () => !(await statusOf(daemon)).said.includes('does not answer'));
    },
  },
  {
    name: 'redis-rivals',
    what: 'containers of the same host name want the data directory and its embedded Redis, five times',
    stage: { redis: 'embedded' },
    doubles: 'none',
    whyNot: whyNoContainers,
    strike: async ({ daemons: [daemon], note }) => {
      const [program, ...args] = CONTAINER;
      const run = [...args, process.execPath, join(ROOT, 'test/redis/embedded-daemon.ts'), daemon.dataDir];
      for (let round = 0; round < 5; round += 1) {
        const rival = spawn(program, run, { stdio: ['ignore', 'pipe', 'inherit'] });
        const [said] = await once(rival.stdout, 'data');
        rival.kill('SIGKILL');
        if (!String(said).includes('is in use by another Tocsin')) throw new Error(`a rival began: ${said}`);
      }
      note('all were refused');
    },
  },
];
