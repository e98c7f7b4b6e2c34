/** A generation: everything that one config decides, from its opening to its end, and how another takes its place. */

import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { openConfiguredChannels } from '../channels/open.ts';
import { decides } from '../config/print.ts';
import type { Path } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, UnavailableError } from '../errors.ts';
import { createStanding, type Role } from '../features/standby/standing.ts';
import { createOnNewerJob } from '../ops/checks.ts';
import { createConditions } from '../ops/conditions.ts';
import { createFailureLog } from '../ops/failure-log.ts';
import { createHealth } from '../ops/health.ts';
import type { Metrics } from '../ops/metrics.ts';
import { startTurns } from '../redis/turns.ts';
import { withinTime } from '../waiting.ts';
import { openVerbs, sharedTurns, startWork } from './compose.ts';
import { type Context, type Grace, type Host, monotonic, onTurnFailed } from './context.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { expectHealth, openMaintenance } from './maintenance.ts';
import { openOps } from './ops.ts';
import { openWatchdog } from './watchdog.ts';

export const AT_STOP: Grace = { sends: 4000, polls: 1000, turns: 1000, step: 6000 };

/** The process lives on, so a send has its whole time, twice for one that amends first: nothing is in doubt. */
const atRetirement = ({ channels }: Config): Grace => {
  const sends = 2 * Math.max(0, ...Object.values(channels).map(({ timeout }) => timeout)) + 1000;
  return { sends, polls: 10_000, turns: 5000, step: Math.max(sends, 10_000) + 2000 };
};

/** What a generation sets at each scrape ends with it; its counters go on. */
const scrapedWhile = ({ metrics }: Host, { onStop }: Lifecycle): Metrics => ({
  ...metrics,
  onScrape: (...refresh) => {
    const end = metrics.onScrape(...refresh);
    onStop('scrape', end);
    return end;
  },
});

/** Why a generation is there. */
interface Part {
  role: Role;
  /** Since when its config is in force, where it was before. */
  since?: number | undefined;
  /** It has to have another role from now on; called again and again. */
  onRole(role: Role): void;
  fail: Context['fail'];
}

/** Whether its config counts; what it waits for is a check of its own, a rollout at first, and a trouble when it lasts. */
const openStanding = (host: Host, config: Config, { role, since, onRole }: Part, found: Pick<Context, Found>) => {
  const { limits } = host;
  const beganAt = monotonic();
  return createStanding({
    ...{ ...host, config, role, since, record: host.store.configRecord, host: hostname() },
    vacantMs: limits.configVacantMs,
    onSuperseded: () => onRole('stands by'),
    onCounts: () => onRole('works'),
    onStandsBy: (by, differs) => {
      const keys = differs.join(', ');
      const why = `this daemon stands by: the config of ${by} is in force, and differs in ${keys}`;
      found.health.fail('config-differs', why);
      if (monotonic() - beganAt < limits.configDiffersMs) {
        found.conditions.report('rollout', `a rollout is under way: ${why}`);
        return;
      }
      found.conditions.over('rollout');
      const what = `the config differs from that of ${by}, which is in force; this daemon neither reads nor sends`;
      found.conditions.report('config-differs', what, { why: `different are ${keys}` });
    },
    monotonic,
  });
};
type Found = 'health' | 'conditions';

type Bounds = Pick<Context, 'lifecycle' | 'grace' | 'stopping'>;

const openContext = async (host: Host, config: Config, part: Part, bounds: Bounds): Promise<Context> => {
  const { log, limits, now } = host;
  const { channels, post, close } = await openConfiguredChannels(config, now);
  bounds.lifecycle.onStop('channels', close);
  const conditions = createConditions(host);
  const health = createHealth({ now, conditions: () => [...host.hostConditions.current(), ...conditions.current()] });
  expectHealth(health, part.role === 'works' ? config : { ...config, services: [], channels: {} });
  return {
    ...{ ...host, ...bounds, config, channels, post, conditions, health, fail: part.fail },
    standing: openStanding(host, config, part, { health, conditions }),
    id: randomUUID(),
    metrics: scrapedWhile(host, bounds.lifecycle),
    failureLog: createFailureLog(log, now),
    onNewerJob: createOnNewerJob({ conditions, log, goneAfterMs: limits.newerJobsGoneMs }),
  };
};

type Generation = ReturnType<typeof createGeneration>;
type OpenGeneration = Awaited<ReturnType<Generation['open']>>;

/** Nothing of it runs before `start`. */
const createGeneration = (host: Host, config: Config, part: Part) => {
  const lifecycle = createLifecycle(host.log, AT_STOP.step);
  const stopping = new AbortController();
  const grace = { ...AT_STOP };
  /** Absent until it delivers. */
  let stopDelivering: ((graceMs: number) => Promise<void>) | undefined;
  let standing: Context['standing'] | undefined;
  const end = (): Promise<boolean> => {
    stopping.abort();
    // Before all else, and again where less time is left now than when it was first asked.
    void stopDelivering?.(grace.sends).catch(() => {});
    return lifecycle.stop(grace.step);
  };
  return {
    config,
    role: part.role,
    /** Since when its config is in force, as far as it was. */
    since: () => standing?.since(),
    /** Opens what it needs; nothing of it runs. */
    open: async () => {
      const context = await openContext(host, config, part, { lifecycle, grace, stopping: stopping.signal });
      ({ standing } = context);
      const verbs = openVerbs(context);
      const ops = openOps(context, verbs);
      const watchdog = openWatchdog(context, verbs, ops.known);
      const start = async (): Promise<void> => {
        ({ stopDelivering } = await startWork(context, verbs));
        if (part.role === 'stands by') return;
        const maintenance = openMaintenance(context, { ...verbs, ...ops, watchdog });
        lifecycle.onStop('state file', maintenance.close);
        const daemons = { ...verbs.membership, own: context.id, locks: host.store.locks };
        const turns = startTurns([...sharedTurns(context, verbs), ...maintenance.turns], {
          ...{ daemons, onFailed: onTurnFailed(host), stopping: stopping.signal },
        });
        const listed = maintenance.listAll();
        lifecycle.onStop('turns', async () => {
          await turns.stopped(grace.turns);
          await listed;
        });
      };
      return { endpoints: ops.endpoints, selfReport: ops.selfReport, health: context.health, start };
    },
    /** Soon: a process ends. Legal at any time; the same end however often it is called. */
    stop: () => {
      Object.assign(grace, AT_STOP);
      return end();
    },
    /** Takes no new work at once, and lets what is in flight come to its own end. */
    retire: () => {
      Object.assign(grace, atRetirement(config));
      return end();
    },
  };
};

/** A new generation opens and starts within this time, or is given up. Nothing of that waits for a service or channel. */
const START_WITHIN_MS = 30_000;
const REDIS_WITHIN_MS = 3000;

const demandRedis = async ({ redis }: Host['store']): Promise<void> => {
  try {
    if (redis.status !== 'ready') throw new Error('it is not connected');
    await withinTime(redis.ping(), REDIS_WITHIN_MS);
  } catch (error) {
    throw new UnavailableError(`Redis does not answer (${messageOf(error)}); the new config is tried again by itself`);
  }
};

/** What was proven or failed under the old config stands under the new one where that says the same of it. */
const isUnaffected = (check: string, changed: readonly Path[]): boolean => {
  const [what, name] = /^(\w+):(.*)$/s.exec(check)?.slice(1) ?? [];
  if (what === 'service') return !changed.some(([section, key]) => section === 'services' && key === name);
  if (what === 'channel') return !changed.some(([section, key]) => section === 'channels' && key === name);
  return check === 'redis';
};

interface GenerationEvents {
  /** A generation that is in force cannot go on. */
  fail(reason: string): void;
  /** Called with one that comes into force after another. */
  onReplaced(open: OpenGeneration, config: Config): void;
}

/** Which generation is in force, and how one of another config, or in another role, takes its place while it works. */
export const createGenerations = (host: Host, { fail, onReplaced }: GenerationEvents) => {
  const living = new Set<Generation>();
  let current: { generation: Generation; open: OpenGeneration } | undefined;
  let retiring: Promise<unknown> = Promise.resolve();
  let isStopping = false;
  /** One replacement at a time. */
  let replacing: Promise<unknown> | undefined;

  const createLiving = (config: Config, role: Role, since?: number): Generation => {
    const isCurrent = (): boolean => current === undefined || current.generation === generation;
    const generation: Generation = createGeneration(host, config, {
      ...{ role, since },
      onRole: (other) => {
        if (isCurrent() && replacing === undefined && role !== other) void changeRole(other);
      },
      fail: (reason) => {
        if (isCurrent()) fail(reason);
      },
    });
    living.add(generation);
    return generation;
  };

  const startAnother = async (generation: Generation, before: OpenGeneration, changed: readonly Path[]) => {
    const open = await generation.open();
    for (const [name, check] of before.health.known()) {
      if (isUnaffected(name, changed)) open.health.adopt(name, check);
    }
    await withinTime(open.start(), START_WITHIN_MS);
    if (isStopping) throw new UnavailableError('the daemon is stopping');
    return open;
  };

  const retire = async (generation: Generation): Promise<void> => {
    const isClean = await generation.retire();
    living.delete(generation);
    host.log.info({ clean: isClean }, 'nothing works by the old config any more');
    await host.metrics.keepServices(current?.generation.config.services.map(({ name }) => name) ?? []);
  };

  const putInPlace = async (generation: Generation, changed: readonly Path[]): Promise<void> => {
    const before = current;
    if (before === undefined || isStopping) throw new UnavailableError('the daemon is starting or stopping');
    try {
      current = { generation, open: await startAnother(generation, before.open, changed) };
    } catch (error) {
      await generation.stop();
      living.delete(generation);
      throw isStopping ? new UnavailableError('the daemon is stopping') : error;
    }
    onReplaced(current.open, generation.config);
    retiring = Promise.all([retiring, retire(before.generation).catch(() => {})]);
  };

  /** Nothing closes over a config here: an aborted signal keeps its stack, and with it what the functions there hold. */
  const oneAfterAnother = async <T extends unknown[]>(replace: (...args: T) => Promise<void>, ...args: T) => {
    while (replacing !== undefined) await replacing.catch(() => {});
    replacing = replace(...args);
    await replacing.finally(() => {
      replacing = undefined;
    });
  };

  const replace = async (config: Config, changed: readonly Path[]): Promise<void> => {
    await retiring;
    await demandRedis(host.store);
    // What decides nothing puts no config into force.
    const same = changed.some(decides) ? undefined : current?.generation;
    await putInPlace(createLiving(config, same?.role ?? 'works', same?.since()), changed);
  };

  const replaceRole = async (role: Role): Promise<void> => {
    if (current === undefined || current.generation.role === role) return;
    const { config, since } = current.generation;
    await putInPlace(createLiving(config, role, since()), []);
  };

  /** The same config stands by, or works again. What worked by it ends at once. */
  const changeRole = (role: Role): Promise<void> =>
    oneAfterAnother(replaceRole, role).catch((error: unknown) => {
      if (!isStopping) host.log.warn({ err: error }, 'this daemon could not change its role; trying again');
    });

  return {
    /** The first one. It is opened, and started by the caller. */
    begin: async (config: Config) => {
      const generation = createLiving(config, 'works');
      const open = await generation.open();
      current = { generation, open };
      return open;
    },
    /** Throws where the new one cannot work, and the one before it goes on. */
    replace: (config: Config, changed: readonly Path[]): Promise<void> => oneAfterAnother(replace, config, changed),
    /** The config of the generation in place, whether it is in force or stands by. */
    current: (): Config => {
      if (current === undefined) throw new UnavailableError('the daemon is starting');
      return current.generation.config;
    },
    selfReport: () => current?.open.selfReport(),
    stop: async (): Promise<boolean> => {
      isStopping = true;
      const ends = await Promise.all([...living].map((generation) => generation.stop()));
      return ends.every(Boolean);
    },
  };
};
