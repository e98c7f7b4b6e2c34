/** Connections to Redis: the only place where they are made. */
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Secret } from '../secret.ts';
import { throttleErrors } from './throttle.ts';

export type RedisClient = Redis | Cluster;

export interface RedisNode {
  host: string;
  port: number;
}

/** How to reach Redis; exactly one of `url`, `sentinel`, `cluster` and `socketPath` is used, in that order. */
export interface RedisSettings {
  /** `redis://` or, for TLS, `rediss://`, with user, password and database; or the path of a unix socket. */
  url?: Secret;
  /** Sentinels as `host:port`, and the name of the master they watch. */
  sentinel?: { name: string; nodes: readonly string[] };
  /** Any nodes of the cluster as `host:port`. */
  cluster?: { nodes: readonly string[] };
  /** A unix socket: the embedded server's. */
  socketPath?: string;
  /** Of Redis itself behind Sentinel or in a Cluster; a URL carries its own. */
  username?: string;
  password?: Secret;
}

/** The settings of one Redis that is addressed directly. */
export type SingleRedis = { url: Secret } | { socketPath: string };

export interface RedisOwner {
  /** Shows in CLIENT LIST as `tocsin:ROLE`. */
  role: string;
  /** Equal errors come at most once in 10 s; `times` says how many they were. */
  onError(error: Error, times: number): void;
}

/** Where Redis is, for people: without user and password. */
export const addressOf = ({ url, sentinel, cluster, socketPath }: RedisSettings): string => {
  if (url !== undefined) return urlAddress(url.reveal());
  if (sentinel !== undefined) return `${sentinel.name} behind ${sentinel.nodes.join(', ')}`;
  return cluster?.nodes.join(', ') ?? socketPath ?? 'nowhere';
};

/** A password with an unescaped `/` or `#` ends up in another part of the URL: such a URL is not shown at all. */
const urlAddress = (url: string): string => {
  if (url.startsWith('/')) return url.replace(/\?.*/, '');
  const { hostname = '', port = '', pathname = '' } = url.split('@').length <= 2 ? (URL.parse(url) ?? {}) : {};
  const isWhole = hostname !== '' && /^(\/[^/@]{0,16})?$/.test(pathname);
  return isWhole ? `${hostname}:${port || 6379}${pathname === '/' ? '' : pathname}` : 'the Redis of redis.url';
};

const retryDelayMs = (times: number): number => Math.min(50 * 2 ** Math.min(times - 1, 10), 2000);

/**
 * A silent host (suspended, unplugged) is noticed after this time without an answer to a pending command. It must exceed the
 * longest wait that is no fault: BullMQ's workers block for up to 10 s for the next delayed job. The rest allows for a
 * late event loop.
 */
const SOCKET_TIMEOUT_MS = 15_000;

/** Of one connection, to a single Redis or to a node of a cluster. */
const connectionOptions = ({ username, password }: RedisSettings, role: string) => ({
  connectionName: `tocsin:${role}`,
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password: password.reveal() }),
  // Commands wait for Redis to come back, however long: no work is dropped because Redis restarts, and BullMQ's workers
  // need it. Callers that must not wait set a bound of their own.
  maxRetriesPerRequest: null,
  socketTimeout: SOCKET_TIMEOUT_MS,
  connectTimeout: 5000,
  // Probes an idle connection after this time, so that a firewall keeps it and a dead peer shows.
  keepAlive: 10_000,
  // While Redis reads its data back in, it is asked again this often at least.
  maxLoadingRetryTime: 1000,
  // After a failover behind one address the old master answers READONLY: connect again and repeat the command.
  reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
});
type ConnectionOptions = ReturnType<typeof connectionOptions>;

/** Options of a client that reconnects by itself. */
const WHILE_AWAY = {
  enableOfflineQueue: true,
  // Waiting commands go on within 2 s of Redis' return; the default curve would take longer.
  retryStrategy: retryDelayMs,
};

/** `10.0.0.1:6379`, `redis-0.example.com:6379`, `[::1]:6379`. */
const nodeOf = (text: string, defaultPort: number): RedisNode => {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? text, port: port === undefined ? defaultPort : Number(port) };
};

const openSingle = (address: SingleRedis, options: Omit<RedisOptions, 'replyMapping'>): Redis =>
  'url' in address ? new Redis(address.url.reveal(), options) : new Redis({ ...options, path: address.socketPath });

const openSentinel = ({ name, nodes }: { name: string; nodes: readonly string[] }, options: ConnectionOptions): Redis =>
  new Redis({
    ...WHILE_AWAY,
    ...options,
    name,
    sentinels: nodes.map((node) => nodeOf(node, 26_379)),
    sentinelRetryStrategy: retryDelayMs,
    // A silent sentinel must not keep us from asking the next one.
    sentinelCommandTimeout: 2000,
    // Listens to the sentinels, to leave a silent master as soon as they have chosen another one.
    failoverDetector: true,
  });

const openCluster = (nodes: readonly string[], redisOptions: ConnectionOptions): Cluster =>
  new Cluster(
    nodes.map((node) => nodeOf(node, 6379)),
    {
      enableOfflineQueue: true,
      clusterRetryStrategy: retryDelayMs,
      // Where this check finds the cluster down, as in a failover, ioredis connects anew, and what `connect()` gave never
      // settles: BullMQ's workers would wait for it for ever. Commands wait for the cluster without it, too.
      enableReadyCheck: false,
      // A failover takes seconds; the default of 16 tries at 100 ms each would give up before its end.
      maxRedirections: 64,
      retryDelayOnFailover: 250,
      retryDelayOnClusterDown: 250,
      redisOptions,
    },
  );

const open = (settings: RedisSettings, role: string): RedisClient => {
  const { url, sentinel, cluster, socketPath } = settings;
  const options = connectionOptions(settings, role);
  if (url !== undefined) return openSingle({ url }, { ...WHILE_AWAY, ...options });
  if (sentinel !== undefined) return openSentinel(sentinel, options);
  if (cluster !== undefined) return openCluster(cluster.nodes, options);
  if (socketPath !== undefined) return openSingle({ socketPath }, { ...WHILE_AWAY, ...options });
  throw new Error('no Redis is named: neither url, sentinel, cluster nor socketPath');
};

/**
 * After a SELECT that was refused a connection is in database 0, where somebody else's keys may be, and ioredis would go
 * on there: it only emits the error. Thrown from the listener the error ends the handshake, so commands fail and the
 * connection is made anew, as after a wrong password. ioredis emits it again then.
 */
const stayOutOfDatabaseZero = (redis: Redis): void => {
  const thrown = new WeakSet<Error>();
  redis.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name !== 'select' || thrown.has(error)) return;
    thrown.add(error);
    throw error;
  });
};

/** Opens a connection, which reconnects by itself until `disconnect` or `quit` is called. */
export const connectRedis = (settings: RedisSettings, { role, onError }: RedisOwner): RedisClient => {
  const redis = open(settings, role);
  const report = throttleErrors({ onError, now: Date.now });
  if (redis instanceof Redis) stayOutOfDatabaseZero(redis);
  redis.on('error', report);
  if (redis instanceof Cluster) redis.on('node error', report);
  return redis;
};

/**
 * Asks one question over a connection of its own: no retry, no waiting until data is loaded, done within `timeoutMs`.
 * Rejects when there is no answer.
 */
export const askRedis = async <T>(
  settings: SingleRedis,
  timeoutMs: number,
  ask: (redis: Redis) => Promise<T>,
): Promise<T> => {
  const options = { lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0, enableReadyCheck: false };
  const bounds = { connectTimeout: timeoutMs, commandTimeout: timeoutMs };
  const redis = openSingle(settings, { ...options, ...bounds });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
};

/**
 * The prefix of all keys, with a hash tag: in a Cluster all keys of a script must be in one slot. A prefix that has a tag
 * stays as it is. ioredis' own `keyPrefix` cannot be used: BullMQ refuses it.
 */
export const keyPrefix = (prefix: string): string => (/\{[^}]+\}/.test(prefix) ? prefix : `{${prefix}}`);
