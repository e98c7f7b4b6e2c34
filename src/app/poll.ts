/** Composes polling: which streams this daemon polls, when, whether it may, and what becomes of it. One poll: `poller.ts`. */
import { SOURCES } from '../alert.ts';
import { AUTO_INTERVAL_MS, longestIntervalMs } from '../config/poll-section.ts';
import { ServiceError } from '../errors.ts';
import { RETENTION_SECONDS } from '../ledger/record.ts';
import { POLL_LOOP } from '../ops/loop-watch.ts';
import { createPollReport } from '../ops/poll-report.ts';
import { type Admission, createAdmission, createBackoffs } from '../poll/admission.ts';
import type { Track } from '../poll/cursor.ts';
import { createIntake } from '../poll/intake.ts';
import { createPacer, type Pacer } from '../poll/pacer.ts';
import type { PollResult } from '../poll/poller.ts';
import { createPolling } from '../poll/polling.ts';
import { createReadMemory, type ReadMemory } from '../poll/read-memory.ts';
import { serviceStates } from '../poll/read-watch.ts';
import { createFirstReads } from '../poll/seen.ts';
import { type Stream, streamsOf, tracksOf } from '../poll/stream.ts';
import { pagesOf } from '../service/feed.ts';
import { type Context, monotonic } from './context.ts';
import {
  type OpenReading,
  openPoller,
  openSource,
  type ReadingContext,
  type Report,
  type ServiceOf,
  type Source,
} from './poller.ts';

const createProbe =
  (serviceOf: ServiceOf) =>
  async (service: string, stream: Stream | undefined, signal: AbortSignal): Promise<void> => {
    const { client, feed, clock } = serviceOf(service);
    if (stream === undefined) return void (await client.listProtocols({ pageSize: 1, hideAssets: true }, signal));
    for await (const _ of pagesOf(feed, stream, clock.now(), signal, false)) return;
  };

/** A key that was refused is tried as often, where polls come more seldom. */
const LONGEST_PROBE_MS = 15_000;

const openAdmission = ({ config, store, now }: Context, serviceOf: ServiceOf, report: Report) =>
  createAdmission({
    everyMs: Math.min(LONGEST_PROBE_MS, longestIntervalMs(config.poll)),
    concurrency: config.poll.concurrency,
    heldForMs: (service) => serviceOf(service).client.heldForMs(),
    backoffs: createBackoffs(store.redis, store.prefix, { now, monotonic }),
    probe: (service, signal) => createProbe(serviceOf)(service, undefined, signal),
    onRefused: report.onRefused,
    monotonic,
    random: Math.random,
  });

const isLeftToOthers = ({ own, readersOf }: OpenReading['membership'], service: string): boolean => {
  const readers = readersOf(service);
  return readers.length > 0 && !readers.includes(own);
};

/** So long a service may fail to answer one daemon until the others read it alone: what passes by itself moves nothing. */
const BLIND_AFTER_MS = 3000;

/** As long as the ledger keeps what came of it. */
const KEEP_GONE_MS = RETENTION_SECONDS * 1000;
const GONE_STAY = 'cursors of protocols that are gone are kept, as Redis does not take it';

interface IntakeParts extends Source {
  report: Report;
  admission: Admission;
  pacer: Pacer;
  poll(stream: Stream, signal: AbortSignal): Promise<PollResult>;
  onCatalog(): Promise<void>;
}

const openIntake = (context: ReadingContext, parts: IntakeParts) => {
  const { report, pacer, poll } = parts;
  const { store, log } = context;
  return createIntake({
    ...parts,
    ...report,
    probe: createProbe(parts.serviceOf),
    poll: async (stream, signal) => {
      const result = await poll(stream, signal);
      if (result.sweep) await context.onSwept(stream, signal);
      return result;
    },
    onListed: (service, change) => {
      report.onListed(service, change);
      const gone = change.removed.flatMap((protocol) => SOURCES.map((source) => ({ service, source, protocol })));
      store.commits.expire(gone, KEEP_GONE_MS).catch((err: unknown) => log.warn({ service, err }, GONE_STAY));
    },
    onPolled: (stream, result, durationMs) => {
      report.onPolled(stream, result, durationMs);
      if (result.outcome !== 'read') return;
      const isPlain = result.alerts === 0 && !result.sweep;
      pacer.polled(stream, result.alerts, isPlain ? durationMs : undefined);
      context.onRead(stream);
    },
    onPollFailed: (stream, error, isDown) => {
      if (error instanceof ServiceError && error.reason === 'limited') pacer.limited(stream.service);
      report.onPollFailed(stream, error, isDown);
    },
    now: context.now,
    monotonic,
  });
};

const openPacer = ({ config, log }: Context): Pacer =>
  createPacer({
    ...config.poll,
    ...{ leastMs: AUTO_INTERVAL_MS.least, longestMs: AUTO_INTERVAL_MS.longest },
    onBudget: (service, needed) => {
      if (needed === undefined) log.info({ service }, 'the requests a second suffice again for all protocols');
      else
        log.warn(
          { service, requestsPerSecond: config.poll.requestsPerSecond, needed },
          'poll.requestsPerSecond is too small, or the service too slow, to read every protocol within 15 seconds',
        );
    },
    monotonic,
  });

const MOST_NAMED = 5;

const openPolling = (
  { config, membership, health, mirror, log }: ReadingContext,
  parts: Pick<IntakeParts, 'catalog' | 'admission' | 'pacer' | 'report'> & {
    memory: ReadMemory;
    intake: ReturnType<typeof createIntake>;
  },
) => {
  const { catalog, admission, memory, intake, pacer, report } = parts;
  const { concurrency } = config.poll;
  return createPolling({
    ...membership,
    ...pacer,
    ...{ catalog, memory, concurrency, monotonic },
    poll: intake.poll,
    probe: intake.probe,
    silentSince: admission.silentSince,
    services: config.services.map(({ name }) => name),
    sources: config.alerts.sources,
    onAssigned: (service, own, total) => {
      pacer.assign(service, own.length, total);
      report.onAssigned(service, own);
    },
    onGone: (service, protocols) => {
      for (const protocol of protocols) for (const source of SOURCES) mirror.forget({ service, source, protocol });
    },
    onTurning: () => health.beat(POLL_LOOP),
    onStopped: ({ service, source, protocols }) => {
      const line = { service, source, protocols: protocols.length, named: protocols.slice(0, MOST_NAMED) };
      log.warn(line, 'a poll did not end; it was given up, and others go on');
    },
    onError: (error) => log.warn({ err: error }, 'polling was held up; it goes on'),
  });
};

export type Reading = ReturnType<typeof openReading>;

export const openReading = (context: ReadingContext) => {
  const { config, store, metrics, failureLog, now } = context;
  const names = config.services.map(({ name }) => name);
  const source = openSource(context);
  const { services, serviceOf, catalog } = source;
  const { lookback, overlap } = config.poll;
  const keepMs = overlap + 2 * lookback;
  const firstReads = createFirstReads(store.redis, store.prefix, { keepMs, now });
  const report = createPollReport({
    ...context,
    ...{ quarantine: store.quarantine, firstReads, listedForMs: 2 * config.poll.catalogEvery + 60_000 },
  });
  const memory = createReadMemory({
    commits: store.commits,
    onCursor: context.mirror.note,
    onChanged: (stream) => polling.hasten(stream),
    monotonic,
    settings: config.poll,
  });
  const { poll } = openPoller(context, source, report, memory);
  metrics.onScrape(async () => {
    for (const service of names) metrics.pollInterval.set({ service }, pacer.state(service).everyMs / 1000);
  });
  const admission = openAdmission(context, serviceOf, report);
  const onCatalog = (): Promise<void> => polling.look();
  const pacer = openPacer(context);
  const intake = openIntake(context, { ...source, report, admission, pacer, poll, onCatalog });
  const polling = openPolling(context, { catalog, admission, memory, intake, pacer, report });
  return {
    catalog,
    services,
    serviceOf,
    list: (service: string, signal: AbortSignal): Promise<void> =>
      context.listings.turn(service, () => intake.listAll(service, signal)),
    /** The same for those whose last listing failed here, as soon as they answer again. */
    listOwed: async (signal: AbortSignal): Promise<void> => {
      for (const service of names.filter(intake.isListingOwed)) await intake.listAll(service, signal);
    },
    /** The config is in force since then. To be called before `startPolling`. */
    adopt: async (since: number): Promise<void> => {
      for (const service of names) {
        await store.commits.expire(await catalog.adopt(service, config.alerts.sources, since), KEEP_GONE_MS);
      }
    },
    startPolling: polling.start,
    stopPolling: polling.stop,
    /** What this daemon polls, and which of it does not answer. */
    polls: () => ({
      services: polling.isRunning() ? names : [],
      blindTo: names.filter((name) => admission.silentSince(name) <= monotonic() - BLIND_AFTER_MS),
    }),
    /** Whether each service answers at present. */
    states: () =>
      serviceStates(names, failureLog.current()).map((state) => ({
        ...state,
        pace: pacer.state(state.name),
        isLeft: isLeftToOthers(context.membership, state.name),
      })),
    /** Why a service, or one of these protocols, cannot be read, as far as this daemon knows. */
    reasonOf: (service: string, protocols: readonly string[]): string | undefined =>
      failureLog
        .current()
        .find(
          ({ group, subject }) =>
            group === service && (protocols.length === 0 || protocols.some((name) => subject.includes(name))),
        )?.message,
    tracksOf: async (service: string): Promise<Track[]> => {
      const protocols = [...(await catalog.protocols(service)).keys()];
      return streamsOf(service, protocols, config.alerts.sources).flatMap(tracksOf);
    },
    onUnread: report.onUnread,
    pollDurations: report.pollDurations,
    intake,
    close: async () => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
    },
  };
};
