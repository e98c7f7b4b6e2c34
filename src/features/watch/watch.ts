/**
 * Follows the ledger from the watching side: the daemons do nothing for it. Each look reads the newest alerts of the
 * index, and again those of them that are on their way.
 */
import type { Alert } from '../../alert.ts';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type AlertEvent, changesOf, isOpen, type Seen, seenOf } from './changes.ts';

export interface WatchDependencies {
  alertIndex: Pick<AlertIndex, 'newest'>;
  ledger: Pick<Ledger, 'read'>;
}

/** Alerts that are looked for, newest first by date. */
export const MOST_NEW = 300;
/** Alerts on their way that are read again at each look; the others have their turn at the next ones. */
const MOST_READ_AGAIN = 200;
/** Alerts on their way that are followed; the oldest are let go. */
const MOST_FOLLOWED = 2000;

export interface Look {
  events: AlertEvent[];
  /** More came at once than are looked for, so that some are not among the events. */
  isCut: boolean;
}

export const createWatch = ({ alertIndex, ledger }: WatchDependencies, mostNew = MOST_NEW) => {
  let newest: ReadonlySet<Alert['id']> | undefined;
  /** Those on their way, in the order in which they were read last. */
  const followed = new Map<Alert['id'], Seen>();

  const follow = (id: Alert['id'], seen: Seen): void => {
    followed.delete(id);
    if (isOpen(seen)) followed.set(id, seen);
    const [oldest] = followed.keys();
    if (followed.size > MOST_FOLLOWED && oldest !== undefined) followed.delete(oldest);
  };

  /** The first look only learns what is there. */
  return async (): Promise<Look> => {
    const ids = await alertIndex.newest(mostNew);
    const isFirst = newest === undefined;
    const fresh = ids.filter((id) => newest?.has(id) !== true);
    const again = [...followed.keys()].filter((id) => !fresh.includes(id)).slice(0, MOST_READ_AGAIN);
    const isCut = !isFirst && ids.length === mostNew && fresh.length === mostNew;
    newest = new Set(ids);
    const records = await Promise.all([...fresh, ...again].map(async (id) => ({ id, record: await ledger.read(id) })));
    const events: AlertEvent[] = [];
    for (const { id, record } of records) {
      if (record === undefined) {
        followed.delete(id);
        continue;
      }
      if (!isFirst) events.push(...changesOf(record, followed.get(id)));
      follow(id, seenOf(record));
    }
    return { events: events.toSorted((a, b) => a.at.localeCompare(b.at)), isCut };
  };
};
