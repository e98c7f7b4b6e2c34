/** What a daemon remembers of its reads, over a real Redis. */
import type { Redis } from 'ioredis';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { createQuietCommits } from '../../src/poll/commit-store.ts';
import { createReadMemory, type ReadMemoryDependencies } from '../../src/poll/read-memory.ts';

export const openReadMemory = (
  redis: Redis,
  prefix: string,
  changes: Pick<ReadMemoryDependencies, 'settings'> & Partial<ReadMemoryDependencies>,
  openKey = ledgerKeys(prefix).open,
) =>
  createReadMemory({
    commits: createQuietCommits(redis, prefix, openKey),
    onCursor: () => {},
    onChanged: () => {},
    monotonic: () => performance.now(),
    ...changes,
  });
