/** One daemon that polls: over a real Redis, with what it remembers and a state file. Its jobs are in that Redis, too. */
import type { Redis } from 'ioredis';
import type { Alert } from '../../../src/alert.ts';
import {
  createCursorSnapshots,
  createCursors,
  createPollLock,
  type Track,
  trackKey,
} from '../../../src/poll/cursor.ts';
import { type MirroredCursor, mirroredOf } from '../../../src/poll/mirror.ts';
import { createPoller } from '../../../src/poll/poller.ts';
import { createSeen } from '../../../src/poll/seen.ts';
import type { Stream } from '../../../src/poll/stream.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { openCommits } from '../../support/commits.ts';
import { openReadMemory } from '../../support/read-memory.ts';
import { SETTINGS, type SimulatedService, T0, TRACKS } from './service.ts';

export interface DaemonOptions {
  redis: Redis;
  prefix: string;
  service: SimulatedService;
  time: { now: number };
  /** Of this daemon, before and after a restart. */
  stateFile: Map<string, MirroredCursor>;
  /** Called before alerts are queued and after; may throw, or do something else. */
  onDispatch(when: 'before' | 'after', alerts: readonly Alert[]): Promise<void>;
}

/** Where the model keeps a track's jobs: by the earliest date of the item. */
export const openKey = (prefix: string, { source, protocol }: Pick<Track, 'source' | 'protocol'>): string =>
  `${prefix}:open:${source}:${protocol}`;

export const createDaemon = ({ redis, prefix, service, time, stateFile, onDispatch }: DaemonOptions) => {
  const note = (track: Track, cursor: MirroredCursor): void => void stateFile.set(trackKey(track), cursor);
  const open = (track: Track): string => openKey(prefix, track);
  const cursors = createCursors(redis, prefix);
  const { read } = createCursorSnapshots(redis, prefix, open);
  const memory = openReadMemory(redis, prefix, { settings: SETTINGS, onCursor: note, monotonic: () => time.now }, open);
  const { poll } = createPoller({
    pages: service.pages,
    clock: () => time.now,
    beginningOf: (track) => stateFile.get(trackKey(track)) ?? { start: T0, position: T0, sweptTo: T0 },
    onCursor: note,
    cursors,
    seen: createSeen(redis, prefix),
    commits: openCommits(redis, prefix, open).commits,
    lock: createPollLock(createLocks(redis, prefix)),
    memory,
    dispatch: async (alerts) => {
      await onDispatch('before', alerts);
      for (const { source, protocol, itemId, at } of alerts) {
        await redis.zadd(openKey(prefix, { source, protocol }), Date.parse(at) - 15_000, itemId);
      }
      await onDispatch('after', alerts);
    },
    onPage: async () => {},
    now: () => time.now,
    settings: SETTINGS,
  });
  return {
    cursors,
    poll: (stream: Stream) => poll(stream, new AbortController().signal),
    commit: memory.commit,
    /** The look for what is not read copies the cursors. */
    follow: async (): Promise<void> => {
      for (const [index, { cursor, oldest }] of (await read(TRACKS)).entries()) {
        const track = TRACKS[index];
        if (track !== undefined && cursor !== undefined) note(track, mirroredOf(cursor, oldest));
      }
    },
  };
};

export type SimulatedDaemon = ReturnType<typeof createDaemon>;
