/** Hands `poll` what it needs: from the services to `dispatch`, on the queue's schedule. */
import type { Logger } from 'pino';
import type { Alert, Item } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { Health } from '../ops/health.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Outages } from '../ops/outages.ts';
import { createPollReport } from '../ops/poll-report.ts';
import { createAdmission } from '../poll/admission.ts';
import { createBackoffStore } from '../poll/backoff-store.ts';
import { createCatalog } from '../poll/catalog.ts';
import type { Track } from '../poll/cursor.ts';
import { createNameFilter } from '../poll/include.ts';
import { createIntake, type IntakeTurn } from '../poll/intake.ts';
import { createPollLock } from '../poll/lock.ts';
import type { Mirror, MirroredCursor } from '../poll/mirror.ts';
import { createPoller, type PollerDependencies, type Stream } from '../poll/poller.ts';
import { listAssets, listProtocols, openServices, type Service } from '../service/open.ts';
import { iso } from '../time.ts';
import { reviewTurns } from './schedule.ts';
import type { Store } from './store.ts';

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

export { listProtocols, openServices, type Service } from '../service/open.ts';

export const createReading = (dependencies: ReadingDependencies) => {
  const { config, store, metrics, health, outages, log, dispatch, mirror, now } = dependencies;
  const services = openServices(config, now, (service, arrayParams) =>
    log.warn({ service, arrayParams }, 'the service wants its lists in another style than the config says; using it'),
  );
  const isIncluded = createNameFilter(config.protocols.include, config.protocols.exclude);
  const report = createPollReport({ quarantine: store.quarantine, metrics, health, outages, log });

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
    const since = (await catalog.protocolOf({ service, protocol }))?.owedSince;
    return since === undefined ? Number.POSITIVE_INFINITY : since + serviceOf(service).clock.now() - now();
  };

  const beginningOf = async (track: Track): Promise<MirroredCursor> => {
    const mirrored = mirror.recall(track);
    if (mirrored) {
      log.warn(
        { ...track, position: iso(mirrored.position) },
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
    listAssets: (service, signal) => listAssets(serviceOf(service), signal),
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
    lock: createPollLock(store.locks),
    dispatch,
    onPage: async (stream, page) => {
      await dependencies.onItems(stream, page.items);
      await report.onPage(stream, page);
    },
    now,
    settings: {
      overlap: config.poll.overlap,
      lookback: config.poll.lookback,
      sweepEvery: config.poll.sweepEvery,
      assessments: config.alerts.assessments,
    },
  });

  const admission = createAdmission({
    services: [...services.keys()],
    everyMs: config.poll.interval,
    concurrency: config.poll.concurrency,
    heldForMs: (service) => serviceOf(service).client.heldForMs(),
    backoffs: createBackoffStore(store.redis, store.prefix, now),
    probe: async (service, signal) => {
      await serviceOf(service).client.listProtocols({ pageSize: 1, hideAssets: true }, signal);
    },
    onRefused: report.onRefused,
    now,
    random: Math.random,
  });

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
    admission,
    poll: async (stream, signal) => {
      const result = await poll(stream, signal);
      if (result.sweep) await dependencies.onSwept(stream, signal);
      return result;
    },
    sync,
    ...report,
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
    intake,
    close: async () => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
    },
  };
};
