/** Notices services and protocols that are not read, and has each announced once over all daemons. */
import type { Track } from '../../poll/cursor.ts';
import type { ReadWatch } from '../../poll/read-watch.ts';
import type { Locks } from '../../redis/lock.ts';
import {
  type Changes,
  type ChangesInput,
  changesOf,
  createRecent,
  isBack,
  type Limits,
  type Reading,
} from './changes.ts';
import { type BlindnessNotifierDependencies, createBlindnessNotifier } from './notifier.ts';

interface BlindnessCheckDependencies extends BlindnessNotifierDependencies {
  watch: Pick<ReadWatch, 'look'>;
  locks: Locks;
  /** What is read of a service: every track that its polls ask for. */
  tracksOf(service: string): Promise<Track[]>;
  /** The service answers this daemon, as far as is known. Asked only while nothing of it is known to be polled. */
  answers(service: string): boolean;
  /** Called after each look with the protocols that were not read for three intervals. */
  onUnread(service: string, protocols: readonly string[], watched: number): void;
  /** Milliseconds without a read that count as blindness. */
  unreadAfterMs: number;
  limits: Limits;
  monotonic(): number;
}

/** Stands for a service of which no protocol is known. */
const UNLISTED = '';

type Readings = ChangesInput['readings'];

/** The worst of each protocol's tracks. */
const readingsOf = (tracks: Awaited<ReturnType<ReadWatch['look']>>): Map<string, Reading> => {
  const readings = new Map<string, Reading>();
  for (const { track, wasRead, unreadMs } of tracks) {
    const known = readings.get(track.protocol);
    readings.set(track.protocol, {
      wasRead: wasRead && known?.wasRead !== false,
      unreadMs: Math.max(unreadMs, known?.unreadMs ?? 0),
    });
  }
  return readings;
};

const isNews = ({ begun, ended }: Changes, announced: ChangesInput['announced']): boolean =>
  begun !== undefined || ended.length > 0 || announced.some(({ isAnnounced }) => !isAnnounced);

export const createBlindnessCheck = (dependencies: BlindnessCheckDependencies) => {
  const { watch, store, locks, tracksOf, answers, onUnread, unreadAfterMs, limits, monotonic } = dependencies;
  const notifier = createBlindnessNotifier(dependencies);
  /** Since when a service that nothing is known of does not answer; since when one is back. By `monotonic`. */
  const silentSince = new Map<string, number>();
  const backSince = new Map<string, number>();
  const recent = createRecent({ keptMs: limits.seenLate, monotonic });

  const sinceFirst = (moments: Map<string, number>, service: string, holds: boolean): number => {
    if (!holds) moments.delete(service);
    else if (!moments.has(service)) moments.set(service, monotonic());
    return monotonic() - (moments.get(service) ?? monotonic());
  };

  const look = async (service: string): Promise<{ readings: Readings; watched: string[] }> => {
    const readings = readingsOf(await watch.look(service, await tracksOf(service)));
    const watched = [...readings.keys()];
    const isSilent = watched.length === 0 && !answers(service);
    const silentMs = sinceFirst(silentSince, service, isSilent);
    if (watched.length === 0) readings.set(UNLISTED, { wasRead: !isSilent, unreadMs: silentMs });
    return { readings, watched };
  };

  const check = async (service: string): Promise<void> => {
    const { readings, watched } = await look(service);
    const unread = [...readings].filter(([, { unreadMs }]) => unreadMs >= unreadAfterMs).map(([name]) => name);
    onUnread(service, unread, watched.length);
    const backForMs = sinceFirst(backSince, service, isBack(readings, limits));
    const news = async () => {
      const announced = await store.list(service);
      recent.note(service, announced);
      return { announced, changes: changesOf({ readings, announced, recent: recent.of(service), backForMs, limits }) };
    };
    const found = await news();
    if (!isNews(found.changes, found.announced)) return;
    const held = await locks.take([`unread:${service}`]);
    // Another daemon is about to say it.
    if (held === undefined) return;
    try {
      const { announced, changes } = await news();
      const of = { service, watched };
      for (const blindness of announced) if (!blindness.isAnnounced) await notifier.tell(of, blindness);
      for (const ended of changes.ended) await notifier.end(of, ended);
      if (changes.begun !== undefined) await notifier.begin(of, changes.begun);
    } finally {
      await held.release();
    }
  };

  return { check };
};
