/** A generation: everything that one config decides, from its opening to its end, and how another takes its place. */

import { randomUUID } from 'node:crypto';
import { openConfiguredChannels } from '../channels/open.ts';
import type { Path } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, UnavailableError } from '../errors.ts';
import { createNewerJobs } from '../ops/checks.ts';
import { createConditions } from '../ops/conditions.ts';
import { createFailureLog } from '../ops/failure-log.ts';
import { createHealth } from '../ops/health.ts';
import type { Metrics } from '../ops/metrics.ts';
import { startTurns } from '../redis/turns.ts';
import { withinTime } from '../waiting.ts';
import { openVerbs, sharedTurns, startWork } from './compose.ts';
import { type Context, type Grace, type Host, onTurnFailed } from './context.ts';
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
  onScrape: (refresh) => {
    const end = metrics.onScrape(refresh);
    onStop('scrape', end);
    return end;
  },
});

type Bounds = Pick<Context, 'lifecycle' | 'grace' | 'stopping' | 'fail'>;

const openContext = async (host: Host, config: Config, bounds: Bounds): Promise<Context> => {
  const { log, limits, now } = host;
  const { channels, post, close } = await openConfiguredChannels(config, now);
  bounds.lifecycle.onStop('channels', close);
  const conditions = createConditions(host);
  const health = createHealth({ now, conditions: () => [...host.hostConditions.current(), ...conditions.current()] });
  expectHealth(health, config);
  return {
    ...{ ...host, ...bounds, config, channels, post, conditions, health },
    id: randomUUID(),
    metrics: scrapedWhile(host, bounds.lifecycle),
    failureLog: createFailureLog(log, now),
    newerJobs: createNewerJobs({ health, log, goneAfterMs: limits.newerJobsGoneMs, now }),
  };
};

type Generation = ReturnType<typeof createGeneration>;
type OpenGeneration = Awaited<ReturnType<Generation['open']>>;

/** Nothing of it runs before `start`. */
const createGeneration = (host: Host, config: Config, fail: Context['fail']) => {
  const lifecycle = createLifecycle(host.log, AT_STOP.step);
  const stopping = new AbortController();
  const grace = { ...AT_STOP };
  /** Absent until it delivers. */
  let stopDelivering: ((graceMs: number) => Promise<void>) | undefined;
  const end = (): Promise<boolean> => {
    stopping.abort();
    // Before all else, and again where less time is left now than when it was first asked.
    void stopDelivering?.(grace.sends).catch(() => {});
    return lifecycle.stop(grace.step);
  };
  return {
    config,
    /** Opens what it needs; nothing of it runs. */
    open: async () => {
      const context = await openContext(host, config, { lifecycle, grace, stopping: stopping.signal, fail });
      const verbs = openVerbs(context);
      const ops = openOps(context, verbs);
      const watchdog = openWatchdog(context, verbs, ops.known);
      const start = async (): Promise<void> => {
        ({ stopDelivering } = await startWork(context, verbs));
        const maintenance = openMaintenance(context, { ...verbs, ...ops, watchdog });
        lifecycle.onStop('maintenance', maintenance.close);
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

/** Which generation is in force, and how one of another config takes its place while it works. */
export const createGenerations = (host: Host, { fail, onReplaced }: GenerationEvents) => {
  const living = new Set<Generation>();
  let current: { generation: Generation; open: OpenGeneration } | undefined;
  let retiring: Promise<unknown> = Promise.resolve();
  let isStopping = false;

  const createLiving = (config: Config): Generation => {
    const generation: Generation = createGeneration(host, config, (reason) => {
      if (current === undefined || current.generation === generation) fail(reason);
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

  return {
    /** The first one. It is opened, and started by the caller. */
    begin: async (config: Config) => {
      const generation = createLiving(config);
      const open = await generation.open();
      current = { generation, open };
      return open;
    },
    /** Throws where the new one cannot work, and the one before it goes on. */
    replace: async (config: Config, changed: readonly Path[]): Promise<void> => {
      await retiring;
      const before = current;
      if (before === undefined || isStopping) throw new UnavailableError('the daemon is starting or stopping');
      await demandRedis(host.store);
      const generation = createLiving(config);
      try {
        current = { generation, open: await startAnother(generation, before.open, changed) };
      } catch (error) {
        await generation.stop();
        living.delete(generation);
        throw isStopping ? new UnavailableError('the daemon is stopping') : error;
      }
      onReplaced(current.open, config);
      retiring = retire(before.generation).catch(() => {});
    },
    /** The config in force. */
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
