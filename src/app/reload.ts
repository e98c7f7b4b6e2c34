/** Composes reloading, in the daemon that takes a config into force and in the command that asks for it. */

import { randomUUID } from 'node:crypto';
import type { Path } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import type { ConfigSource } from '../config/source.ts';
import { NoDaemonError } from '../errors.ts';
import { createDaemonReports, type HeardDaemon, isRunning } from '../features/conditions/daemons.ts';
import {
  createDiskWatch,
  createReloader,
  createReloadRequests,
  type ReloadAnswer,
  type ReloadOutcome,
} from '../features/reload/reloader.ts';
import type { ConfigStatus } from '../ops/status.ts';
import { startTurns } from '../redis/turns.ts';
import { iso } from '../time.ts';
import { pause } from '../waiting.ts';
import { type Host, type Limits, monotonic, onTurnFailed } from './context.ts';
import { attachRedis } from './redis.ts';

interface OpenReloading extends Pick<Host, 'hostConditions' | 'metrics' | 'scrub' | 'log' | 'now'> {
  store: Pick<Host['store'], 'redis' | 'prefix'>;
  limits: Pick<Limits, 'configLookMs' | 'configTakenMs'>;
  source: ConfigSource;
  current(): Config;
  replace(config: Config, changed: readonly Path[]): Promise<void>;
  /** Called with every config that was read right, whether it comes into force or not. */
  onRead(config: Config): void;
  onAnswered(): void;
  stopping: AbortSignal;
}

const LOOK_FOR_REQUESTS_EVERY_MS = 5000;
/** What passes by itself, such as a Redis that is away, is tried again as often. */
const AGAIN_MS = 10_000;
const TAKE_IT = '`tocsin reload` takes it into force, or says why not; where it does neither, restart the daemon';
/** A trouble names so many problems; the log and `tocsin check` have the others. */
const PROBLEMS_NAMED = 3;

const whyRefused = (problems: readonly string[]): string => {
  const more = problems.length - PROBLEMS_NAMED;
  return `${problems.slice(0, PROBLEMS_NAMED).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
};

/** What is known of the config, for reports, health and metrics. */
const createStanding = ({ source, metrics, limits, now, hostConditions }: OpenReloading) => {
  let since = now();
  let changed: string[] | undefined;
  let runningPrint = source.readPrint();
  let differsSince: number | undefined;
  let refused: ConfigStatus['refused'];
  let passingSince: number | undefined;

  const taken = (end?: Exclude<ReloadOutcome, { outcome: 'refused' }>): void => {
    if (end?.outcome === 'reloaded') {
      since = now();
      changed = end.changed;
    }
    runningPrint = source.readPrint();
    differsSince = undefined;
    refused = undefined;
    metrics.configReloaded.set(1);
    metrics.configReloadedAt.set(now() / 1000);
    hostConditions.over('config');
  };

  const tellLate = (): void => {
    // One that was refused is reported as that.
    if (differsSince === undefined || refused !== undefined) hostConditions.over('config', source.file);
    else if (now() - differsSince >= limits.configTakenMs) {
      const what = `${source.file} differs from the config that runs`;
      hostConditions.report('config', what, { of: source.file, todo: TAKE_IT });
    }
  };

  return {
    begin: () => taken(),
    note: (end: ReloadOutcome): void => {
      passingSince = end.outcome === 'refused' && end.isPassing ? monotonic() : undefined;
      if (end.outcome !== 'refused') {
        taken(end);
        return;
      }
      refused = { at: iso(now()), problems: end.problems };
      metrics.configReloaded.set(0);
      const why = whyRefused(end.problems);
      hostConditions.report('config', 'the new config was refused, and the old one runs on', { why });
    },
    isDueAgain: (): boolean => passingSince !== undefined && monotonic() - passingSince >= AGAIN_MS,
    onDisk: (print: string | undefined): void => {
      differsSince = print === undefined || print === runningPrint ? undefined : (differsSince ?? now());
      tellLate();
    },
    status: (): ConfigStatus => ({
      file: source.file,
      since: iso(since),
      ...(changed === undefined ? {} : { changed }),
      ...(differsSince === undefined ? {} : { differsSince: iso(differsSince) }),
      ...(refused === undefined ? {} : { refused }),
    }),
  };
};

export const openReloading = (dependencies: OpenReloading) => {
  const { source, store, onAnswered } = dependencies;
  const standing = createStanding(dependencies);
  standing.begin();
  const requests = createReloadRequests(store.redis, store.prefix);
  let answer: ReloadAnswer | undefined;

  const reloader = createReloader({ ...dependencies, onOutcome: standing.note, monotonic });
  const look = createDiskWatch({ ...source, onChanged: () => void reloader.request('the file has changed') });

  const lookAtDisk = async (): Promise<void> => {
    standing.onDisk(await look());
    if (standing.isDueAgain()) await reloader.request('trying again');
  };

  const answerRequests = async (): Promise<void> => {
    if (store.redis.status !== 'ready') return;
    const asked = await requests.list();
    const known = answer?.requests ?? [];
    if (asked.every((id) => known.includes(id))) return;
    answer = { requests: asked, end: await reloader.request('tocsin reload') };
    onAnswered();
  };

  return {
    request: reloader.request,
    report: () => ({ config: standing.status(), ...(answer === undefined ? {} : { reload: answer }) }),
    /** Looks for changes until `stopping`. */
    watch: () =>
      startTurns(
        [
          { name: 'config', everyMs: dependencies.limits.configLookMs, run: lookAtDisk },
          { name: 'reload requests', everyMs: LOOK_FOR_REQUESTS_EVERY_MS, run: answerRequests },
        ],
        { onFailed: onTurnFailed(dependencies), stopping: dependencies.stopping },
      ),
  };
};

// Composes the `reload` command: asks the daemons that share a Redis, and waits for what each says. Starts nothing.

export interface DaemonAnswer extends Pick<HeardDaemon, 'id' | 'host' | 'pid'> {
  /**
   * `silent`: it gave no answer in time. `stopped`: it has ended meanwhile. `unable`: it does not know the request, as an
   * earlier version, or has no file to read.
   */
  end: ReloadOutcome | { outcome: 'silent' | 'stopped' | 'unable' };
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
      await pause(LOOK_EVERY_MS, signal);
    }
  } finally {
    await close();
  }
};
