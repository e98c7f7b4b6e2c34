/** Composes the check for unread services and protocols. Its announcements go where those of a broken channel go. */
import type { Logger } from 'pino';
import { isAnnouncement } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { longestIntervalMs } from '../config/poll-interval.ts';
import type { Config } from '../config/schema.ts';
import { createBlindnessCheck } from '../features/blindness/check.ts';
import type { CaughtUp } from '../features/blindness/message.ts';
import { createBlindnessNotifier } from '../features/blindness/notifier.ts';
import type { Health } from '../ops/health.ts';
import type { Cursors } from '../poll/cursor.ts';
import type { CursorSnapshots } from '../poll/cursor-snapshots.ts';
import { type Mirror, mirroredOf } from '../poll/mirror.ts';
import { COMMIT_EVERY_MS } from '../poll/polling.ts';
import { createReadWatch } from '../poll/read-watch.ts';
import { type Stream, tracksOf } from '../poll/stream.ts';
import type { openDispatch } from './dispatch.ts';
import type { openReading } from './poll.ts';
import type { Store } from './store.ts';

export interface OpenBlindness {
  config: Config;
  store: Store;
  health: Pick<Health, 'ready'>;
  dispatching: Pick<
    ReturnType<typeof openDispatch>,
    'announce' | 'operators' | 'fallback' | 'destinationsOf' | 'isOpen'
  >;
  mirror: Pick<Mirror, 'note'>;
  reading(): Pick<ReturnType<typeof openReading>, 'tracksOf' | 'reasonOf' | 'onUnread'>;
  scrub(text: string): string;
  log: Logger;
  now(): number;
}

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

const elapsed = (): number => performance.now();

const createCount =
  ({ alertIndex, ledger }: Pick<Store, 'alertIndex' | 'ledger'>) =>
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
export const createDestinations =
  ({ destinationsOf, isOpen }: Pick<OpenBlindness['dispatching'], 'destinationsOf' | 'isOpen'>) =>
  async (service: string, protocols: readonly string[]) => {
    const isNowOpen = await isOpen();
    const found = new Map<string, Awaited<ReturnType<typeof destinationsOf>>[number]>();
    for (const protocol of protocols) {
      for (const one of await destinationsOf({ service, protocol })) if (isNowOpen(one)) found.set(one.id, one);
    }
    return [...found.values()];
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

export const openBlindness = (dependencies: OpenBlindness) => {
  const { config, store, health, dispatching, mirror, reading, scrub, log, now } = dependencies;
  const interval = longestIntervalMs(config.poll);
  const everyMs = Math.min(LONGEST_PERIOD_MS, interval);
  const seenLate = WRITTEN_LATE_MS + everyMs;
  const usual = Math.max(3 * interval, interval + seenLate);
  const watch = createReadWatch({
    cursors: createCopying(store.cursorSnapshots, mirror),
    freshMs: 1.5 * interval,
    gapMs: 2 * everyMs + LATE_MS,
    elapsed,
  });
  const { check } = createBlindnessCheck({
    watch,
    store: store.blindness,
    notifier: createBlindnessNotifier({
      store: store.blindness,
      outages: store.outageStore,
      announce: dispatching.announce,
      operators: dispatching.operators,
      fallback: dispatching.fallback.destinations,
      destinationsOf: createDestinations(dispatching),
      reasonOf: (service, protocols) => {
        const reason = reading().reasonOf(service, protocols);
        return reason === undefined ? undefined : scrub(reason);
      },
      countAlerts: createCount(store),
      log,
      now,
    }),
    locks: store.locks,
    tracksOf: (service) => reading().tracksOf(service),
    answers: (service) =>
      health.ready().checks.some(({ name, status }) => name === `service:${service}` && status === 'ok'),
    onUnread: (service, protocols, watched) => reading().onUnread(service, protocols, watched),
    unreadAfterMs: Math.max(LEAST_UNREAD_MS, usual),
    limits: { tellAfter: Math.max(config.watchdog.after, usual), usual, seenLate },
    elapsed,
  });
  return {
    everyMs,
    onRead: (stream: Stream): void => watch.note(tracksOf(stream)),
    /** One look at every service; one that fails does not keep the others from it. */
    round: async (): Promise<void> => {
      const names = config.services.map(({ name }) => name);
      const ends = await Promise.allSettled(names.map(check));
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
  };
};
