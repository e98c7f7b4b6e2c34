/** Connections to Redis: the only place where they are made. */
import { Socket } from 'node:net';
import { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis';
import { type ConnectionSettings, settingsIn, type TlsOptions } from '../connection/settings.ts';
import type { Connector } from '../connection/tunnel.ts';
import { createRarely } from '../rarely.ts';
import type { Secret } from '../secret.ts';
import { withinTime } from '../waiting.ts';
import {
  createFaultFinder,
  firstNode,
  type KnownTls,
  nodeOf,
  type RedisSettings,
  type SentinelSettings,
  type SingleRedis,
  tlsOf,
} from './settings.ts';

/** What ioredis says of the Redis to reach: one that is addressed directly, or a node of a cluster. */
interface Address {
  host?: string;
  port?: number;
  connectTimeout?: number;
  disconnectTimeout?: number;
  tls?: object;
}

/** A rejection would end an ioredis client for good; after a connection that is closed at once it tries again. */
const closed = (): Socket => new Socket().destroy();

/**
 * The option `Connector` of ioredis: connections through the operator's proxy. It asks the proxy for a tunnel, and speaks
 * TLS inside it where the client has `tls`. Errors have the codes of `ProxyError`, or those of the TLS handshake.
 */
const proxiedConnector = (proxy: Secret, settings: ConnectionSettings) =>
  class extends AbstractConnector {
    readonly #address: Address;
    #tunnel: Connector | undefined;

    constructor(options: unknown) {
      const address = options as Address;
      super(address.disconnectTimeout ?? 2000);
      this.#address = address;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      const opened = await this.#open().catch((error: Error) => {
        this.firstError = error;
        return closed();
      });
      // `disconnect` was called meanwhile.
      if (!this.connecting) opened.destroy();
      this.stream = opened;
      return opened;
    }

    override disconnect(): void {
      super.disconnect();
      void this.#tunnel?.close();
      this.#tunnel = undefined;
    }

    async #open(): Promise<Socket> {
      const { host = '127.0.0.1', port = 6379, connectTimeout: timeoutMs = 10_000, tls } = this.#address;
      // Loaded only where there is a proxy.
      const { authority, createTunnel } = await import('../connection/tunnel.ts');
      this.#tunnel ??= createTunnel(new URL(proxy.reveal()), settings, { timeoutMs, isChosen: true });
      const { connect } = this.#tunnel;
      const protocol = tls === undefined ? 'http:' : 'https:';
      const target = { hostname: host, host: authority(host, String(port)), protocol, port: String(port) };
      return new Promise((resolve, reject) => {
        connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
      });
    }
  };

export type RedisClient = Redis | Cluster;

interface RedisOwner {
  /** Shows in CLIENT LIST as `tocsin:ROLE`. */
  role: string;
  /** Equal errors come at most once in 10 s; `times` says how many they were. */
  onError(error: Error, times: number): void;
}

const retryDelayMs = (times: number): number => Math.min(50 * 2 ** Math.min(times - 1, 10), 2000);

/**
 * A silent host (suspended, unplugged) is noticed after this time without an answer to a pending command. It must exceed the
 * longest wait that is no fault: BullMQ's workers block for up to 10 s for the next delayed job. The rest allows for a
 * late event loop.
 */
const SOCKET_TIMEOUT_MS = 15_000;

/** Of one connection, to a single Redis or to a node of a cluster. */
const connectionOptions = (
  { username, password, database, ca, cert, key, proxy }: RedisSettings,
  role: string,
  tls: TlsOptions | undefined,
) => ({
  connectionName: `tocsin:${role}`,
  ...(tls === undefined ? {} : { tls }),
  ...(proxy === undefined ? {} : { Connector: proxiedConnector(proxy, settingsIn({ ca, cert, key })) }),
  ...(database === undefined ? {} : { db: database }),
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

const openSingle = (address: SingleRedis, options: Omit<RedisOptions, 'replyMapping'>): Redis =>
  'url' in address ? new Redis(address.url.reveal(), options) : new Redis({ ...options, path: address.socketPath });

const openSentinel = (
  sentinel: SentinelSettings,
  options: ConnectionOptions,
  tlsOfSentinels: TlsOptions | undefined,
): Redis =>
  new Redis({
    ...WHILE_AWAY,
    ...options,
    name: sentinel.name,
    sentinels: sentinel.nodes.map((node) => nodeOf(node, 26_379)),
    // Without it ioredis speaks TLS to the Sentinels alone.
    enableTLSForSentinelMode: true,
    ...(tlsOfSentinels === undefined ? {} : { sentinelTLS: tlsOfSentinels }),
    ...(sentinel.username === undefined ? {} : { sentinelUsername: sentinel.username }),
    ...(sentinel.password === undefined ? {} : { sentinelPassword: sentinel.password.reveal() }),
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
      // Where this check finds the cluster down, as in a failover, ioredis connects again, and what `connect()` gave never
      // settles: BullMQ's workers would wait for it for ever. Commands wait for the cluster without it, too.
      enableReadyCheck: false,
      // A failover takes seconds; the default of 16 tries at 100 ms each would give up before its end.
      maxRedirections: 64,
      retryDelayOnFailover: 250,
      retryDelayOnClusterDown: 250,
      // A proxy resolves names itself, and perhaps it alone can.
      ...('Connector' in redisOptions && { dnsLookup: (name, done) => done(null, name) }),
      redisOptions,
    },
  );

const open = (settings: RedisSettings, role: string, { tls, tlsOfNodes }: KnownTls): RedisClient => {
  const { url, sentinel, cluster, socketPath } = settings;
  const options = connectionOptions(settings, role, tls);
  if (url !== undefined) return openSingle({ url }, { ...WHILE_AWAY, ...options });
  if (sentinel !== undefined) return openSentinel(sentinel, options, tlsOfNodes);
  if (cluster !== undefined) return openCluster(cluster.nodes, options);
  if (socketPath !== undefined) return openSingle({ socketPath }, { ...WHILE_AWAY, ...options });
  throw new Error('no Redis is named: neither url, sentinel, cluster nor socketPath');
};

/**
 * After a SELECT that was refused a connection is in database 0, where somebody else's keys may be, and ioredis would go
 * on there: it only emits the error. Thrown from the listener the error ends the handshake, so commands fail and the
 * connection is made again, as after a wrong password. ioredis emits it again then.
 */
const stayOutOfDatabaseZero = (redis: Redis): void => {
  const thrown = new WeakSet<Error>();
  redis.on('error', (error: Error & { command?: { name: string } }) => {
    if (error.command?.name !== 'select' || thrown.has(error)) return;
    thrown.add(error);
    throw error;
  });
};

/** What is asked in one tick goes to the socket as one write: ioredis makes a system call of each command. */
const gatherWrites = (redis: Redis): void => {
  redis.on('connect', () => {
    const { stream } = redis;
    // After a failover each command in flight that is refused waits for the connection's end.
    stream.setMaxListeners(0);
    const write = stream.write.bind(stream);
    stream.write = (command: string | Uint8Array): boolean => {
      if (stream.writableCorked === 0) {
        stream.cork();
        process.nextTick(() => stream.uncork());
      }
      return write(command);
    };
  });
};

/** Errors are equal when their messages are; a fault may repeat them thousands of times a minute. */
const EQUAL_ERRORS_MS = 10_000;

/** Opens a connection, which reconnects by itself until `disconnect` or `quit` is called. */
export const connectRedis = (settings: RedisSettings, { role, onError }: RedisOwner): RedisClient => {
  const known = tlsOf(settings);
  const redis = open(settings, role, known);
  const nameCause = createFaultFinder(firstNode(settings, known), Date.now);
  redis.on('error', nameCause);
  if (redis instanceof Cluster) redis.on('node error', nameCause);
  const rarely = createRarely(Date.now, EQUAL_ERRORS_MS);
  const report = (error: Error): void => rarely(error.message, (times) => onError(error, times));
  if (redis instanceof Redis) {
    stayOutOfDatabaseZero(redis);
    gatherWrites(redis);
  }
  redis.on('error', report);
  if (redis instanceof Cluster) redis.on('node error', report).on('+node', gatherWrites);
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
  const redis = openSingle(settings, options);
  redis.on('error', () => {});
  try {
    // As a whole: a suspended server lets us connect.
    return await withinTime(
      redis.connect().then(() => ask(redis)),
      timeoutMs,
    );
  } finally {
    redis.disconnect();
  }
};

/**
 * The prefix of all keys, with a hash tag: in a Cluster all keys of a script must be in one slot. A prefix that has a tag
 * stays as it is. ioredis' own `keyPrefix` cannot be used: BullMQ refuses it.
 */
export const keyPrefix = (prefix: string): string => (/\{[^}]+\}/.test(prefix) ? prefix : `{${prefix}}`);
