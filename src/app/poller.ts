/** Composes one poll: the services and what they list, and the way from a cursor over the pages to the next cursor. */
import type { Alert } from '../alert.ts';
import type { ItemPage } from '../item.ts';
import { createDistinguish } from '../ledger/distinguish.ts';
import { POLL_LOOP } from '../ops/loop-watch.ts';
import type { createPollReport } from '../ops/poll-report.ts';
import { createCatalog, createNameFilter, type Heard, type HeardOfAssets } from '../poll/catalog.ts';
import { createPollLock, type PollLock, type Track } from '../poll/cursor.ts';
import { createBeginning } from '../poll/mirror.ts';
import { createPoller } from '../poll/poller.ts';
import type { ReadMemory } from '../poll/read-memory.ts';
import { replayOf } from '../poll/skipped.ts';
import type { Stream } from '../poll/stream.ts';
import { pagesOf } from '../service/feed.ts';
import { type Assets, type Listing, listAssets, listProtocols } from '../service/listing.ts';
import { openServices, serviceIn } from '../service/open.ts';
import { iso } from '../time.ts';
import type { Context } from './context.ts';

export interface OpenReading {
  dispatch(alerts: Alert[]): Promise<void>;
  /** Who this daemon is, and who shares a service with it. */
  membership: { own: string; readersOf(service: string): readonly string[] };
  onPage(stream: Stream, page: ItemPage): Promise<void>;
  /** Called after each poll that has read its stream to the end. */
  onRead(stream: Stream): void;
  onSwept(stream: Stream, signal: AbortSignal): Promise<void>;
  listings: {
    /** Lists a service, and finds out how far people know of what came. */
    list(service: string, list: () => Promise<Listing>): Promise<Listing & { heard: Heard }>;
    /** The same of their contracts. */
    listAssets(service: string, list: () => Promise<Assets>): Promise<Assets & { heard: HeardOfAssets }>;
    /** Runs a listing on the timer, of which there is one at a time over all daemons. */
    turn(service: string, list: () => Promise<void>): Promise<void>;
  };
}

export type ReadingContext = Context & OpenReading;
export type Report = ReturnType<typeof createPollReport>;

export type ServiceOf = ReturnType<typeof serviceIn>;

/** The services of the config, and what each of them lists. */
export const openSource = ({ config, store, listings, log, now }: ReadingContext) => {
  const services = openServices(config, now, {
    listed: (service) => catalog.names(service),
    onListStyle: (service, arrayParams) =>
      log.warn({ service, arrayParams }, 'the service wants its lists in another style than the config says; using it'),
  });
  const serviceOf = serviceIn(services);
  const catalog = createCatalog({
    redis: store.redis,
    prefix: store.prefix,
    list: (service, signal) => listings.list(service, () => listProtocols(serviceOf(service), signal)),
    listAssets: (service, signal) => listings.listAssets(service, () => listAssets(serviceOf(service), signal)),
    isIncluded: createNameFilter(config.protocols.include, config.protocols.exclude),
    now,
  });
  return { services, serviceOf, catalog };
};

export type Source = ReturnType<typeof openSource>;

const openBeginning = ({ config, mirror, log, now }: Context, { serviceOf, catalog }: Source) =>
  createBeginning({
    startFrom: config.poll.startFrom,
    clock: (service) => serviceOf(service).clock.now(),
    recall: mirror.recall,
    onRecalled: (track, { position }) =>
      log.warn({ ...track, position: iso(position) }, 'Redis lost a cursor; reading goes on from the state file'),
    reasonFor: catalog.reasonFor,
    now,
  });

/** What the config or the service left out for a while is not owed: it is told, with what brings it. */
const createOnSkipped =
  ({ store, log }: Context) =>
  async (track: Track, from: number, to: number): Promise<void> => {
    await store.skipped.note(track, from, to);
    const line = { ...track, before: iso(from), position: iso(to), command: replayOf({ ...track, from, to }) };
    log.warn(line, 'it was left out for a while: reading begins again, and what came meanwhile is not sent');
  };

/** A daemon learns within a second that its config does not count any more: until then it must not decide by it either. */
const lockWhileItCounts = ({ store, standing }: Context): PollLock => {
  const { take } = createPollLock(store.locks);
  return {
    take: async (tracks) => ((await standing.counts()) ? take(tracks) : undefined),
  };
};

export const openPoller = (context: ReadingContext, source: Source, report: Report, memory: ReadMemory) => {
  const { config, store, mirror, dispatch, health, now } = context;
  const { serviceOf, catalog } = source;
  return createPoller({
    pages: (stream, since, signal, thorough) =>
      pagesOf(serviceOf(stream.service).feed, stream, since, signal, thorough),
    clock: (service) => serviceOf(service).clock.now(),
    beginningOf: openBeginning(context, source),
    reasonFor: async (track) => {
      const reason = await catalog.reasonFor(track);
      return reason && { ...reason, since: reason.since + serviceOf(track.service).clock.now() - now() };
    },
    onSkipped: createOnSkipped(context),
    onCursor: mirror.note,
    cursors: store.cursors,
    seen: store.seen,
    commits: store.commits,
    lock: lockWhileItCounts(context),
    memory,
    distinguish: createDistinguish(store.ledger),
    dispatch,
    onPage: async (stream, page) => {
      // A long walk through the past is a turning loop, too.
      health.beat(POLL_LOOP);
      await context.onPage(stream, page);
      await report.onPage(stream, page);
    },
    now,
    settings: { ...config.poll, assessments: config.alerts.assessments },
  });
};
