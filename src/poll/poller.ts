/**
 * One poll: cursor -> pages -> dispatch -> commit. The order of the three writes is the promise:
 * queue first, remember the identities second, move the cursor last. A crash between any two costs a repeat,
 * which identities and ledger absorb, and never an item.
 */
import type { Alert, ItemPage, Source } from '../alert.ts';
import type { HeldLock } from '../redis/lock.ts';
import { type CommitDependencies, createCommit } from './commit.ts';
import type { CommitStore } from './commit-store.ts';
import type { Track } from './cursor.ts';
import { createIngest } from './ingest.ts';
import type { PollLock } from './lock.ts';
import { createProgress } from './progress.ts';
import type { Seen } from './seen.ts';
import { isSweepDue, notAhead, type WindowSettings, windowOf } from './windows.ts';

/** What one request can read: one protocol's inspections, or the notifications of several protocols. */
export interface Stream {
  service: string;
  source: Source;
  protocols: string[];
}

export const tracksOf = ({ service, source, protocols }: Stream): Track[] =>
  protocols.map((protocol) => ({ service, source, protocol }));

/** A page as it is read. */
export interface ReadPage extends ItemPage {
  /** There is probably no further page; only asking for it can show that. */
  short?: boolean;
  /** Everything dated before this has been read, by whichever date the service filters by. Epoch milliseconds. */
  settledBefore?: number;
}

export interface PollSettings extends WindowSettings {
  /** Assessments that make an inspection an alert. */
  assessments: readonly string[];
}

export interface PollerDependencies extends Omit<CommitDependencies, 'commits' | 'settings'> {
  /**
   * The stream's pages dated after `since`, each yielded before the next is asked for; `thorough` so that nothing can
   * slip between two of them. Throws `ServiceError`.
   */
  pages(stream: Stream, since: number, signal: AbortSignal, thorough: boolean): AsyncIterable<ReadPage>;
  /** The service's own time in epoch milliseconds, rather too early than too late. */
  clock(service: string): number;
  seen: Seen;
  commits: CommitStore;
  lock: PollLock;
  /** Resolves when every alert is durably queued. */
  dispatch(alerts: Alert[]): Promise<void>;
  /** Called for every page as it is ingested, to count items and report malformed ones. */
  onPage(stream: Stream, page: ItemPage): Promise<void>;
  settings: PollSettings;
}

export interface PollResult {
  /** `busy`: another daemon polls this stream right now. `held`: the service is not to be asked now. */
  outcome: 'read' | 'busy' | 'held';
  items: number;
  alerts: number;
  sweep: boolean;
}

const NOT_READ = { items: 0, alerts: 0, sweep: false };

export const createPoller = (dependencies: PollerDependencies) => {
  const { pages, lock, now, settings } = dependencies;
  const ingest = createIngest({ ...dependencies, assessments: settings.assessments, lookback: settings.lookback });
  const commit = createCommit(dependencies);

  const read = async (stream: Stream, tracks: Track[], held: HeldLock, signal: AbortSignal): Promise<PollResult> => {
    const clock = (): number => dependencies.clock(stream.service);
    const [ownBegun, begun] = [now(), clock()];
    const loaded = (await commit.load(tracks)).map((one) => ({ ...one, cursor: notAhead(one.cursor, begun) }));
    const isSweep = loaded.some(({ cursor }) => isSweepDue(cursor, begun, settings));
    const windows = loaded.map(({ track, cursor }) => windowOf(track, cursor, isSweep, settings));
    const progress = createProgress({ clock, now, begun, ownBegun, isSweep, lookback: settings.lookback });
    const result: PollResult = { outcome: 'read', items: 0, alerts: 0, sweep: isSweep };
    for await (const page of pages(stream, Math.min(...windows.map(({ since }) => since)), signal, isSweep)) {
      const reported = dependencies.onPage(stream, page);
      // Its alerts do not wait for what is counted and reported; where they fail, the poll fails with their error.
      reported.catch(() => {});
      const fresh = await ingest(held, windows, page);
      await reported;
      progress.count(page.items);
      result.alerts += fresh;
      result.items += page.items.length;
      if (page.settledBefore !== undefined) await commit.advance(held, windows, progress.upTo(page.settledBefore));
      // Nothing new where new items come: the sweep asks whether there is more.
      if (page.short && fresh === 0 && !isSweep) break;
    }
    await commit.finish(held, windows, progress.upTo(), isSweep ? progress.begun() : undefined);
    return result;
  };

  return {
    /** Reads what is new and queues it. Throws where the service or Redis failed; nothing is lost by that. */
    poll: async (stream: Stream, signal: AbortSignal): Promise<PollResult> => {
      const tracks = tracksOf(stream);
      const held = await lock.take(tracks);
      if (!held) return { outcome: 'busy', ...NOT_READ };
      try {
        return await read(stream, tracks, held, signal);
      } finally {
        await held.release();
      }
    },
  };
};
