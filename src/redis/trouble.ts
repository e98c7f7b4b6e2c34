/** What keeps a Redis from working for us, in words: with its address and the server's own code, and without a secret. */
import { type ConnectionNames, connectionFault, NOT_TLS_CODES, proxyFault, remedyOf } from '../net.ts';
import type { RedisClient } from './connect.ts';

/** What a Redis answers that will have none of us, and what an operator has to mend. */
const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/\bWRONGPASS\b/, 'refuses our user and password (WRONGPASS): correct them in the config'],
  [/\bNOAUTH\b/, 'asks for a password, and the config gives none (NOAUTH)'],
  [/DB index is out of range/, 'does not have the database that the config names (DB index is out of range)'],
  [/^Unknown RESP type/, 'answers, but not as a Redis does: correct redis.url'],
  [/NOPERM.*'select'/, 'does not let our user choose the database that the config names (NOPERM)'],
];

/** ioredis hides what a Cluster's node or a Sentinel said behind an error of its own. */
const saidBy = (error: Error): Error[] => {
  const { lastNodeError, cause } = error as { lastNodeError?: unknown; cause?: unknown };
  return [error, ...[lastNodeError, cause].filter((inner) => inner instanceof Error)];
};

const refusalOf = (error: Error): string | undefined =>
  saidBy(error)
    .map(({ message }) => REFUSALS.find(([pattern]) => pattern.test(message))?.[1])
    .find((says) => says !== undefined);

/** By name: Sentinel and Cluster give addresses, which few certificates are for. */
const NAMES: ConnectionNames = {
  ca: 'redis.ca',
  cert: 'redis.cert',
  proxy: { host: 'of redis.proxy', key: 'redis.proxy' },
  address: 'redis.url, or have Sentinel or the Cluster announce host names',
};

const remedyFor = (code: string): string | undefined => {
  if ((NOT_TLS_CODES as readonly string[]).includes(code)) return 'see redis.url (rediss:// is with TLS) and redis.tls';
  const isUnreached = /^E(?!RR)/.test(code);
  return isUnreached ? 'start it, or correct its address under redis in the config' : remedyOf(code, NAMES);
};

const faultOf = (error: Error): string | undefined => {
  for (const said of saidBy(error)) {
    const code: unknown = Reflect.get(said, 'code');
    const atProxy = typeof code === 'string' ? proxyFault(code, NAMES) : undefined;
    if (atProxy !== undefined) return `cannot be reached: ${atProxy}`;
    const fault = typeof code === 'string' ? connectionFault(code) : undefined;
    const remedy = fault === undefined ? undefined : remedyFor(String(code));
    if (fault !== undefined) return remedy === undefined ? fault : `${fault}: ${remedy}`;
  }
  return undefined;
};

export interface RedisTrouble {
  /** It answers and refuses us, by what the config says: waiting does not help. */
  isRefusal: boolean;
  /** Begins with the address. */
  message: string;
}

/** Undefined for an error that says nothing about the connection. */
export const troubleOf = (error: Error, address: string): RedisTrouble | undefined => {
  const refusal = refusalOf(error);
  const says = refusal ?? faultOf(error);
  return says === undefined ? undefined : { isRefusal: refusal !== undefined, message: `${address} ${says}` };
};

/** What a command says to a Redis that forbids it, also within a script; undefined for any other error. */
export const forbiddenText = (error: unknown): string | undefined =>
  error instanceof Error && /\bNOPERM\b|ACL failure in script/.test(error.message)
    ? `Redis does not let our user do this (${error.message}); docs/redis-keys.md has the ACL rule`
    : undefined;

/** What a Redis answers that cannot take a command now: an operator, or time, ends that, and no change of ours does. */
const PASSING = /\b(NOREPLICAS|OOM|READONLY|LOADING|BUSY|CLUSTERDOWN|MASTERDOWN|MISCONF|TRYAGAIN)\b/;

/** What a Redis says that takes our command later, perhaps; undefined for any other error. */
export const passingText = (error: unknown): string | undefined =>
  error instanceof Error && error.name === 'ReplyError' && PASSING.test(error.message)
    ? `Redis does not take our commands now: ${error.message}`
    : undefined;

/** Listens for what connecting says, as long as `work` runs. `refused` resolves as soon as Redis refuses us. */
export const watchingTrouble = async <T>(
  redis: RedisClient,
  address: string,
  work: (seen: { refused: Promise<void>; latest(): RedisTrouble | undefined }) => Promise<T>,
): Promise<T> => {
  const { promise: refused, resolve } = Promise.withResolvers<void>();
  let trouble: RedisTrouble | undefined;
  const note = (error: Error): void => {
    trouble = troubleOf(error, address) ?? trouble;
    if (trouble?.isRefusal) resolve();
  };
  const events = ['error', 'node error'] as const;
  for (const event of events) redis.on(event, note);
  return work({ refused, latest: () => trouble }).finally(() => {
    for (const event of events) redis.off(event, note);
  });
};
