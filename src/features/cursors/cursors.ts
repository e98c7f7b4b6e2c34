/** The cursors as operators see and move them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Source } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { UnavailableError, UsageError } from '../../errors.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Cursor, Track } from '../../poll/cursor.ts';
import { createPollLock } from '../../poll/lock.ts';

export interface CursorDependencies {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocols'>;
}

export interface TrackSelection {
  service?: string | undefined;
  protocol?: string | undefined;
  source?: Source | undefined;
}

/** Where one protocol's source stands; dates are epoch milliseconds. */
export interface TrackState extends Track {
  /** Absent where it was never read. */
  cursor?: Cursor;
  /** The date of its oldest alert that is still on its way. */
  oldestOpen?: number;
}

/** A poll that is running ends sooner: it is bounded by the service's timeout, page by page. */
const LOCK_PATIENCE_MS = 15_000;
const LOCK_RETRY_MS = 50;

export const createCursorAdmin = ({ config, store, catalog }: CursorDependencies) => {
  const lock = createPollLock(store.locks);

  const servicesOf = (service: string | undefined): string[] => {
    const names = config.services.map(({ name }) => name);
    if (service === undefined) return names;
    if (!names.includes(service)) throw new UsageError(`the config has no service '${service}'`);
    return [service];
  };

  const sourcesOf = (source: Source | undefined): readonly Source[] => {
    if (source === undefined) return config.alerts.sources;
    if (!config.alerts.sources.includes(source)) throw new UsageError(`the config does not read ${source}`);
    return [source];
  };

  const namesOf = async (service: string, protocol: string | undefined): Promise<string[]> =>
    [...(await catalog.protocols(service)).keys()].filter((name) => protocol === undefined || name === protocol);

  /** Those that are polled. Throws a `UsageError` where a name names nothing. */
  const tracks = async ({ service, protocol, source }: TrackSelection): Promise<Track[]> => {
    const sources = sourcesOf(source);
    const found: Track[] = [];
    for (const name of servicesOf(service)) {
      const names = await namesOf(name, protocol);
      found.push(...names.flatMap((each) => sources.map((one) => ({ service: name, source: one, protocol: each }))));
    }
    if (protocol !== undefined && found.length === 0) {
      throw new UsageError(`no protocol '${protocol}' is polled: \`tocsin status\` lists those that are`);
    }
    return found;
  };

  const stateOf = async (track: Track, cursor: Cursor | undefined): Promise<TrackState> => {
    const oldestOpen = await store.ledger.oldestOpen(track);
    return {
      ...track,
      ...(cursor === undefined ? {} : { cursor }),
      ...(oldestOpen === undefined ? {} : { oldestOpen }),
    };
  };

  /** A poll that runs meanwhile would move the cursor on from where it was. */
  const whileNotPolled = async (track: Track, work: () => Promise<void>): Promise<void> => {
    const deadline = Date.now() + LOCK_PATIENCE_MS;
    for (;;) {
      const held = await lock.take([track]);
      if (held) return work().finally(() => held.release());
      if (Date.now() > deadline) {
        throw new UnavailableError(`${track.source} of ${track.protocol} are being read for long now: try again later`);
      }
      await sleep(LOCK_RETRY_MS);
    }
  };

  return {
    tracks,
    states: async (of: readonly Track[]): Promise<TrackState[]> => {
      const cursors = await store.cursors.get(of);
      return Promise.all(of.map((track, index) => stateOf(track, cursors[index])));
    },
    /** Reading begins anew at `at`, epoch milliseconds. Throws an `UnavailableError` where a poll does not end. */
    move: (track: Track, at: number): Promise<void> => whileNotPolled(track, () => store.cursors.set(track, at)),
  };
};
