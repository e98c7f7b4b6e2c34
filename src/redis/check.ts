/** Checks whether a Redis can keep deliveries safely: names what could be lost, and the setting that prevents it. */
import { randomUUID } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { listText } from '../text.ts';
import { withinTime } from '../waiting.ts';
import type { RedisClient } from './connect.ts';
import { refusedOf } from './permissions.ts';
import { type RedisTrouble, troubleOf, watchingTrouble } from './trouble.ts';

interface RedisFinding {
  /** `refused` and `forbidden`: only the operator can mend it, so waiting does not help. */
  name: 'refused' | 'forbidden' | 'unreachable' | 'unreadable' | 'unwritable' | 'version' | 'eviction' | 'append-only';
  /** One sentence for the operator: what can be lost and what to change. */
  message: string;
  /** It is not known to be wrong: this Redis does not say. */
  isUnknown?: true;
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

/** How long a question may take: until Redis refuses us, at most `timeoutMs`. */
interface Patience {
  refused: Promise<void>;
  timeoutMs: number;
}

/** Undefined where Redis refuses us, or does not answer in time. */
const answerOf = async <T>(answer: Promise<T>, { refused, timeoutMs }: Patience): Promise<T | undefined> =>
  (await withinTime(Promise.race([answer, refused]), timeoutMs).catch(() => undefined)) ?? undefined;

const unchecked = (name: RedisFinding['name'], what: string): RedisFinding => ({
  name,
  message: `${what} could not be checked: this Redis does not report it in INFO.`,
  isUnknown: true,
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

/** Settings that may lose what is queued. */
const checkSettings = (info: Info): RedisFinding[] => {
  const policy = info.get('maxmemory_policy');
  const appends = info.get('aof_enabled');
  const findings: RedisFinding[] = [];
  if (policy === undefined) findings.push(unchecked('eviction', 'maxmemory-policy'));
  else if (policy !== 'noeviction') {
    const message = `maxmemory-policy is ${policy}: when its memory is full, Redis deletes queued deliveries without a word. Set maxmemory-policy to noeviction.`;
    findings.push({ name: 'eviction', message });
  }
  if (appends === undefined) findings.push(unchecked('append-only', 'appendonly'));
  else if (appends !== '1') {
    const message =
      'appendonly is off: when Redis restarts, everything queued since its last snapshot is lost. Set appendonly to yes and appendfsync to everysec.';
    findings.push({ name: 'append-only', message });
  }
  return findings;
};

const isAnswer = (error: Error): boolean => error.name === 'ReplyError' || troubleOf(error, '') !== undefined;

/** `info` is undefined where it does not answer in time; `aheadMs` is of its clock, and NaN where it does not say. */
const askNode = async (node: Redis, patience: Patience, now: () => number) => {
  const askedAt = now();
  // An error of the connection is no answer to INFO. What ended the connection comes as an event.
  const asked = node.info().catch((error: Error) => (isAnswer(error) ? error : new Promise<never>(() => {})));
  const answer = await answerOf(asked, patience);
  const info = typeof answer === 'string' ? parseInfo(answer) : answer;
  const theirs = info instanceof Map ? Number(info.get('server_time_usec') ?? Number.NaN) / 1000 : Number.NaN;
  return { info, aheadMs: theirs - (askedAt + now()) / 2 };
};

/** In a Cluster the keys may be on any master. */
const askNodes = async (redis: RedisClient, patience: Patience, now = Date.now) => {
  const isCluster = redis instanceof Cluster;
  if (isCluster) await answerOf(redis.ping(), patience);
  return Promise.all((isCluster ? redis.nodes('master') : [redis]).map((node) => askNode(node, patience, now)));
};

const NO_ANSWER = 'Redis does not answer: nothing can be queued or delivered until it does.';

/** What connecting said is worth more than that nothing answers. */
const unreachable = (trouble: RedisTrouble | undefined, message = NO_ANSWER): RedisFinding => {
  if (trouble === undefined) return { name: 'unreachable', message };
  if (trouble.isRefusal) return { name: 'refused', message: `Redis at ${trouble.message}` };
  const until = 'Nothing can be queued or delivered until it does.';
  return { name: 'unreachable', message: `Redis does not answer: ${trouble.message}. ${until}` };
};

const inspect = (info: Info | Error | undefined, trouble: RedisTrouble | undefined): RedisFinding[] => {
  if (info instanceof Map) return [...checkVersion(info), ...checkSettings(info)];
  if (!(info instanceof Error) || troubleOf(info, '') !== undefined) return [unreachable(trouble)];
  const message = `Version, maxmemory-policy and appendonly could not be checked: Redis refused INFO (${info.message}).`;
  return [{ name: 'unreadable', message }];
};

/** Several nodes may say the same. */
const onceEach = (findings: readonly RedisFinding[]): RedisFinding[] => [
  ...new Map(findings.map((finding) => [finding.message, finding])).values(),
];

/**
 * What a Redis says of itself while it is in use: settings that may lose what is queued, and how far its clock is ahead of
 * ours, in milliseconds, where it says so. INFO alone, of every master: its time stands there too, so that our user needs
 * no right for TIME. Undefined where one does not answer.
 */
export const lookAtRedis = async (
  redis: RedisClient,
  now: () => number,
): Promise<{ findings: RedisFinding[]; aheadMs?: number } | undefined> => {
  const patience = { refused: new Promise<never>(() => {}), timeoutMs: ANSWER_TIMEOUT_MS };
  const answers = await askNodes(redis, patience, now);
  const infos = answers.flatMap(({ info }) => (info instanceof Map ? [info] : []));
  if (infos.length < answers.length) return undefined;
  const known = answers.map(({ aheadMs }) => aheadMs).filter((ms) => !Number.isNaN(ms));
  const [aheadMs] = known.toSorted((a, b) => Math.abs(b) - Math.abs(a));
  const findings = onceEach(infos.flatMap(checkSettings)).filter(({ isUnknown }) => isUnknown !== true);
  return { findings, ...(aheadMs === undefined ? {} : { aheadMs }) };
};

/** Where a Redis is and what is ours there, for people; so `address` must not hold a password. */
interface RedisPlace {
  address: string;
  prefix: string;
}

/** Commands that are named. */
const NAMED = 10;

/** Whether our user may do all that a daemon does. */
const checkPermissions = async (
  redis: RedisClient,
  { address, prefix }: RedisPlace,
  patience: Patience,
): Promise<RedisFinding[]> => {
  const tried = await answerOf(refusedOf(redis, `${prefix}:check:${randomUUID()}`), patience);
  if (tried === undefined) return [];
  const rule = 'docs/redis-keys.md has the ACL rule that it needs';
  const { commands, isKeyRefused, unwritable } = tried;
  const findings: RedisFinding[] = [];
  const say = (name: RedisFinding['name'], says: string) =>
    findings.push({ name, message: `Redis at ${address} ${says}` });
  if (isKeyRefused)
    say('forbidden', `does not let our user read and write keys that begin with ${prefix}: (NOPERM); ${rule}`);
  if (commands.length > 0) say('forbidden', `does not let our user run ${listText(commands, NAMED)}; ${rule}`);
  if (unwritable !== undefined)
    say('unwritable', `takes no writes now (${unwritable}): nothing can be queued or delivered until it does.`);
  return findings;
};

const NO_MASTER = 'No master of the Redis Cluster answers: nothing can be queued.';

/**
 * What is wrong with this Redis; empty when nothing is. Never throws and never waits longer than some seconds. Its
 * settings are read in INFO only: managed services forbid CONFIG.
 */
export const checkRedis = (
  redis: RedisClient,
  place: RedisPlace,
  { timeoutMs = ANSWER_TIMEOUT_MS } = {},
): Promise<RedisFinding[]> =>
  watchingTrouble(redis, place.address, async ({ refused, latest }) => {
    const patience = { refused, timeoutMs };
    const answers = await askNodes(redis, patience);
    const findings =
      answers.length === 0
        ? [unreachable(latest(), NO_MASTER)]
        : answers.flatMap(({ info }) => inspect(info, latest()));
    const isAnswering = !findings.some(({ name }) => name === 'refused' || name === 'unreachable');
    return onceEach(isAnswering ? [...findings, ...(await checkPermissions(redis, place, patience))] : findings);
  });
