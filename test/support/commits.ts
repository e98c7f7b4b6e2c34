/** What a poll writes about itself, for tests that need a track in a certain state: each call takes the track's lock. */
import type { Redis } from 'ioredis';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { createCommitStore } from '../../src/poll/commit-store.ts';
import { type Advance, createPollLock, type Track } from '../../src/poll/cursor.ts';
import type { Identity } from '../../src/poll/seen.ts';
import { createLocks, type HeldLock } from '../../src/redis/lock.ts';

export const openCommits = (redis: Redis, prefix: string, openKey = ledgerKeys(prefix).open) => {
  const commits = createCommitStore(redis, prefix, openKey);
  const lock = createPollLock(createLocks(redis, prefix));
  const locked = async <T>(track: Track, work: (held: HeldLock) => Promise<T>): Promise<T> => {
    const held = await lock.take([track]);
    if (!held) throw new Error(`${track.protocol} is being read`);
    return work(held).finally(() => held.release());
  };
  return {
    commits,
    locked,
    advance: (track: Track, to: Advance) => locked(track, (held) => commits.advance(held, [track], to)),
    remember: (track: Track, identities: readonly Identity[]) =>
      locked(track, (held) => commits.remember(held, track, identities)),
  };
};
