/** Composes how a service is read: its client, its catalog, and the poll of one stream. */
import type { Logger } from 'pino';
import type { Alert } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { Item } from '../item.ts';
import type { Health } from '../ops/health.ts';
import { POLL_LOOP } from '../ops/loop-watch.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Outages } from '../ops/outages.ts';
import type { createPollReport } from '../ops/poll-report.ts';
import { createBeginning } from '../poll/beginning.ts';
import { type Catalog, createCatalog } from '../poll/catalog.ts';
import { createNameFilter } from '../poll/include.ts';
import { createPollLock } from '../poll/lock.ts';
import type { Mirror } from '../poll/mirror.ts';
import { createPoller } from '../poll/poller.ts';
import { createReadMemory, type ReadMemory } from '../poll/read-memory.ts';
import type { Stream } from '../poll/stream.ts';
import { pagesOf } from '../service/feed.ts';
import { type Listing, listAssets, listProtocols } from '../service/listing.ts';
import { openServices, type Service } from '../service/open.ts';
import { iso } from '../time.ts';
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
  /** Who this daemon is, and who shares a service with it. */
  membership: { own: string; readersOf(service: string): readonly string[] };
  /** Called with every page that was read. */
  onItems(stream: Stream, items: readonly Item[]): Promise<void>;
  /** Called after each poll that has read its stream to the end. */
  onRead(stream: Stream): void;
  listings: {
    /** Called with what a service lists, as far as it came. */
    note(service: string, listing: Listing): void;
    /** Runs a listing of the schedule, of which there is one at a time over all daemons. */
    turn(service: string, list: () => Promise<void>): Promise<void>;
  };
  /** Called after each sweep. */
  onSwept(stream: Stream, signal: AbortSignal): Promise<void>;
  now(): number;
}

export type ServiceOf = (name: string) => Service;
export type Report = ReturnType<typeof createPollReport>;

export const openAll = ({ config, log, now }: ReadingDependencies, listed: Catalog['names']) => {
  const services = openServices(config, now, {
    listed,
    onListStyle: (service, arrayParams) =>
      log.warn({ service, arrayParams }, 'the service wants its lists in another style than the config says; using it'),
  });
  const serviceOf: ServiceOf = (name) => {
    const service = services.get(name);
    if (!service) throw new Error(`no service '${name}' in the config: the turn was scheduled by an older daemon`);
    return service;
  };
  return { services, serviceOf };
};

export const openCatalog = ({ config, store, listings, now }: ReadingDependencies, serviceOf: ServiceOf): Catalog =>
  createCatalog({
    redis: store.redis,
    prefix: store.prefix,
    list: async (service, signal) => {
      const listing = await listProtocols(serviceOf(service), signal);
      listings.note(service, listing);
      return listing;
    },
    listAssets: (service, signal) => listAssets(serviceOf(service), signal),
    isIncluded: createNameFilter(config.protocols.include, config.protocols.exclude),
    now,
  });

const openBeginning = ({ config, mirror, log, now }: ReadingDependencies, serviceOf: ServiceOf, catalog: Catalog) =>
  createBeginning({
    startFrom: config.poll.startFrom,
    clock: (service) => serviceOf(service).clock.now(),
    recall: mirror.recall,
    onRecalled: (track, { position }) =>
      log.warn({ ...track, position: iso(position) }, 'Redis lost a cursor; reading goes on from the state file'),
    owedSince: async (track) => (await catalog.protocolOf(track))?.owedSince,
    now,
  });

export const elapsed = (): number => performance.now();

export const openMemory = (
  { config, store, mirror }: ReadingDependencies,
  onChanged: (stream: Stream) => void,
): ReadMemory =>
  createReadMemory({ commits: store.quietCommits, onCursor: mirror.note, onChanged, elapsed, settings: config.poll });

export const openPoller = (
  dependencies: ReadingDependencies,
  {
    serviceOf,
    catalog,
    report,
    memory,
  }: { serviceOf: ServiceOf; catalog: Catalog; report: Report; memory: ReadMemory },
) => {
  const { config, store, mirror, dispatch, health, now } = dependencies;
  return createPoller({
    pages: (stream, since, signal, thorough) =>
      pagesOf(serviceOf(stream.service).feed, stream, since, signal, thorough),
    clock: (service) => serviceOf(service).clock.now(),
    beginningOf: openBeginning(dependencies, serviceOf, catalog),
    onCursor: mirror.note,
    cursors: store.cursors,
    seen: store.seen,
    commits: store.commits,
    lock: createPollLock(store.locks),
    memory,
    dispatch,
    onPage: async (stream, page) => {
      // A long walk through the past is a turning loop, too.
      health.beat(POLL_LOOP);
      await dependencies.onItems(stream, page.items);
      await report.onPage(stream, page);
    },
    now,
    settings: { ...config.poll, assessments: config.alerts.assessments },
  });
};
