/** Composes the checks of protocols: those that nobody reads, those of which nothing or odd things are inspected, and changed ones. */
import { isAnnouncement, onceEach } from '../alert.ts';
import { chunksOf, mapInChunks } from '../chunks.ts';
import { longestIntervalMs } from '../config/poll-section.ts';
import { ServiceError } from '../errors.ts';
import { createBlindnessCheck } from '../features/blindness/check.ts';
import type { CaughtUp } from '../features/blindness/message.ts';
import { createMisfits } from '../features/misfits/misfits.ts';
import { channelsOf, routeEntries, routeSettings } from '../features/routes/routes.ts';
import { createSilenceCheck } from '../features/silence/check.ts';
import { createTripwire } from '../features/tripwire/tripwire.ts';
import type { Item } from '../item.ts';
import { createNameFilter, type Heard, type HeardOfAssets } from '../poll/catalog.ts';
import type { CursorSnapshots, Cursors } from '../poll/cursor.ts';
import { isWanted, toAlert } from '../poll/ingest.ts';
import { type Mirror, mirroredOf } from '../poll/mirror.ts';
import { COMMIT_EVERY_MS } from '../poll/polling.ts';
import { createReadWatch } from '../poll/read-watch.ts';
import { identityOf } from '../poll/seen.ts';
import { createAssignment, type Stream, tracksOf } from '../poll/stream.ts';
import type { Turn } from '../redis/turns.ts';
import type { Assets, Listing } from '../service/listing.ts';
import { isPathSegment, plainName } from '../text.ts';
import { type Context, monotonic } from './context.ts';
import type { Dispatching } from './dispatch.ts';
import type { Reading } from './poll.ts';

const LONGEST_PERIOD_MS = 15_000;
/** With a short interval, three of them may pass while a machine is busy: readiness must not flap. */
const LEAST_UNREAD_MS = 5000;
/** A caught-up count ends here: it is for people, and each alert is a question to Redis. */
const MOST_COUNTED = 5000;
const READ_AT_ONCE = 500;
/** A look may take a little; one that took longer has waited for Redis. */
const LATE_MS = 5000;
/** What another daemon has read is written with its next cursors, and seen by the look after. */
const WRITTEN_LATE_MS = COMMIT_EVERY_MS + 1000;

const createCount =
  ({ alertIndex, ledger }: Context['store']) =>
  async (service: string, protocols: readonly string[], from: number, to: number): Promise<CaughtUp> => {
    const ids = await alertIndex.between(from, to);
    let alerts = 0;
    for (const chunk of chunksOf(ids.slice(0, MOST_COUNTED), READ_AT_ONCE)) {
      for (const record of await Promise.all(chunk.map((id) => ledger.read(id)))) {
        if (record === undefined || record.alert.service !== service || isAnnouncement(record.alert)) continue;
        if (protocols.length === 0 || protocols.includes(record.alert.protocol)) alerts += 1;
      }
    }
    return { alerts, isBound: ids.length > MOST_COUNTED };
  };

/** Where alerts of protocols go, as far as they may be sent there. */
const createDestinations =
  ({ destinationsOf, isOpen }: Dispatching) =>
  async (service: string, protocols: readonly string[]) => {
    const isNowOpen = await isOpen();
    const found = await mapInChunks(protocols, READ_AT_ONCE, (protocol) => destinationsOf({ service, protocol }));
    return onceEach(found.flat().filter(isNowOpen));
  };

/** What is looked at is copied: after a loss of Redis, any daemon may be the first to read a track that others read before. */
const createCopying = ({ read }: CursorSnapshots, mirror: Pick<Mirror, 'note'>): Pick<Cursors, 'get'> => ({
  get: async (tracks) => {
    const found = await read(tracks);
    return found.map(({ cursor, oldest }, index) => {
      const track = tracks[index];
      if (track !== undefined && cursor !== undefined) mirror.note(track, mirroredOf(cursor, oldest));
      return cursor;
    });
  },
});

/** Services and protocols that nobody reads. What it announces goes where the news of a broken channel goes. */
export const openBlindness = (
  context: Context,
  dispatching: Dispatching,
  reading: Reading & { announces(service: string): boolean },
) => {
  const { config, store, mirror, scrub, now } = context;
  const interval = longestIntervalMs(config.poll);
  const everyMs = Math.min(LONGEST_PERIOD_MS, interval);
  const seenLate = WRITTEN_LATE_MS + everyMs;
  const usual = Math.max(3 * interval, interval + seenLate);
  const watch = createReadWatch({
    cursors: createCopying(store.cursorSnapshots, mirror),
    freshMs: 1.5 * interval,
    gapMs: 2 * everyMs + LATE_MS,
    monotonic,
  });
  const { check } = createBlindnessCheck({
    ...{ watch, announcer: dispatching.announcer, destinationsOf: createDestinations(dispatching) },
    reasonOf: (service, protocols) => {
      const reason = reading.reasonOf(service, protocols);
      return reason === undefined ? undefined : scrub(reason);
    },
    countAlerts: createCount(store),
    tracksOf: (service) => reading.tracksOf(service),
    isOurs: reading.announces,
    onUnread: (service, protocols, watched) => reading.onUnread(service, protocols, watched),
    limits: {
      unreadAfter: Math.max(LEAST_UNREAD_MS, usual),
      tellAfter: Math.max(config.watchdog.after, usual),
      usual,
      seenLate,
    },
    ...{ monotonic, now },
  });
  const turns = config.services.map(({ name }): Turn => ({ name: `unread ${name}`, everyMs, run: () => check(name) }));
  return { turns, onRead: (stream: Stream): void => watch.note(tracksOf(stream)) };
};

const LONGEST_ROUND_MS = 15_000;
const SHORTEST_ROUND_MS = 250;

interface SilenceReading extends Reading {
  /** Called with every page of inspections, of any assessment, of that protocol. */
  onItems(stream: Stream, items: readonly Item[]): Promise<void>;
}

/** An operator's shortest expectation is looked at several times within it. */
const roundMsOf = (expectations: readonly number[]): number =>
  Math.max(SHORTEST_ROUND_MS, Math.min(LONGEST_ROUND_MS, ...expectations.map((ms) => ms / 4)));

const openCheck = (context: Context, dispatching: Dispatching, { catalog, serviceOf, onItems }: SilenceReading) => {
  const { config, store, log, now } = context;
  const { overrides } = config.protocols;
  const expectEvery = (protocol: string): number | undefined =>
    Object.hasOwn(overrides, protocol) ? overrides[protocol]?.expectEvery : undefined;
  return createSilenceCheck({
    pages: async function* (service, protocol, since, signal) {
      for await (const page of serviceOf(service).every.inspections(protocol, since, signal)) {
        // Polls that ask for critical ones alone see none that is assessed by another word.
        await onItems({ service, source: 'inspections', protocols: [protocol] }, page.items);
        yield page;
      }
    },
    count: async (service, protocol, startDate, signal) =>
      (await serviceOf(service).client.inspectionStats({ protocol, startDate }, signal)).total,
    clock: (service) => serviceOf(service).clock.now(),
    habits: store.habits,
    ...{ store: store.announced, announcer: dispatching.announcer, destinationsOf: createDestinations(dispatching) },
    requestsPerSecond: config.poll.requestsPerSecond,
    leastMs: context.limits.silenceProbeMs,
    protocolsOf: async (service) => [...(await catalog.protocols(service)).keys()].filter(isPathSegment),
    ...{ expectEvery, log, monotonic, now },
  });
};

/** Protocols of which nothing is inspected. What it announces goes where the news of unread ones goes. */
export const openSilence = (context: Context, dispatching: Dispatching, reading: SilenceReading): Turn[] => {
  const { alerts, protocols, services } = context.config;
  if (!alerts.sources.includes('inspections')) return [];
  const everyMs = roundMsOf(Object.values(protocols.overrides).flatMap((one) => one.expectEvery ?? []));
  const { round } = openCheck(context, dispatching, reading);
  return services.map(({ name }) => ({
    name: `silent ${name}`,
    everyMs,
    service: name,
    run: (signal) => round(name, signal),
  }));
};

type MisfitsReading = Reading & {
  readersOf(service: string): readonly string[];
  forward: Parameters<typeof createMisfits>[0]['forward'];
};

const MISFITS_EVERY_MS = 5000;

/** Polls know what they have read; what the config excludes is asked for. */
const isListedThere = async (
  { store, stopping, now }: Context,
  { catalog, serviceOf }: Reading,
  service: string,
  item: Item,
): Promise<boolean | undefined> => {
  const isNamed = (name: string): boolean => plainName(name) === plainName(item.protocol);
  const protocol = [...(await catalog.protocols(service)).keys()].find(isNamed);
  if (protocol !== undefined) {
    const track = { service, source: 'inspections', protocol } as const;
    return (await store.seen.unknown(track, [identityOf(toAlert(item, service, protocol, now()))])).length === 0;
  }
  const excluded = (await catalog.unwatched(service)).find(({ name, why }) => why === 'excluded' && isNamed(name));
  if (excluded === undefined) return false;
  try {
    return (await serviceOf(service).lookUp(excluded.name, [item], stopping)).get(item.itemId)?.kind === 'found';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return ['missing', 'rejected'].includes(error.reason) ? false : undefined;
  }
};

/** Inspections that do not fit where they are listed. `note`: to be called with every page of a poll. */
export const openMisfits = (context: Context, dispatching: Dispatching, reading: MisfitsReading) => {
  const { config, limits, log, now } = context;
  const { catalog, readersOf, forward } = reading;
  const { note, round } = createMisfits({
    isWanted: (item) => isWanted(item, config.alerts.assessments),
    isListedThere: (service, item) => isListedThere(context, reading, service, item),
    ...{ forward, announcer: dispatching.announcer, destinationsOf: createDestinations(dispatching) },
    protocolsOf: async (service) => [...(await catalog.protocols(service)).keys()],
    isOwn: (service) => {
      const isShare = createAssignment(context.id, readersOf(service));
      return (protocol) => isShare({ service, source: 'inspections', protocols: [protocol] });
    },
    ...{ waitMs: limits.misfitWaitMs, lastsMs: limits.misfitLastsMs, log, monotonic, now },
  });
  const turns = config.services.map(
    ({ name }): Turn => ({ name: `misfits ${name}`, everyMs: MISFITS_EVERY_MS, run: () => round(name) }),
  );
  return { note, turns };
};

const NOT_COMPARED =
  'the settings of the protocols could not be compared; alerts go where they went, and it is tried again';

/** Settings of protocols that change: it looks at each listing before anything follows it. */
export const openTripwire = (context: Context, dispatching: Dispatching) => {
  const { config, store, log } = context;
  const settings = routeSettings(config);
  const { include, exclude } = config.protocols;
  const tripwire = createTripwire({
    ...context,
    store: store.tripwire,
    locks: store.locks,
    outages: store.announced,
    announce: dispatching.announce,
    fallback: onceEach([...dispatching.fallback.destinations, ...dispatching.operators]),
    destinationsAt: (protocol, channels) =>
      routeEntries(channelsOf(protocol, { channels }, settings.overrides), settings).destinations,
    isOpen: dispatching.isOpen,
    isIncluded: createNameFilter(include, exclude),
  });
  /** Services that are listed in their turn now. */
  const turns = new Set<string>();

  /** Lists, and has what came compared; `untold` is undefined where it could not be. */
  const heardOf = async <Listed, Untold>(
    service: string,
    list: () => Promise<Listed>,
    look: (listed: Listed, asked: string) => Promise<Untold | undefined>,
  ): Promise<{ listed: Listed; untold: Untold | undefined }> => {
    const asked = await tripwire.version(service).catch(() => undefined);
    const listed = await list();
    const untold = asked === undefined ? undefined : look(listed, asked);
    return {
      listed,
      untold: await untold?.catch((err: unknown) => {
        log.error({ service, err }, NOT_COMPARED);
        return undefined;
      }),
    };
  };

  return {
    /** Lists a service; where alerts go follows only what people heard of. */
    list: async (service: string, list: () => Promise<Listing>): Promise<Listing & { heard: Heard }> => {
      const { listed, untold } = await heardOf(service, list, (answer, asked) =>
        tripwire.look(service, answer, { asked, isTurn: turns.has(service) }),
      );
      return { ...listed, heard: { isTurn: turns.has(service), untold } };
    },
    /** The same of their contracts: what messages say of admins and methods follows only what people heard of. */
    listAssets: async (service: string, list: () => Promise<Assets>): Promise<Assets & { heard: HeardOfAssets }> => {
      const { listed, untold } = await heardOf(service, list, ({ assets }, asked) =>
        tripwire.lookAtAssets(service, assets, asked),
      );
      return { ...listed, heard: { untold } };
    },
    turn: async (service: string, list: () => Promise<void>): Promise<void> => {
      turns.add(service);
      try {
        await list();
      } finally {
        turns.delete(service);
      }
    },
  };
};
