/** No room is left where the daemon keeps its state file, or its private Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { fill, whyNoSmallDisk } from '../small-disk.ts';

const FULL_MS = 10_000;

const full = (name: string, what: string, stage: Fault['stage'] & object): Fault => ({
  name,
  what,
  stage,
  doubles: 'in flight',
  whyNot: whyNoSmallDisk,
  strike: async ({ daemons: [daemon] }) => {
    const free = fill(daemon.dataDir);
    await sleep(FULL_MS);
    free();
  },
});

export const DISK_FAULTS: readonly Fault[] = [
  full('disk-state-file', 'no room for the state file for 10 s', { smallDisk: '256k' }),
  full('disk-redis', 'no room for the embedded Redis and the state file for 10 s', {
    smallDisk: '32m',
    redis: 'embedded',
  }),
];
