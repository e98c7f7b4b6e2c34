/** Composes the `reload` command: asks the daemons that share a Redis, and waits for what each says. Starts nothing. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/schema.ts';
import { NoDaemonError } from '../errors.ts';
import type { ReloadOutcome } from '../features/reload/reloader.ts';
import { createReloadRequests } from '../features/reload/requests.ts';
import { createDaemonReports, type HeardDaemon } from '../features/status/daemons.ts';
import { isRunning } from '../features/status/known.ts';
import type { ConfigStatus } from '../ops/status.ts';
import { attachRedis } from './redis.ts';

export interface DaemonAnswer extends Pick<HeardDaemon, 'id' | 'host' | 'pid'> {
  /**
   * `silent`: it gave no answer in time. `stopped`: it has ended meanwhile. `unable`: it does not know the request, as an
   * earlier version, or has no file to read.
   */
  end: ReloadOutcome | { outcome: 'silent' | 'stopped' | 'unable' };
  /** What runs now. */
  config?: Pick<ConfigStatus, 'since' | 'changed'>;
}

/** Daemons look for requests every five seconds. */
const LOOK_EVERY_MS = 250;

const answerOf = (
  { id, host, pid, config }: HeardDaemon,
  now: readonly HeardDaemon[],
  request: string,
): DaemonAnswer => {
  const who = { id, host, pid };
  if (config === undefined) return { ...who, end: { outcome: 'unable' } };
  const report = now.find((one) => one.id === id);
  if (report === undefined) return { ...who, end: { outcome: 'stopped' } };
  const isAnswered = report.reload?.requests.includes(request) ?? false;
  const { since, changed } = report.config ?? config;
  const running = { config: { since, ...(changed === undefined ? {} : { changed }) } };
  if (!isAnswered || report.reload === undefined) return { ...who, ...running, end: { outcome: 'silent' } };
  return { ...who, ...running, end: report.reload.end };
};

/** Throws a `NoDaemonError` where no daemon runs. */
export const askToReload = async (
  config: Config,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<DaemonAnswer[]> => {
  const { redis, prefix, address, close } = await attachRedis(config);
  try {
    const reports = createDaemonReports(redis, prefix, Date.now);
    const asked = (await reports.list()).filter(isRunning);
    if (asked.length === 0) throw new NoDaemonError(`no daemon runs at the Redis of this config (${address})`);
    const request = randomUUID();
    await createReloadRequests(redis, prefix).ask(request);
    const endAt = performance.now() + timeoutMs;
    for (;;) {
      const now = await reports.list();
      const answers = asked.map((one) => answerOf(one, now, request));
      const isWhole = answers.every(({ end }) => end.outcome !== 'silent');
      if (isWhole || signal.aborted || performance.now() >= endAt) return answers;
      await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    }
  } finally {
    await close();
  }
};
