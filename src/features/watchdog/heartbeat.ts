/** Calls a dead man's switch as long as all is well: who waits there notices a daemon that says nothing any more. */
import type { Logger } from 'pino';
import type { GuardedPost } from '../../channels/http.ts';
import { startDeadline } from '../../deadline.ts';
import { messageOf } from '../../errors.ts';
import type { Outages } from '../../ops/outages.ts';
import type { Troubles } from '../../ops/troubles.ts';
import type { Secret } from '../../secret.ts';
import { shorten } from '../../text.ts';
import { failUrlOf } from './heartbeat-rule.ts';

export interface HeartbeatDependencies {
  /** Whoever knows it can pretend that all is well. */
  url: Secret;
  /** Through the guard. */
  post: GuardedPost;
  /** Why there must be no heartbeat now, in a sentence without secrets. */
  reason(): Promise<string | undefined>;
  /** Nothing can have been proven yet: what lacks is no news. */
  isStarting(): boolean;
  /** Of several daemons one calls. */
  isOurs(): Promise<boolean>;
  troubles: Pick<Troubles, 'report' | 'over'>;
  outages: Pick<Outages, 'failed' | 'worked'>;
  scrub(text: string): string;
  log: Pick<Logger, 'warn' | 'info'>;
  signal: AbortSignal;
  /** How often one is due. */
  everyMs: number;
}

const TIMEOUT_MS = 10_000;
const LONGEST_REASON = 2000;
/** Calls that another daemon has made meanwhile: whether they fail, it says itself. */
const OVER_AFTER_CALLS = 3;
/** For the log of failures. */
const [GROUP, SUBJECT] = ['watchdog', 'heartbeat'];

export const createHeartbeat = (dependencies: HeartbeatDependencies) => {
  const {
    url: secret,
    post,
    reason,
    isStarting,
    isOurs,
    troubles,
    outages,
    scrub,
    log,
    signal,
    everyMs,
  } = dependencies;
  const address = secret.reveal();
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
      troubles.over('heartbeat');
      outages.worked(GROUP, SUBJECT);
    } catch (error) {
      if (signal.aborted) return;
      // Not even its host is shown: some have the token there.
      const message = scrub(messageOf(error)).replaceAll(hostname, "the dead man's switch");
      troubles.report('heartbeat', 'the heartbeat cannot be sent', {
        why: message,
        lastsMs: OVER_AFTER_CALLS * everyMs,
      });
      outages.failed(GROUP, SUBJECT, new Error(message));
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
