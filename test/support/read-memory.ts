/** What a daemon remembers of its reads, over a real Redis. */
import type { Redis } from 'ioredis';
import { ledgerKeys } from '../../src/ledger/record.ts';
import { createCommitStore } from '../../src/poll/commit-store.ts';
import { createReadMemory, type ReadMemorySettings } from '../../src/poll/read-memory.ts';

export const openReadMemory = (
  redis: Redis,
  prefix: string,
  changes: Pick<ReadMemorySettings, 'settings'> & Partial<ReadMemorySettings>,
  openKey = ledgerKeys(prefix).open,
) =>
  createReadMemory({
    commits: createCommitStore(redis, prefix, openKey),
    onCursor: () => {},
    onChanged: () => {},
    monotonic: () => performance.now(),
    ...changes,
  });
