/** Checks whether a Redis can keep deliveries safely: names what could be lost, and the setting that prevents it. */
import { Cluster, type Redis } from 'ioredis';
import type { RedisClient } from './connect.ts';

export interface RedisFinding {
  name: 'unreachable' | 'unreadable' | 'version' | 'eviction' | 'append-only';
  /** One sentence for the operator: what can be lost and what to change. */
  message: string;
}

/** BullMQ's scripts need its commands. */
const OLDEST = [6, 2] as const;
/** Commands wait for a Redis that is away, so each question needs its own time limit. */
const ANSWER_TIMEOUT_MS = 5000;

type Info = ReadonlyMap<string, string>;

const parseInfo = (text: string): Info =>
  new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 && !line.startsWith('#') ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );

const withinTime = async <T>(answer: Promise<T>): Promise<T | undefined> => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ANSWER_TIMEOUT_MS);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
};

const unchecked = (name: RedisFinding['name'], what: string): RedisFinding => ({
  name,
  message: `${what} could not be checked: this Redis does not report it in INFO.`,
});

/** Valkey, Dragonfly and KeyDB report the Redis version that they are compatible with. */
const checkVersion = (info: Info): RedisFinding[] => {
  const version = info.get('redis_version');
  if (version === undefined) return [unchecked('version', 'The version')];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isOld = major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]);
  const message = `Redis ${version} is too old for the queue: deliveries may stop. Use ${OLDEST.join('.')} or newer.`;
  return isOld ? [{ name: 'version', message }] : [];
};

const checkEviction = (info: Info): RedisFinding[] => {
  const policy = info.get('maxmemory_policy');
  if (policy === undefined) return [unchecked('eviction', 'maxmemory-policy')];
  if (policy === 'noeviction') return [];
  return [
    {
      name: 'eviction',
      message: `maxmemory-policy is ${policy}: when its memory is full, Redis deletes queued deliveries without a word. Set maxmemory-policy to noeviction.`,
    },
  ];
};

const checkAppendOnly = (info: Info): RedisFinding[] => {
  const enabled = info.get('aof_enabled');
  if (enabled === undefined) return [unchecked('append-only', 'appendonly')];
  if (enabled === '1') return [];
  return [
    {
      name: 'append-only',
      message:
        'appendonly is off: when Redis restarts, everything queued since its last snapshot is lost. Set appendonly to yes and appendfsync to everysec.',
    },
  ];
};

const inspectNode = async (node: Redis): Promise<RedisFinding[]> => {
  const answer = await withinTime(node.info().catch((error: unknown) => (error instanceof Error ? error : undefined)));
  if (answer === undefined) {
    return [
      { name: 'unreachable', message: 'Redis does not answer: nothing can be queued or delivered until it does.' },
    ];
  }
  if (answer instanceof Error) {
    const message = `Version, maxmemory-policy and appendonly could not be checked: Redis refused INFO (${answer.message}).`;
    return [{ name: 'unreadable', message }];
  }
  const info = parseInfo(answer);
  return [...checkVersion(info), ...checkEviction(info), ...checkAppendOnly(info)];
};

/** In a Cluster the keys may be on any master. */
const nodesOf = async (redis: RedisClient): Promise<Redis[]> => {
  if (!(redis instanceof Cluster)) return [redis];
  await withinTime(redis.ping().catch(() => {}));
  return redis.nodes('master');
};

/**
 * What is wrong with this Redis; empty when nothing is. Never throws and never waits longer than some seconds. Only
 * INFO is asked: managed services forbid CONFIG.
 */
export const checkRedis = async (redis: RedisClient): Promise<RedisFinding[]> => {
  const nodes = await nodesOf(redis);
  if (nodes.length === 0) {
    return [{ name: 'unreachable', message: 'No master of the Redis Cluster answers: nothing can be queued.' }];
  }
  const findings = (await Promise.all(nodes.map(inspectNode))).flat();
  return [...new Map(findings.map((finding) => [finding.message, finding])).values()];
};
