/**
 * A copy of the cursors outside Redis: Redis is the work, not the only truth. When its data is lost, reading goes on
 * from here instead of from the start.
 */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../errors.ts';
import { makePrivateDirectory, replacePrivateFile } from '../private-file.ts';
import type { Reason } from './catalog.ts';
import { type Cursor, type Track, trackKey } from './cursor.ts';

export type MirroredCursor = Pick<Cursor, 'start' | 'position' | 'sweptTo'>;

/**
 * What is copied of a cursor. It stays behind what is not delivered: with Redis its job would be lost, too. `oldest`: the
 * date of the oldest alert that is on its way.
 */
export const mirroredOf = (
  { start, position, sweptTo }: MirroredCursor,
  oldest = Number.POSITIVE_INFINITY,
): MirroredCursor => ({ start, position: Math.min(position, oldest), sweptTo: Math.min(sweptTo, oldest) });

const VERSION = 1;

const isMirroredCursor = (value: unknown): value is MirroredCursor => {
  const { start, position, sweptTo } = (value ?? {}) as Partial<MirroredCursor>;
  return [start, position, sweptTo].every(Number.isFinite);
};

const parse = (text: string): Map<string, MirroredCursor> => {
  const { v, cursors } = JSON.parse(text) as { v?: number; cursors?: Record<string, MirroredCursor> };
  if (v !== VERSION || typeof cursors !== 'object') throw new Error(`it is not of version ${VERSION}`);
  return new Map(Object.entries(cursors).filter(([, cursor]) => isMirroredCursor(cursor)));
};

export const createMirror = (file: string) => {
  let cursors = new Map<string, MirroredCursor>();
  let changed = false;
  /** While a config is replaced, two generations write here. */
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    if (!changed) return;
    changed = false;
    try {
      await makePrivateDirectory(dirname(file));
      await replacePrivateFile(file, JSON.stringify({ v: VERSION, cursors: Object.fromEntries(cursors) }));
    } catch (error) {
      changed = true;
      throw error;
    }
  };

  return {
    /** Reads the file; a missing one is an empty mirror. Gives why a file that is there could not be used. */
    load: async (): Promise<string | undefined> => {
      try {
        cursors = parse(await readFile(file, 'utf8'));
        return undefined;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        return `${file}: ${messageOf(error)}`;
      }
    },
    recall: (track: Track): MirroredCursor | undefined => cursors.get(trackKey(track)),
    /** Takes a cursor in; written by the next `flush`. */
    note: (track: Track, { start, position, sweptTo }: MirroredCursor): void => {
      const known = cursors.get(trackKey(track));
      if (known && known.start === start && known.position === position && known.sweptTo === sweptTo) return;
      cursors.set(trackKey(track), { start, position, sweptTo });
      changed = true;
    },
    /** The service does not list it any more. */
    forget: (track: Track): void => {
      changed = cursors.delete(trackKey(track)) || changed;
    },
    /** Writes the whole file where something changed; never half a file. */
    flush: (): Promise<void> => {
      writing = writing.catch(() => {}).then(write);
      return writing;
    },
  };
};

export type Mirror = ReturnType<typeof createMirror>;

/** As the config has it: now, this many milliseconds back, or an ISO 8601 moment. */
type StartFrom = 'now' | { agoMs: number } | { at: string };

interface BeginningSettings {
  startFrom: StartFrom;
  clock(service: string): number;
  recall: Mirror['recall'];
  /** Called when a lost cursor is taken from the mirror. */
  onRecalled(track: Track, cursor: MirroredCursor): void;
  /** Why it is read; both by our clock. */
  reasonFor(track: Track): Promise<Pick<Reason, 'since' | 'includedSince'> | undefined>;
  now(): number;
}

/** Where reading begins on a track that Redis has no cursor for: never polled, or lost with its data. */
export const createBeginning = (settings: BeginningSettings) => {
  const { startFrom, clock, recall, onRecalled, now } = settings;

  /** Where the config wants the very first read to begin. */
  const firstStart = (service: string): number => {
    if (startFrom === 'now') return clock(service);
    return 'at' in startFrom ? Date.parse(startFrom.at) : clock(service) - startFrom.agoMs;
  };

  return async (track: Track): Promise<MirroredCursor> => {
    const ahead = clock(track.service) - now();
    const { since = Number.POSITIVE_INFINITY, includedSince = 0 } = (await settings.reasonFor(track)) ?? {};
    const mirrored = recall(track);
    // One from before the config left the track out would bring what came meanwhile.
    if (mirrored && mirrored.position >= includedSince + ahead) {
      onRecalled(track, mirrored);
      return mirrored;
    }
    // Items since then are no history, even where `startFrom` is later: nobody could read them earlier.
    const start = Math.min(firstStart(track.service), since + ahead);
    return { start, position: start, sweptTo: start };
  };
};
