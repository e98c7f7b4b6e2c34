/** Ingests items that were found outside of a poll, as a poll would: queue first, remember second, under the same lock. */
import type { Alert } from '../alert.ts';
import type { Item } from '../item.ts';
import type { CommitStore } from './commit-store.ts';
import type { Cursor, Cursors, Track } from './cursor.ts';
import { toAlert } from './ingest.ts';
import type { PollLock } from './lock.ts';

export interface LateItemsDependencies {
  cursors: Pick<Cursors, 'get'>;
  commits: Pick<CommitStore, 'remember'>;
  lock: PollLock;
  /** Resolves when every alert is durably queued. */
  dispatch(alerts: readonly Alert[]): Promise<void>;
  now(): number;
}

/** Those of the alerts that were not queued yet. Asked under the lock, so that no poll queues them meanwhile. */
export type Unknown = (track: Track, alerts: readonly Alert[]) => Promise<Alert[]>;

const latestOf = ({ dates }: Item): number | undefined => {
  const all = Object.values(dates);
  return all.length === 0 ? undefined : Math.max(...all);
};

/** Items that were written before a track began are history, which is not forwarded. */
const isNews = (item: Item, { start }: Cursor): boolean => (latestOf(item) ?? start) > start;

export type LateItems = ReturnType<typeof createLateItems>;

export const createLateItems = ({ cursors, commits, lock, dispatch, now }: LateItemsDependencies) => ({
  /** Gives the alerts that were queued; undefined where a poll reads the track just now: try again. */
  ingest: async (track: Track, items: readonly Item[], unknown: Unknown): Promise<Alert[] | undefined> => {
    const held = await lock.take([track]);
    if (!held) return undefined;
    try {
      const [cursor] = await cursors.get([track]);
      if (!cursor) return [];
      const news = items.filter((item) => isNews(item, cursor));
      const latest = new Map<string, number>();
      const alerts = news.map((item) => {
        const alert = toAlert(item, track.service, track.protocol, now());
        latest.set(alert.id, latestOf(item) ?? now());
        return alert;
      });
      const fresh = await unknown(track, alerts);
      if (fresh.length === 0) return [];
      await dispatch(fresh);
      await commits.remember(
        held,
        track,
        fresh.map(({ id }) => ({ id, latest: latest.get(id) ?? now() })),
      );
      return fresh;
    } finally {
      await held.release();
    }
  },
});
