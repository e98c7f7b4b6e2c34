/** The cursors, as operators see and move them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Source } from '../../alert.ts';
import { didYouMean } from '../../config/problems.ts';
import type { Config } from '../../config/schema.ts';
import { UnavailableError, UsageError } from '../../errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Catalog } from '../../poll/catalog.ts';
import { type Cursor, type Cursors, createPollLock, type Track } from '../../poll/cursor.ts';
import type { Locks } from '../../redis/lock.ts';
import { nameText } from '../../text.ts';

interface CursorDependencies {
  config: Pick<Config, 'services' | 'alerts'>;
  cursors: Pick<Cursors, 'get' | 'set'>;
  ledger: Pick<Ledger, 'oldestOpen'>;
  locks: Locks;
  catalog: Pick<Catalog, 'protocols'>;
  /** How long `move` waits for a poll to end, in milliseconds. Default 15 s. */
  patienceMs?: number;
}

type TrackSelection = { [Key in keyof Track]?: Track[Key] | undefined };

/** Where one protocol's source stands; dates are epoch milliseconds. */
export interface TrackState extends Track {
  /** Absent where it was never read. */
  cursor?: Cursor;
  /** The date of its oldest alert that is still on its way. */
  oldestOpen?: number;
}

/** A poll is bounded by the service's timeout, page by page: it ends sooner. */
const PATIENCE_MS = 15_000;
const LOCK_RETRY_MS = 50;

const servicesOf = ({ services }: CursorDependencies['config'], service: string | undefined): string[] => {
  const names = services.map(({ name }) => name);
  if (service === undefined) return names;
  if (!names.includes(service)) throw new UsageError(`the config has no service '${service}'`);
  return [service];
};

const sourcesOf = ({ alerts }: CursorDependencies['config'], source: Source | undefined): readonly Source[] => {
  if (source === undefined) return alerts.sources;
  if (!alerts.sources.includes(source)) {
    throw new UsageError(`the config does not read ${source}: alerts.sources has only ${alerts.sources.join(', ')}`);
  }
  return [source];
};

export const createCursorAdmin = (dependencies: CursorDependencies) => {
  const { config, cursors, ledger, locks, catalog, patienceMs = PATIENCE_MS } = dependencies;

  /** Those that are polled. Throws a `UsageError` where a name fits none. */
  const tracks = async ({ service, protocol, source }: TrackSelection): Promise<Track[]> => {
    const sources = sourcesOf(config, source);
    const found: Track[] = [];
    const polled: string[] = [];
    for (const name of servicesOf(config, service)) {
      const listed = [...(await catalog.protocols(name)).keys()];
      polled.push(...listed);
      const names = listed.filter((each) => protocol === undefined || each === protocol);
      found.push(...names.flatMap((each) => sources.map((one) => ({ service: name, source: one, protocol: each }))));
    }
    if (protocol !== undefined && found.length === 0) {
      const near = didYouMean(protocol, polled);
      throw new UsageError(`no protocol '${protocol}' is polled: \`tocsin status\` lists those that are${near}`);
    }
    return found;
  };

  const stateOf = async (track: Track, cursor: Cursor | undefined): Promise<TrackState> => {
    const oldestOpen = await ledger.oldestOpen(track);
    return {
      ...track,
      ...(cursor === undefined ? {} : { cursor }),
      ...(oldestOpen === undefined ? {} : { oldestOpen }),
    };
  };

  return {
    tracks,
    states: async (of: readonly Track[]): Promise<TrackState[]> => {
      const found = await cursors.get(of);
      return Promise.all(of.map((track, index) => stateOf(track, found[index])));
    },
    /**
     * Reading begins again at `at`, epoch milliseconds. Takes the track's lock, as a poll that runs meanwhile would move the
     * cursor on from where it was. Throws an `UnavailableError` where a poll does not end.
     */
    move: async (track: Track, at: number): Promise<void> => {
      const lock = createPollLock(locks);
      const deadline = performance.now() + patienceMs;
      for (;;) {
        const held = await lock.take([track]);
        if (held) return cursors.set(track, at).finally(() => held.release());
        if (performance.now() > deadline) {
          const poll = `a poll of ${track.source} of ${nameText(track.protocol)}`;
          throw new UnavailableError(`${poll} is still running: try again later`);
        }
        await sleep(LOCK_RETRY_MS);
      }
    },
  };
};
