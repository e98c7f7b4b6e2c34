/** Everything that is kept in Redis, each by its owner's interface. Parts get single entries of it, never the whole. */

import { CHANNEL_KINDS } from '../alert.ts';
import { createAddressChanges } from '../deliver/address-changes.ts';
import { createCircuits } from '../deliver/circuit-breaker.ts';
import { createDisabled } from '../deliver/disabled.ts';
import { createRateLimiter } from '../deliver/rate-limiter.ts';
import { createRateStateStore } from '../deliver/rate-state-store.ts';
import { createEscalations } from '../features/acknowledgement/escalations.ts';
import { createAcknowledgementStore } from '../features/acknowledgement/store.ts';
import { createApprovalStore } from '../features/approval/store.ts';
import { createBlindnessStore } from '../features/blindness/store.ts';
import { createCoveredDeliveries } from '../features/correlation/covered-deliveries.ts';
import { createFirstSeen } from '../features/enrichment/first-seen.ts';
import { createMuteStore } from '../features/mutes/store.ts';
import { createNameStore } from '../features/names/store.ts';
import { createOutageStore } from '../features/outages/store.ts';
import { createRecheckStore } from '../features/recheck/store.ts';
import { createHabitStore } from '../features/silence/store.ts';
import { createDaemonReports } from '../features/status/daemons.ts';
import { createStorms } from '../features/storms/store.ts';
import { createTripwireStore } from '../features/tripwire/store.ts';
import { createWatchdogStore } from '../features/watchdog/store.ts';
import { createCorrections } from '../ledger/corrections.ts';
import { createDeadLetters } from '../ledger/dead-letters.ts';
import { createDestinationStats } from '../ledger/destination-stats.ts';
import { createAlertIndex } from '../ledger/index-by-date.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createOperatorLog } from '../ledger/operator-log.ts';
import { createOutlines } from '../ledger/outline.ts';
import { ledgerKeys } from '../ledger/record.ts';
import { createCommitStore } from '../poll/commit-store.ts';
import { createCursors } from '../poll/cursor.ts';
import { createCursorSnapshots } from '../poll/cursor-snapshots.ts';
import { createQuarantine } from '../poll/quarantine.ts';
import { createQuietCommits } from '../poll/quiet-commits.ts';
import { createSeen } from '../poll/seen.ts';
import { createAbandonedJobs } from '../queue/abandoned-jobs.ts';
import { createBatchStore } from '../queue/batch-store.ts';
import { createDeadlines, DEADLINES_QUEUE } from '../queue/deadlines.ts';
import { createLeftJobs } from '../queue/left-jobs.ts';
import { createOverlongWaits } from '../queue/overlong-waits.ts';
import { createParcelQueues } from '../queue/queues.ts';
import { createJobScan } from '../queue/scan.ts';
import { createSchedule } from '../queue/schedule.ts';
import { type QueueSettings, queueName } from '../queue/settings.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createLocks } from '../redis/lock.ts';
import type { Limits } from './limits.ts';
import type { DaemonTurn } from './schedule.ts';

export interface StoreSettings {
  redis: RedisClient;
  /** With its hash tag, see `keyPrefix`. */
  prefix: string;
  onError(queue: string, error: Error): void;
  /** Hears of each job. Default: nobody does. */
  telemetry?: QueueSettings['telemetry'];
  /** Default: the parts' own. */
  limits?: Pick<Limits, 'dead' | 'held'>;
  now(): number;
}

export type Store = ReturnType<typeof createStore>;

export const createStore = ({ redis, prefix, onError, telemetry, limits, now }: StoreSettings) => {
  const queues = createParcelQueues({ redis, prefix, onError, ...(telemetry && { telemetry }) });
  const schedule = createSchedule<DaemonTurn>({ redis, prefix, onError });
  const destinationStats = createDestinationStats(redis, prefix);
  /** Without Redis it would wait for ever. */
  const writeStatistics = async (): Promise<void> => {
    if (redis.status === 'ready') await destinationStats.written();
  };
  const deadlines = createDeadlines({ redis, prefix, onError });
  const acknowledgements = createAcknowledgementStore(redis, prefix);
  return {
    redis,
    prefix,
    queues,
    jobScan: createJobScan(redis, prefix),
    leftJobs: createLeftJobs(redis, prefix),
    abandonedJobs: createAbandonedJobs(redis, prefix),
    schedule,
    deadlines,
    shortenWaits: createOverlongWaits({
      redis,
      prefix,
      queues: [...CHANNEL_KINDS.map(queueName), DEADLINES_QUEUE],
      now: () => Date.now(),
      elapsed: () => performance.now(),
    }),
    locks: createLocks(redis, prefix),
    cursors: createCursors(redis, prefix),
    cursorSnapshots: createCursorSnapshots(redis, prefix, ledgerKeys(prefix).open),
    seen: createSeen(redis, prefix),
    commits: createCommitStore(prefix, ledgerKeys(prefix).open),
    quietCommits: createQuietCommits(redis, prefix, ledgerKeys(prefix).open),
    quarantine: createQuarantine(redis, prefix, now),
    ledger: createLedger(redis, prefix, now),
    alertIndex: createAlertIndex(redis, prefix, now),
    outlines: createOutlines(redis, prefix),
    corrections: createCorrections(redis, prefix, now),
    operatorLog: createOperatorLog(redis, prefix, now),
    dead: createDeadLetters(redis, prefix, limits?.dead),
    destinationStats,
    disabled: createDisabled(redis, prefix),
    mutes: createMuteStore(redis, prefix, now),
    held: createApprovalStore(redis, prefix, now, limits?.held),
    rateLimiter: createRateLimiter({ store: createRateStateStore(redis, prefix), now }),
    circuits: createCircuits(redis, prefix, now),
    batches: createBatchStore(redis, prefix),
    blindness: createBlindnessStore(redis, prefix),
    silent: createBlindnessStore(redis, prefix, 'silent'),
    habits: createHabitStore(redis, prefix),
    names: createNameStore(redis, prefix, now),
    outageStore: createOutageStore(redis, prefix),
    acknowledgements,
    escalations: createEscalations(redis, prefix, acknowledgements, now),
    addressChanges: createAddressChanges(redis, prefix),
    coveredDeliveries: createCoveredDeliveries(redis, prefix, now),
    firstSeen: createFirstSeen(redis, prefix, now),
    rechecks: createRecheckStore(redis, prefix),
    storms: createStorms(redis, prefix, now),
    tripwire: createTripwireStore(redis, prefix, now),
    daemonReports: createDaemonReports(redis, prefix, now),
    watchdog: createWatchdogStore(redis, prefix),
    close: async () => {
      await Promise.all([writeStatistics(), queues.close(), schedule.close(), deadlines.close()]);
    },
  };
};
