/**
 * What each daemon says of itself: a small record in Redis that it writes every few seconds and removes when it stops.
 * Others can tell from it what runs, and how old that knowledge is.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Condition, ConditionName } from '../../condition.ts';
import type { CheckReport, Health } from '../../ops/health.ts';
import type { DaemonStatus, ServiceCondition, ServiceStatus } from '../../ops/status.ts';
import type { PaceState } from '../../poll/pacer.ts';
import { askEach, execute } from '../../redis/pipeline.ts';
import { serviceText, shorten } from '../../text.ts';
import { ageText, iso } from '../../time.ts';
import { build } from '../../version.ts';
import type { ReloadAnswer } from '../reload/reloader.ts';

export interface DaemonReport extends Omit<DaemonStatus, 'heardAt' | 'isRunning' | 'isMissed'> {
  /** How long it had been running then. */
  uptimeMs: number;
  services: ServiceStatus[];
  conditions: Condition[];
  reload?: ReloadAnswer;
}

export interface HeardDaemon extends DaemonReport {
  /** Milliseconds since it was written, by the clock of Redis: the daemons' clocks may differ. */
  silentMs: number;
}

/** A daemon that ended without removing its report is missed for so long, unless somebody says otherwise. */
const KEEP_MS = 30 * 86_400_000;
/** A daemon that crashes at every start leaves one report each time; no more than these are kept, the newest. */
export const MOST_DAEMONS = 50;

export const createDaemonReports = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const index = `${prefix}:daemons`;
  const keyOf = (id: string): string => `${prefix}:daemon:${id}`;

  const list = async (): Promise<HeardDaemon[]> => {
    const ids = await redis.zrange(index, '0', '-1');
    if (ids.length === 0) return [];
    const answers = await askEach(redis, ids, (batch, id) => batch.get(keyOf(id)).pttl(keyOf(id)));
    const heard = ids.flatMap((_, at): HeardDaemon[] => {
      const [json, leftMs] = answers.slice(2 * at, 2 * at + 2);
      if (typeof json !== 'string' || typeof leftMs !== 'number') return [];
      return [{ ...(JSON.parse(json) as DaemonReport), silentMs: Math.max(0, KEEP_MS - leftMs) }];
    });
    return heard.sort((a, b) => a.silentMs - b.silentMs);
  };

  return {
    write: async (report: DaemonReport): Promise<void> => {
      const batch = redis.pipeline().set(keyOf(report.id), JSON.stringify(report), 'PX', KEEP_MS);
      batch.zadd(index, now(), report.id).zremrangebyrank(index, 0, -(MOST_DAEMONS + 1));
      await execute(batch.pexpire(index, KEEP_MS));
    },
    /** With its earlier runs, whose place it took. */
    remove: async (id: string): Promise<void> => {
      const daemons = await list();
      const ids = [id, ...earlierRuns(id, daemons).map((one) => one.id)];
      const batch = redis.pipeline().del(...ids.map(keyOf));
      await execute(batch.zrem(index, ...ids));
    },
    /** The one that was heard last comes first. */
    list,
  };
};

export type DaemonReports = ReturnType<typeof createDaemonReports>;

/** Daemons report every few seconds; one that was not heard for this long does not run, or cannot write to Redis. */
export const SILENT_AFTER_MS = 20_000;

export const isRunning = ({ silentMs }: Pick<HeardDaemon, 'silentMs'>): boolean => silentMs <= SILENT_AFTER_MS;

/** How many milliseconds ago it was started, by the clock of Redis and its own monotonic one. */
const beganAgo = ({ uptimeMs, silentMs }: HeardDaemon): number => uptimeMs + silentMs;

/** The runs under the name of its host that ended before it began, each before the next: another one there may still run. */
const earlierRuns = (id: string, lastHeardFirst: readonly HeardDaemon[]): HeardDaemon[] => {
  let later = lastHeardFirst.find((one) => one.id === id);
  return lastHeardFirst.filter((one) => {
    if (later === undefined || one.host !== later.host || one.silentMs < beganAgo(later)) return false;
    later = one;
    return true;
  });
};

/** Those that ended without saying so, and are not back. */
export const missedOf = (lastHeardFirst: readonly HeardDaemon[]): HeardDaemon[] => {
  const replaced = new Set<string>();
  for (const { id } of lastHeardFirst) {
    if (!replaced.has(id)) for (const earlier of earlierRuns(id, lastHeardFirst)) replaced.add(earlier.id);
  }
  return lastHeardFirst.filter((one) => !isRunning(one) && !replaced.has(one.id));
};

export const daemonStatus = (
  { silentMs, uptimeMs: _, services: __, reload: ___, conditions: ____, ...daemon }: HeardDaemon,
  missed: readonly HeardDaemon[],
  now: number,
): DaemonStatus => ({
  ...daemon,
  heardAt: iso(now - silentMs),
  isRunning: isRunning({ silentMs }),
  isMissed: missed.some(({ id }) => id === daemon.id),
});

/** Daemons share the polls, so one may not have read for long what another reads all the time: knowledge comes first. */
const WORST_FIRST: readonly ServiceCondition[] = ['fails', 'partly', 'answers', 'elsewhere', 'unknown'];

const knowledgeOf = (name: string, daemons: readonly HeardDaemon[]): ServiceStatus | undefined => {
  const known = daemons.flatMap(({ services }) => services.filter((service) => service.name === name));
  return WORST_FIRST.flatMap((state) => known.find((one) => one.state === state) ?? [])[0];
};

/** How each service answers, as the daemons that run know it. */
export const servicesAsKnown = (names: readonly string[], daemons: readonly HeardDaemon[]): ServiceStatus[] => {
  const running = daemons.filter(isRunning);
  return names.map((name) => {
    const unknown = (lastError: string): ServiceStatus => ({ name, up: false, state: 'unknown', lastError });
    if (running.length > 0) return knowledgeOf(name, running) ?? unknown('no daemon that runs reads it');
    const knew = knowledgeOf(name, daemons.slice(0, 1));
    const then = knew && (knew.up ? 'answered' : `did not: ${knew.lastError ?? 'no answer'}`);
    const before = then === undefined ? '' : `; ${ageText(daemons[0]?.silentMs ?? 0)} ago it ${then}`;
    return unknown(`unknown, as no daemon runs${before}`);
  });
};

interface SelfReportDependencies extends Pick<DaemonReport, 'id' | 'host' | 'pid'> {
  startedAt: number;
  uptimeMs(): number;
  health: Pick<Health, 'ready'>;
  /** Which services have no read that fails. `isLeft`: this one does not answer here, and others read it. */
  services(): readonly (Pick<ServiceStatus, 'name' | 'up' | 'since' | 'lastError'> & {
    isLeft: boolean;
    pace?: PaceState;
  })[];
  scrub(text: string): string;
}

/** A sentence of a report has at most this many UTF-16 units: it is written every few seconds. */
const LONGEST_SENTENCE = 1000;

const NOT_LATELY = 'it was not read lately';

/**
 * `check` says whether the service as a whole can be read; `reads`, whether some of its reads fail; `protocols`, whether
 * some are not read at all.
 */
const serviceStatus = (
  reads: Pick<ServiceStatus, 'name' | 'up' | 'since' | 'lastError'>,
  check: CheckReport | undefined,
  protocols: CheckReport | undefined,
): ServiceStatus => {
  const { name } = reads;
  if (check?.status === 'ok') {
    if (!reads.up) return { ...reads, state: 'partly' };
    if (protocols === undefined) return { name, up: true, state: 'answers', since: check.since };
    return { name, up: false, state: 'partly', since: protocols.since, lastError: protocols.detail ?? NOT_LATELY };
  }
  const isFailing = check?.status === 'failing';
  const isStale = !isFailing && check?.detail !== undefined;
  // Not proven lately, and the reads say why.
  if (isStale && !reads.up) return { ...reads, state: 'fails' };
  const lastError = isFailing ? check.detail : isStale ? NOT_LATELY : 'it was not read yet';
  return { name, up: false, state: isFailing || isStale ? 'fails' : 'unknown', since: check?.since, lastError };
};

/** Of a service that this daemon leaves to others: what it meets there itself is no trouble of the service. */
const leftTo = (others: boolean, own: ServiceStatus): ServiceStatus =>
  others && ['fails', 'partly'].includes(own.state) ? { ...own, state: 'elsewhere' } : own;

/** What a service that is not up is, as a condition: the daemons share its reads, and each tells what it meets. */
const SERVICE_CONDITIONS: Readonly<Partial<Record<ServiceCondition, readonly [ConditionName, string]>>> = {
  fails: ['service', 'cannot be read'],
  elsewhere: ['cut-off', 'does not answer this daemon, and others read it'],
  partly: ['unread', 'can be read in part only'],
};

const serviceCondition = ({ name: of, state, since, lastError: why = 'no answer' }: ServiceStatus): Condition[] => {
  const [name, says] = SERVICE_CONDITIONS[state] ?? [];
  return name === undefined ? [] : [{ name, of, under: of, what: `${serviceText(of)} ${says}`, why, since }];
};

/** What a check that fails is, as a condition; of services the reads say more. */
const checkCondition = ({ name, status, since, detail = 'no answer' }: CheckReport): Condition[] => {
  if (status !== 'failing') return [];
  const [check, of = ''] = name.split(/:(.*)/s);
  if (check === 'channel') return [{ name: 'channel', of, what: `${of} does not work`, why: detail, since }];
  return check === 'redis' ? [{ name: 'redis', of: '', what: detail, since }] : [];
};

export const createSelfReport = (dependencies: SelfReportDependencies) => {
  const { health, services, scrub, startedAt, uptimeMs, ...self } = dependencies;
  /** With these of its texts short and without secrets. */
  const clean = <T extends object>(one: T, texts: readonly (keyof T)[]): T => {
    const known = texts.filter((key) => one[key] !== undefined);
    const sentences = known.map((key) => [key, shorten(scrub(String(one[key])), LONGEST_SENTENCE)]);
    return { ...one, ...Object.fromEntries(sentences) };
  };

  return (): DaemonReport => {
    const { status, checks, troubles: reported = [] } = health.ready();
    const checkOf = (wanted: string): CheckReport | undefined => checks.find(({ name }) => name === wanted);
    const known = services().map(({ pace, isLeft, ...one }) => ({
      ...leftTo(isLeft, serviceStatus(one, checkOf(`service:${one.name}`), checkOf(`protocols:${one.name}`))),
      ...(pace && { pollSeconds: Math.round(pace.everyMs / 100) / 10 }),
      ...(pace?.needed !== undefined && { neededRequestsPerSecond: pace.needed }),
    }));
    const conditions = [...known.flatMap(serviceCondition), ...checks.flatMap(checkCondition), ...reported];
    return {
      ...self,
      ...build(),
      startedAt: iso(startedAt),
      uptimeMs: uptimeMs(),
      ready: status === 'ok',
      checks: checks.map((check) => clean(check, ['detail'])),
      services: known.map((service) => clean(service, ['lastError'])),
      conditions: conditions.map((one) => clean(one, ['what', 'why'])),
    };
  };
};
