/** One poll at a time for a track, over all daemons. */
import type { HeldLock, Locks } from '../redis/lock.ts';
import { type Track, trackKey } from './cursor.ts';

export interface PollLock {
  /** Takes all of the tracks or none: `undefined` when somebody else polls one of them. */
  take(tracks: readonly Track[]): Promise<HeldLock | undefined>;
}

export const createPollLock = (locks: Locks): PollLock => ({ take: (tracks) => locks.take(tracks.map(trackKey)) });
