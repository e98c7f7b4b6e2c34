/** Every fault of the suite, in the order of the table. */
import type { Fault } from './fault.ts';
import { backlogFault } from './list/backlog.ts';
import { CLOCK_FAULTS } from './list/clock.ts';
import { CROWD_FAULTS, inTurnFault } from './list/crowd.ts';
import { DAEMON_FAULTS } from './list/daemon.ts';
import { DISK_FAULTS } from './list/disk.ts';
import { FAILOVER_FAULTS } from './list/failover.ts';
import { NETWORK_FAULTS } from './list/network.ts';
import { RECEIVER_FAULTS } from './list/receivers.ts';
import { REDIS_FAULTS } from './list/redis.ts';
import { SERVICE_FAULTS } from './list/service.ts';
import { togetherFault } from './list/together.ts';
import { UPGRADE_FAULTS } from './list/upgrade.ts';

export interface Scale {
  /** Alerts of `backlog`. */
  backlog: number;
  /** How long `together` and `in-turn` go on. */
  minutes: number;
}

export const faultsOf = ({ backlog, minutes }: Scale): Fault[] => {
  const alone: Fault[] = [
    ...DAEMON_FAULTS,
    ...CROWD_FAULTS,
    ...REDIS_FAULTS,
    ...FAILOVER_FAULTS,
    ...NETWORK_FAULTS,
    ...CLOCK_FAULTS,
    ...DISK_FAULTS,
    ...SERVICE_FAULTS,
    ...RECEIVER_FAULTS,
    ...UPGRADE_FAULTS,
    backlogFault(backlog),
  ];
  const drawn = alone.filter(({ grip }) => grip !== undefined);
  return [...alone, inTurnFault(minutes), togetherFault(drawn, minutes)];
};
