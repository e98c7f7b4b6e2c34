/** Where reading begins on a track that Redis has no cursor for: never polled, or lost with its data. */
import type { Track } from './cursor.ts';
import type { MirroredCursor } from './mirror.ts';

/** As the config has it: now, this many milliseconds back, or an ISO 8601 moment. */
type StartFrom = 'now' | { agoMs: number } | { at: string };

export interface BeginningDependencies {
  startFrom: StartFrom;
  /** The service's time in epoch milliseconds. */
  clock(service: string): number;
  /** The copy of a cursor outside Redis. */
  recall(track: Track): MirroredCursor | undefined;
  /** Called when a lost cursor is taken from that copy. */
  onRecalled(track: Track, cursor: MirroredCursor): void;
  /** As `CatalogEntry.owedSince`, by our clock. */
  owedSince(track: Track): Promise<number | undefined>;
  now(): number;
}

export const createBeginning = (dependencies: BeginningDependencies) => {
  const { startFrom, clock, recall, onRecalled, now } = dependencies;

  /** Where the config wants the very first read to begin. */
  const firstStart = (service: string): number => {
    if (startFrom === 'now') return clock(service);
    return 'at' in startFrom ? Date.parse(startFrom.at) : clock(service) - startFrom.agoMs;
  };

  /** By the service's clock. Items since then are no history, whatever `startFrom` says: nobody could read them earlier. */
  const owedSince = async (track: Track): Promise<number> => {
    const since = await dependencies.owedSince(track);
    return since === undefined ? Number.POSITIVE_INFINITY : since + clock(track.service) - now();
  };

  return async (track: Track): Promise<MirroredCursor> => {
    const mirrored = recall(track);
    if (mirrored) {
      onRecalled(track, mirrored);
      return mirrored;
    }
    const start = Math.min(firstStart(track.service), await owedSince(track));
    return { start, position: start, sweptTo: start };
  };
};
