/** Every fault of the suite, in the order of the table. */
import type { Fault } from './fault.ts';
import { DAEMON_FAULTS } from './list/daemon.ts';
import { REDIS_FAULTS } from './list/redis.ts';

export const FAULTS: readonly Fault[] = [...DAEMON_FAULTS, ...REDIS_FAULTS];
