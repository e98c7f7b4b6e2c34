/** Calls a dead man's switch as long as all is well: who waits there notices a daemon that says nothing any more. */
import type { Logger } from 'pino';
import type { GuardedPost } from '../../channels/http.ts';
import { type Condition, conditionText, rowOf } from '../../condition.ts';
import { messageOf } from '../../errors.ts';
import { startDeadline } from '../../net.ts';
import type { Conditions } from '../../ops/conditions.ts';
import type { Secret } from '../../secret.ts';
import { shorten } from '../../text.ts';

/** Why there is no heartbeat, in a sentence; undefined where there is one. `lacking`: what was not proven, see `ops/health.ts`. */
export const reasonAgainst = (conditions: readonly Condition[], lacking: readonly string[]): string | undefined => {
  const redis = conditions.find(({ name }) => name === 'redis');
  // Nothing else can have been proven meanwhile.
  if (redis !== undefined) return redis.what;
  const reasons = [...conditions.filter(({ name }) => rowOf(name).stopsHeartbeat).map(conditionText), ...lacking];
  return reasons.length === 0 ? undefined : reasons.join('; ');
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HOSTED = /^(hc-ping\.com|hchk\.io)$/;

/**
 * Where a failure is told, by the convention of Healthchecks (healthchecks.io): `/fail` after the path. Its URLs are known
 * by its host, by a path that ends in a UUID, or by `/ping/KEY/SLUG`. Other switches only notice that nobody calls.
 */
export const failUrlOf = (text: string): string | undefined => {
  const url = new URL(text);
  const parts = url.pathname.split('/').filter((part) => part !== '');
  const isPing = parts.at(-2) === 'ping' || parts.at(-3) === 'ping';
  if (!HOSTED.test(url.hostname) && !UUID.test(parts.at(-1) ?? '') && !isPing) return undefined;
  url.pathname = `/${[...parts, 'fail'].join('/')}`;
  return url.href;
};

interface HeartbeatDependencies {
  /** Who knows it can pretend that all is well. */
  url: Secret;
  /** Through the guard. */
  post: GuardedPost;
  /** Why there must be no heartbeat now, in a sentence without secrets. */
  reason(): Promise<string | undefined>;
  /** Nothing can have been proven yet: what lacks is no news. */
  isStarting(): boolean;
  /** Of several daemons one calls. */
  isOurs(): Promise<boolean>;
  conditions: Pick<Conditions, 'report' | 'over'>;
  scrub(text: string): string;
  log: Pick<Logger, 'warn' | 'info'>;
  signal: AbortSignal;
  /** How often one is due. */
  everyMs: number;
}

const TIMEOUT_MS = 10_000;
const LONGEST_REASON = 2000;
const FAILS = 'the heartbeat cannot be sent';
/** Calls that another daemon has made meanwhile: whether they fail, it says itself. */
const OVER_AFTER_CALLS = 3;

export const createHeartbeat = (dependencies: HeartbeatDependencies) => {
  const { post, reason, isStarting, isOurs, conditions, scrub, log, signal, everyMs } = dependencies;
  const address = dependencies.url.reveal();
  const { hostname } = new URL(address);
  const failUrl = failUrlOf(address);
  let isWithheld = false;

  const request = async (url: string, method: 'GET' | 'POST', body: string): Promise<void> => {
    const deadline = startDeadline(signal, TIMEOUT_MS);
    const headers = { 'user-agent': 'tocsin', ...(body === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' }) };
    const { status } = await post({ url, method, headers, body, signal: deadline.signal }).finally(deadline.end);
    if (status < 200 || status > 299) throw new Error(`it answered ${status}`);
  };

  const call = async (why: string | undefined): Promise<void> => {
    try {
      if (why === undefined) await request(address, 'GET', '');
      else if (failUrl !== undefined) await request(failUrl, 'POST', shorten(scrub(why), LONGEST_REASON));
      else return;
      if (conditions.over('heartbeat')) log.info({}, 'the heartbeat can be sent again');
    } catch (error) {
      if (signal.aborted) return;
      // Not even its host is shown: some have the token there.
      const message = scrub(messageOf(error)).replaceAll(hostname, "the dead man's switch");
      const details = { why: message, lastsMs: OVER_AFTER_CALLS * everyMs };
      if (conditions.report('heartbeat', FAILS, details)) log.warn({ why: message }, FAILS);
    }
  };

  const note = (why: string | undefined): void => {
    if (why !== undefined && !isWithheld) log.warn({ why: scrub(why) }, 'the heartbeat is withheld');
    if (why === undefined && isWithheld) log.info({}, 'the heartbeat goes on');
    isWithheld = why !== undefined;
  };

  /** Once an interval. Never rejects where the daemon only lacks Redis. */
  return async (): Promise<void> => {
    const why = await reason();
    if (why !== undefined && isStarting()) return;
    note(why);
    if (await isOurs()) await call(why);
  };
};
