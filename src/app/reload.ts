/** Composes reloading: who asks for it, what it puts into force, and where it is told. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Path } from '../config/display.ts';
import type { Config } from '../config/schema.ts';
import type { ConfigSource } from '../config/source.ts';
import { createReloader, type ReloadAnswer, type ReloadOutcome } from '../features/reload/reloader.ts';
import { createReloadRequests } from '../features/reload/requests.ts';
import { createDiskWatch } from '../features/reload/watch.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { ConfigStatus } from '../ops/status.ts';
import type { Troubles } from '../ops/troubles.ts';
import { iso } from '../time.ts';
import type { Limits } from './limits.ts';
import type { Store } from './store.ts';

export interface ReloadingDependencies {
  source: ConfigSource;
  current(): Config;
  replace(config: Config, changed: readonly Path[]): Promise<void>;
  /** Called with every config that was read right, whether it comes into force or not. */
  onRead(config: Config): void;
  /** Where it is said that a config was refused, and when that is over. */
  hostTroubles: Pick<Troubles, 'report' | 'over'>;
  /** Called when an operator was answered. */
  onAnswered(): void;
  metrics: Pick<Metrics, 'configReloaded' | 'configReloadedAt'>;
  store: Pick<Store, 'redis' | 'prefix'>;
  scrub(text: string): string;
  stopping: AbortSignal;
  log: Logger;
  limits: Pick<Limits, 'configLookMs' | 'configTakenMs'>;
  now(): number;
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

const elapsed = (): number => performance.now();

const repeat = async (everyMs: number, work: () => Promise<void>, stopping: AbortSignal): Promise<void> => {
  while (!stopping.aborted) {
    await work();
    await sleep(everyMs, undefined, { signal: stopping }).catch(() => {});
  }
};

/** What is known of the config, for reports, health and metrics. */
const createStanding = ({ source, metrics, limits, now, hostTroubles }: ReloadingDependencies) => {
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
    hostTroubles.over('config');
  };

  const tellLate = (): void => {
    // One that was refused is told as that.
    if (differsSince === undefined || refused !== undefined) hostTroubles.over('config', source.file);
    else if (now() - differsSince >= limits.configTakenMs) {
      const what = `${source.file} differs from the config that runs`;
      hostTroubles.report('config', what, { of: source.file, todo: TAKE_IT });
    }
  };

  return {
    begin: () => taken(),
    note: (end: ReloadOutcome): void => {
      passingSince = end.outcome === 'refused' && end.isPassing ? elapsed() : undefined;
      if (end.outcome !== 'refused') {
        taken(end);
        return;
      }
      refused = { at: iso(now()), problems: end.problems };
      metrics.configReloaded.set(0);
      const why = whyRefused(end.problems);
      hostTroubles.report('config', 'the new config was refused, and the old one runs on', { why });
    },
    isDueAgain: (): boolean => passingSince !== undefined && elapsed() - passingSince >= AGAIN_MS,
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

export const openReloading = (dependencies: ReloadingDependencies) => {
  const { source, store, stopping, log, onAnswered } = dependencies;
  const standing = createStanding(dependencies);
  standing.begin();
  const requests = createReloadRequests(store.redis, store.prefix);
  let answer: ReloadAnswer | undefined;

  const reloader = createReloader({ ...dependencies, onOutcome: standing.note, elapsed });
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

  const surviving = (work: () => Promise<void>) => () =>
    work().catch((error: unknown) => {
      if (!stopping.aborted) log.warn({ err: error }, 'the config cannot be watched; trying again');
    });

  return {
    request: reloader.request,
    idle: reloader.idle,
    report: () => ({ config: standing.status(), ...(answer === undefined ? {} : { reload: answer }) }),
    /** Looks for changes until `stopping`; never rejects. */
    watch: async (): Promise<void> => {
      await Promise.all([
        repeat(dependencies.limits.configLookMs, surviving(lookAtDisk), stopping),
        repeat(LOOK_FOR_REQUESTS_EVERY_MS, surviving(answerRequests), stopping),
      ]);
    },
  };
};
