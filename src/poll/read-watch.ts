/**
 * Which tracks are read, by any daemon: a cursor that moves is read. Only moves count, and for how long there was none by
 * the monotonic clock: so no daemon's wrong clock, and no daemon that cannot read by itself, decides it.
 */
import { getOrCreate } from '../bounded-map.ts';
import { iso } from '../time.ts';
import { type Cursor, type Cursors, type Track, trackKey } from './cursor.ts';

interface WatchedTrack {
  track: Track;
  /** It was read since this daemon began to watch it. */
  wasRead: boolean;
  /** Milliseconds since it was last read, or since this daemon began to watch it. */
  unreadMs: number;
}

interface ReadWatchSettings {
  cursors: Pick<Cursors, 'get'>;
  /** Redis is not asked for a track that this daemon itself read within these milliseconds. */
  freshMs: number;
  /** After so many milliseconds without a look, as while Redis was away, nothing is known: watching begins again. */
  gapMs: number;
  monotonic(): number;
}

interface Known {
  /** The cursor as it was last seen; undefined where this daemon read the track since. */
  seen: string | undefined;
  readAt: number;
  wasRead: boolean;
}

const fingerprint = (cursor: Cursor | undefined): string => JSON.stringify([cursor?.polledAt, cursor?.position]);

export const createReadWatch = ({ cursors, freshMs, gapMs, monotonic }: ReadWatchSettings) => {
  const known = new Map<string, Known>();
  const lookedAt = new Map<string, number>();

  const compare = (key: string, cursor: Cursor | undefined, at: number): void => {
    const seen = fingerprint(cursor);
    const before = known.get(key);
    if (before === undefined) known.set(key, { seen, readAt: at, wasRead: false });
    else if (before.seen === undefined) before.seen = seen;
    else if (before.seen !== seen) known.set(key, { seen, readAt: at, wasRead: true });
  };

  /** All of a service but `kept`. */
  const forget = (service: string, kept: readonly Track[]): void => {
    const keys = new Set(kept.map(trackKey));
    for (const key of known.keys()) {
      const [of] = JSON.parse(key) as [string];
      if (of === service && !keys.has(key)) known.delete(key);
    }
  };

  return {
    /** This daemon has read these to the end. */
    note: (tracks: readonly Track[]): void => {
      for (const track of tracks) {
        // In place: a new one at each poll would outlive the young generation each time.
        const one = getOrCreate(known, trackKey(track), (): Known => ({ seen: undefined, readAt: 0, wasRead: true }));
        [one.seen, one.readAt, one.wasRead] = [undefined, monotonic(), true];
      }
    },
    /** How it stands with all tracks of a service. */
    look: async (service: string, tracks: readonly Track[]): Promise<WatchedTrack[]> => {
      const begun = monotonic();
      const isFresh = (track: Track): boolean => begun - (known.get(trackKey(track))?.readAt ?? -Infinity) < freshMs;
      const asked = tracks.filter((track) => !isFresh(track));
      const found = asked.length === 0 ? [] : await cursors.get(asked);
      const at = monotonic();
      const isGap = at - (lookedAt.get(service) ?? at) > gapMs;
      forget(service, isGap ? [] : tracks);
      asked.forEach((track, index) => {
        compare(trackKey(track), found[index], at);
      });
      lookedAt.set(service, at);
      return tracks.map((track) => {
        const { readAt = at, wasRead = false } = known.get(trackKey(track)) ?? {};
        return { track, wasRead, unreadMs: at - readAt };
      });
    },
  };
};

export type ReadWatch = ReturnType<typeof createReadWatch>;

/** How a service answers at present. */
interface ServiceState {
  name: string;
  up: boolean;
  /** ISO 8601: since when it is not up. */
  since?: string;
  lastError?: string;
}

/** A service is up where none of its subjects fails; `failing` names those by their service in `group`, the oldest first. */
export const serviceStates = (
  services: readonly string[],
  failing: readonly { group: string; since: number; message: string }[],
): ServiceState[] =>
  services.map((name) => {
    const first = failing.find(({ group }) => group === name);
    if (first === undefined) return { name, up: true };
    return { name, up: false, since: iso(first.since), lastError: first.message };
  });
