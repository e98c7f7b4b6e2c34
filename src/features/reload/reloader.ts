/**
 * Takes a new config into force, whole or not at all. Everything that a restart would refuse is refused here, and then the
 * config that was in force before stays so.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type Path, showPath } from '../../config/problems.ts';
import type { Config } from '../../config/schema.ts';
import { type ConfigSource, changesOf, needsRestart } from '../../config/source.ts';
import { ConfigError, formatProblem, messageOf, UnavailableError } from '../../errors.ts';
import { execute } from '../../redis/pipeline.ts';
import { firstFew } from '../../text.ts';

/** A daemon looks every few seconds; one that did not meanwhile has read its config at a later start. */
const KEEP_MS = 120_000;
/** Of that time; more ask for the same. */
const MOST_KEPT = 20;

/** Requests of `tocsin reload` to every daemon that shares this Redis. Daemons answer with their reports. */
export const createReloadRequests = (redis: Redis | Cluster, prefix: string) => {
  const key = `${prefix}:reload`;
  return {
    /** Asks every daemon to read its config again. */
    ask: async (id: string): Promise<void> => {
      await execute(redis.pipeline().rpush(key, id).ltrim(key, -MOST_KEPT, -1).pexpire(key, KEEP_MS));
    },
    /** Those of the last minutes, the oldest first. */
    list: (): Promise<string[]> => redis.lrange(key, 0, -1),
  };
};

interface DiskWatchDependencies {
  /** Of what was read last, right or wrong. */
  readPrint(): string;
  /** Of what is on disk; undefined where that cannot be looked at. */
  diskPrint(): Promise<string | undefined>;
  onChanged(): void;
}

/**
 * Notices that the config on disk is another than what was read. Gives one look, to be repeated every few seconds. Contents
 * are compared, not times or inodes: editors replace a file by renaming another, Kubernetes turns a link around, and network
 * file systems tell nobody. A file that is just being written is not read: it has to be the same at two looks. It resolves
 * with the print that was found.
 */
export const createDiskWatch = ({ readPrint, diskPrint, onChanged }: DiskWatchDependencies) => {
  let before: string | undefined;
  return async (): Promise<string | undefined> => {
    const now = await diskPrint();
    const isSettled = now === before;
    before = now;
    if (now !== undefined && isSettled && now !== readPrint()) onChanged();
    return now;
  };
};

export type ReloadOutcome =
  | { outcome: 'reloaded'; changed: string[] }
  | { outcome: 'unchanged' }
  /** `isPassing`: it may be taken as it is, later. */
  | { outcome: 'refused'; problems: string[]; isPassing: boolean };

/** What a daemon says to `tocsin reload`. */
export interface ReloadAnswer {
  /** Ids of the requests that it has answered lately. */
  requests: string[];
  end: ReloadOutcome;
}

interface ReloaderDependencies {
  source: Pick<ConfigSource, 'file' | 'read'>;
  current(): Config;
  /** Puts a config into force. Throws where it cannot be, and then the one before it is still in force. */
  replace(config: Config, changed: readonly Path[]): Promise<void>;
  /** Called with a config before anything is done with it. */
  onRead(config: Config): void;
  onOutcome(outcome: ReloadOutcome): void;
  scrub(text: string): string;
  log: Pick<Logger, 'info' | 'error'>;
  monotonic(): number;
}

/** Problems and changed keys that are logged and reported; how many more there are is said. */
const MOST_LISTED = 50;

const refused = (problems: readonly string[], isPassing = false): ReloadOutcome => ({
  outcome: 'refused',
  problems: firstFew(problems, MOST_LISTED),
  isPassing,
});

const problemsOf = (error: unknown): string[] =>
  error instanceof ConfigError ? error.problems.map(formatProblem) : [messageOf(error)];

const restartProblem = (keys: readonly string[]): string =>
  `${keys.join(', ')}: a change of ${keys.length === 1 ? 'it' : 'them'} needs a restart, and nothing else of the new config is in force before it`;

export const createReloader = (dependencies: ReloaderDependencies) => {
  const { source, current, replace, onRead, onOutcome, scrub, log, monotonic } = dependencies;
  let running: Promise<ReloadOutcome> | undefined;
  let next: Promise<ReloadOutcome> | undefined;

  const take = async (): Promise<ReloadOutcome> => {
    const config = await source.read();
    onRead(config);
    const paths = changesOf(current(), config);
    if (paths.length === 0) return { outcome: 'unchanged' };
    const unchangeable = paths.filter(needsRestart).map(showPath);
    if (unchangeable.length > 0) return refused([restartProblem(unchangeable)]);
    await replace(config, paths);
    const shown = paths.map((path) => scrub(showPath(path)));
    return { outcome: 'reloaded', changed: firstFew(shown, MOST_LISTED) };
  };

  /** What was refused last for something that may pass, such as a Redis that is away. */
  let saidPassing: string | undefined;

  /** It is tried again and again, and nobody reads the same line every ten seconds. */
  const isSaid = (cause: string, end: ReloadOutcome): boolean => {
    const before = saidPassing;
    saidPassing = end.outcome === 'refused' && end.isPassing ? JSON.stringify([cause, end.problems]) : undefined;
    return saidPassing !== undefined && saidPassing === before;
  };

  const say = (cause: string, end: ReloadOutcome, tookMs: number): void => {
    if (isSaid(cause, end)) return;
    const facts = { cause, file: source.file, tookMs };
    if (end.outcome === 'reloaded') log.info({ ...facts, changed: end.changed }, 'the new config is in force');
    if (end.outcome === 'unchanged') log.info(facts, 'the config was read again, and says the same');
    if (end.outcome === 'refused') {
      log.error({ ...facts, problems: end.problems }, 'the new config was refused; the one before it stays in force');
    }
  };

  const run = async (cause: string): Promise<ReloadOutcome> => {
    const startedAt = monotonic();
    const end = await take().catch((error: unknown) => {
      const problems = problemsOf(error).map((problem) => scrub(problem));
      return refused(problems, error instanceof UnavailableError);
    });
    say(cause, end, Math.round(monotonic() - startedAt));
    onOutcome(end);
    return end;
  };

  const request = (cause: string): Promise<ReloadOutcome> => {
    if (running === undefined) {
      running = run(cause).finally(() => {
        running = undefined;
      });
      return running;
    }
    // What is read now may be older than what this one wants: those that come meanwhile share one more.
    next ??= running.then(() => {
      next = undefined;
      return request(cause);
    });
    return next;
  };

  return {
    /** Reads the config again, for the reason `cause`. Never rejects. */
    request,
  };
};
