/** Hands `poll` what it needs: from the services to `dispatch`, on the queue's schedule. */
import type { Logger } from 'pino';
import type { Alert, Item } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { Health } from '../ops/health.ts';
import { assessmentLabel, type Metrics } from '../ops/metrics.ts';
import type { Outages } from '../ops/outages.ts';
import { type CatalogEntry, createCatalog, type ListedProtocol } from '../poll/catalog.ts';
import type { Track } from '../poll/cursor.ts';
import { createNameFilter } from '../poll/include.ts';
import { createIntake, type IntakeTurn } from '../poll/intake.ts';
import { createPollLock } from '../poll/lock.ts';
import type { Mirror, MirroredCursor } from '../poll/mirror.ts';
import { createPoller, type PollerDependencies, type Stream } from '../poll/poller.ts';
import type { ArrayParams } from '../service/address.ts';
import { createServiceClient, type ServiceClient } from '../service/client.ts';
import { createServiceClock, type ServiceClock } from '../service/clock.ts';
import { createFeed, type Feed } from '../service/feed.ts';
import { createLookup, type Lookup } from '../service/lookup.ts';
import { walkPages } from '../service/paginate.ts';
import type { Protocol } from '../service/protocols.ts';
import { createListStyles } from '../service/styles.ts';
import type { Store } from './store.ts';
import { reviewTurns } from './turns.ts';

export interface ReadingDependencies {
  config: Config;
  store: Store;
  metrics: Metrics;
  health: Health;
  outages: Outages;
  log: Logger;
  dispatch(alerts: Alert[]): Promise<void>;
  mirror: Mirror;
  /** Told of every page that was read. */
  onItems(stream: Stream, items: readonly Item[]): Promise<void>;
  /** Called after each sweep. */
  onSwept(stream: Stream, signal: AbortSignal): Promise<void>;
  now(): number;
}

export interface Service {
  client: ServiceClient;
  clock: ServiceClock;
  /** What is polled. */
  feed: Feed;
  /** Suspicious inspections. */
  near: Feed;
  lookUp: Lookup;
}

/** `onListStyle` is told where a service turns out to want its lists in another style than the config says. */
export const openServices = (
  config: Config,
  now: () => number,
  onListStyle: (service: string, style: ArrayParams) => void = () => {},
): ReadonlyMap<string, Service> =>
  new Map(
    config.services.map((service) => {
      const styles = createListStyles(service.arrayParams, (style) => onListStyle(service.name, style));
      const { concurrency: connections } = config.poll;
      const client = createServiceClient({ service, now, connections, listStyle: styles.current });
      const clock = createServiceClock(now);
      const [only, ...others] = config.alerts.assessments;
      const asked = only !== undefined && others.length === 0 ? { assessment: only } : {};
      const feed = createFeed(client, clock, asked, styles);
      const near = createFeed(client, clock, { assessment: 'suspecious' }, styles);
      return [service.name, { client, clock, feed, near, lookUp: createLookup(client, clock) }] as const;
    }),
  );

const NOTIFICATION = 'notification';

const toListed = ({ id, name, channels, triggers }: Protocol): ListedProtocol => ({
  name,
  ...(id === undefined ? {} : { protocolId: id }),
  channels,
  notifyOn: Object.entries(triggers)
    .filter(([, { actions }]) => actions.includes(NOTIFICATION))
    .map(([severity]) => severity),
});

/** All pages of one key's listing. */
export const listProtocols = async ({ client, clock }: Service, signal: AbortSignal): Promise<ListedProtocol[]> => {
  const listed: ListedProtocol[] = [];
  const pages = walkPages(
    async (pageNumber) => {
      const page = await client.listProtocols({ pageNumber, hideAssets: true }, signal);
      clock.observe(page.serverTime);
      return page;
    },
    ({ id, name }) => id ?? name,
  );
  for await (const { items } of pages) listed.push(...items.map(toListed));
  return listed;
};

export const createReading = (dependencies: ReadingDependencies) => {
  const { config, store, metrics, health, outages, log, dispatch, mirror, now } = dependencies;
  const services = openServices(config, now, (service, arrayParams) =>
    log.warn({ service, arrayParams }, 'the service wants its lists in another style than the config says; using it'),
  );
  const isIncluded = createNameFilter(config.protocols.include, config.protocols.exclude);

  const serviceOf = (name: string): Service => {
    const service = services.get(name);
    if (!service) throw new Error(`no service '${name}' in the config: an older daemon's turn`);
    return service;
  };

  const firstStart = (service: string): number => {
    const { startFrom } = config.poll;
    const serviceNow = serviceOf(service).clock.now();
    if (startFrom === 'now') return serviceNow;
    return 'at' in startFrom ? Date.parse(startFrom.at) : serviceNow - startFrom.agoMs;
  };

  /** What happened since a protocol was not listed yet is no history, whatever `startFrom` says. */
  const owedSince = async ({ service, protocol }: Track): Promise<number> => {
    const since = (await catalog.protocols(service)).get(protocol)?.owedSince;
    return since === undefined ? Number.POSITIVE_INFINITY : since + serviceOf(service).clock.now() - now();
  };

  const beginningOf = async (track: Track): Promise<MirroredCursor> => {
    const mirrored = mirror.recall(track);
    if (mirrored) {
      log.warn(
        { ...track, position: new Date(mirrored.position).toISOString() },
        'Redis lost a cursor; reading goes on from the state file',
      );
      return mirrored;
    }
    const start = Math.min(firstStart(track.service), await owedSince(track));
    return { start, position: start, sweptTo: start };
  };

  const pages: PollerDependencies['pages'] = ({ service, source, protocols }, since, signal, thorough) => {
    const { feed } = serviceOf(service);
    const [only = ''] = protocols;
    return source === 'inspections'
      ? feed.inspections(only, since, signal, thorough)
      : feed.notifications(protocols, since, signal, thorough);
  };

  const catalog = createCatalog({
    redis: store.redis,
    prefix: store.prefix,
    list: (service, signal) => listProtocols(serviceOf(service), signal),
    isIncluded,
    now,
  });

  const { poll } = createPoller({
    pages,
    clock: (service) => serviceOf(service).clock.now(),
    beginningOf,
    onCursor: mirror.note,
    oldestOpen: store.ledger.oldestOpen,
    cursors: store.cursors,
    seen: store.seen,
    lock: createPollLock(store.redis, store.prefix),
    dispatch,
    onPage: async (stream, { items, malformed }) => {
      const { service, source } = stream;
      await dependencies.onItems(stream, items);
      for (const { assessment } of items) {
        metrics.items.inc({ service, source, assessment: assessmentLabel(assessment) });
      }
      for (const { problem, raw } of await store.quarantine.admit(service, source, malformed)) {
        metrics.itemsMalformed.inc({ service, source });
        log.error({ service, source, problem, item: JSON.stringify(raw).slice(0, 300) }, 'malformed item');
      }
    },
    now,
    settings: {
      overlap: config.poll.overlap,
      lookback: config.poll.lookback,
      sweepEvery: config.poll.sweepEvery,
      assessments: config.alerts.assessments,
    },
  });

  const subjectOf = ({ source, protocols: [first = '', ...others] }: Stream): string =>
    `${source} of ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;

  let planned = Number.POSITIVE_INFINITY;
  const sync = async (turns: readonly IntakeTurn[]): Promise<void> => {
    const all = [...turns, ...reviewTurns(config)];
    await store.schedule.sync(all);
    planned = all.length;
  };

  const intake = createIntake({
    settings: {
      services: [...services.keys()],
      sources: config.alerts.sources,
      interval: config.poll.interval,
      catalogEvery: config.poll.catalogEvery,
    },
    catalog,
    poll: async (stream, signal) => {
      const result = await poll(stream, signal);
      if (result.sweep) await dependencies.onSwept(stream, signal);
      return result;
    },
    sync,
    onPolled: (stream, { outcome, items, alerts, sweep }, durationMs) => {
      const { service, source } = stream;
      metrics.polls.inc({ service, source, outcome });
      if (outcome === 'busy') return;
      metrics.pollDuration.observe({ service, source }, durationMs / 1000);
      metrics.serviceUp.set({ service }, 1);
      health.prove(`service:${service}`);
      outages.worked(service, subjectOf(stream));
      const line = { service, subject: subjectOf(stream), items, alerts, sweep, durationMs };
      if (alerts > 0) log.info(line, 'found');
      else log.debug(line, 'polled');
    },
    onPollFailed: (stream, error) => {
      const { service, source } = stream;
      metrics.polls.inc({ service, source, outcome: 'failed' });
      metrics.serviceUp.set({ service }, 0);
      outages.failed(service, subjectOf(stream), error);
    },
    onListed: (service, { added, removed, missing }) => {
      health.prove(`service:${service}`);
      outages.worked(service, 'protocols');
      if (added.length + removed.length + missing.length > 0) {
        log.info({ service, added, removed, missing }, 'protocols changed');
      }
    },
    onListFailed: (service, error) => {
      health.fail(`service:${service}`, error instanceof Error ? error.message : String(error));
      outages.failed(service, 'protocols', error);
    },
    now,
  });

  return {
    catalog,
    services,
    serviceOf,
    /** Sets the schedule up again where Redis lost it, without a restart. */
    keepSchedule: async (): Promise<void> => {
      if ((await store.schedule.count()) >= planned) return;
      await sync(await intake.plan());
    },
    /** How each service answers at present. */
    states: () =>
      config.services.map(({ name }) => {
        const [first] = outages.current().filter(({ group }) => group === name);
        return first === undefined ? { name, up: true } : { name, up: false, lastError: first.message };
      }),
    protocolOf: async ({ service, protocol }: Alert): Promise<CatalogEntry | undefined> =>
      (await catalog.protocols(service)).get(protocol),
    intake,
    close: async () => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
    },
  };
};
