/** The Redis of a stage: one server, one behind Sentinel, a Cluster; or none, where the daemon brings its own. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import type { Tree } from '../scenario/config.ts';
import { type OwnRedis, ownRedis, ownSentinel } from '../support/redis-server.ts';
import { until } from '../support/until.ts';
import { type Link, openLink } from './link.ts';

/** As README recommends it. */
const SAFE = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'];
/** Sooner than anybody would set it. */
const FAILOVER_MS = 2000;

export interface RedisWorld {
  /** The section of the config, for the daemon with that number. */
  configOf(daemon: number): Tree;
  /** The one server, or the master at the start. */
  master: OwnRedis;
  /** Those that can take its place. */
  replicas: readonly OwnRedis[];
  /** Each daemon's way to it, where it has one. */
  links: readonly Link[];
  /** Sends one command to a server. */
  command(server: OwnRedis, ...words: string[]): Promise<unknown>;
  remove(): Promise<void>;
}

const command = async ({ port }: OwnRedis, ...[name = '', ...words]: string[]): Promise<unknown> => {
  const redis = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: 2, commandTimeout: 5000 });
  redis.on('error', () => {});
  try {
    return await redis.call(name, ...words);
  } finally {
    redis.disconnect();
  }
};

const removeAll = async (servers: readonly OwnRedis[]): Promise<void> => {
  await Promise.all(servers.map((server) => server.remove()));
};

/** Collects servers as they start; those that have are removed where the rest of the start fails. */
const startAll = async (start: (serve: (own: Promise<OwnRedis>) => Promise<OwnRedis>) => Promise<RedisWorld>) => {
  const servers: OwnRedis[] = [];
  const serve = async (own: Promise<OwnRedis>): Promise<OwnRedis> => {
    const server = await own;
    servers.push(server);
    return server;
  };
  return start(serve).catch(async (error: unknown) => {
    await removeAll(servers);
    throw error;
  });
};

export const startSingle = async (daemons: number): Promise<RedisWorld> => {
  const master = await ownRedis(...SAFE);
  const links = await Promise.all(Array.from({ length: daemons }, () => openLink(() => master.port)));
  return {
    configOf: (daemon) => ({ url: `redis://127.0.0.1:${links[daemon]?.port}` }),
    master,
    replicas: [],
    links,
    command,
    remove: async () => {
      await Promise.all(links.map((link) => link.close()));
      await master.remove();
    },
  };
};

/** A master with two replicas, and three Sentinels of which two have to agree. */
export const startSentinels = (): Promise<RedisWorld> =>
  startAll(async (serve) => {
    const master = await serve(ownRedis(...SAFE));
    const replicaOf = ['--replicaof', '127.0.0.1', String(master.port)];
    const replicas = await Promise.all([1, 2].map(() => serve(ownRedis(...SAFE, ...replicaOf))));
    const sentinels = await Promise.all([1, 2, 3].map(() => serve(ownSentinel(master))));
    const settings = { quorum: 2, 'down-after-milliseconds': FAILOVER_MS, 'failover-timeout': 3 * FAILOVER_MS };
    for (const sentinel of sentinels)
      for (const [key, value] of Object.entries(settings))
        await command(sentinel, 'SENTINEL', 'SET', 'mymaster', key, String(value));
    await until('the Sentinels know each other and the replicas', async () => {
      const known = await Promise.all(sentinels.map((sentinel) => command(sentinel, 'INFO', 'sentinel')));
      return known.every((info) => /slaves=2,sentinels=3/.test(String(info)));
    });
    const nodes = sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return {
      configOf: () => ({ sentinel: { name: 'mymaster', nodes } }),
      master,
      replicas,
      links: [],
      command,
      remove: () => removeAll([...sentinels, master, ...replicas]),
    };
  });

/** Three masters with a replica each. `master`: of the slot that has all of Tocsin's keys. */
export const startCluster = (prefix: string): Promise<RedisWorld> =>
  startAll(async (serve) => {
    const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(FAILOVER_MS)];
    const servers = await Promise.all(Array.from({ length: 6 }, () => serve(ownRedis(...SAFE, ...cluster))));
    const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
    const create = ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'];
    await promisify(execFile)('redis-cli', create);
    const [first] = servers;
    if (first === undefined) throw new Error('no servers');
    await until('the cluster is whole', async () => {
      const infos = await Promise.all(servers.map((server) => command(server, 'CLUSTER', 'INFO')));
      return infos.every((info) => /cluster_state:ok/.test(String(info)));
    });
    const slot = Number(await command(first, 'CLUSTER', 'KEYSLOT', prefix));
    const shard = await until('the replica of our slot has everything', async () => {
      const ranges = (await command(first, 'CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][];
      const [, , ...nodesOfSlot] = ranges.find(([from, to]) => from <= slot && slot <= to) ?? [];
      const [master, ...replicas] = nodesOfSlot.flatMap(([, port]) => servers.filter((server) => server.port === port));
      const infos = await Promise.all(replicas.map((replica) => command(replica, 'INFO', 'replication')));
      const isWhole = infos.length > 0 && infos.every((info) => /master_link_status:up/.test(String(info)));
      return isWhole && master !== undefined ? { master, replicas } : undefined;
    });
    return {
      configOf: () => ({ cluster: { nodes } }),
      ...shard,
      links: [],
      command,
      remove: () => removeAll(servers),
    };
  });

/** The daemon's private redis-server under its data directory. */
export const startEmbedded = async (): Promise<RedisWorld> => {
  const none = (): never => {
    throw new Error('the embedded Redis is the daemon’s own');
  };
  return {
    configOf: () => ({}),
    get master(): OwnRedis {
      return none();
    },
    replicas: [],
    links: [],
    command: none,
    remove: async () => {},
  };
};
