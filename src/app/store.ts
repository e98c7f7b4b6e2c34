/** Everything that is kept in Redis; how a daemon opens it, and the state file beside it. */

import { join } from 'node:path';
import type { Logger } from 'pino';
import { CHANNEL_KINDS } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import { createAddressChanges, createDisabled } from '../deliver/destinations.ts';
import { createCircuits } from '../deliver/health.ts';
import { createRateLimiter, createRateStateStore } from '../deliver/rate-limiter.ts';
import { UsageError } from '../errors.ts';
import { createAcknowledgementStore, createEscalations } from '../features/acknowledgement/store.ts';
import { createApprovalStore, type HoldBounds } from '../features/approval/store.ts';
import { createDaemonReports } from '../features/conditions/daemons.ts';
import { createKnownRemarks } from '../features/conditions/known.ts';
import { createOutageStore } from '../features/conditions/outages.ts';
import { createAnnouncedStore } from '../features/conditions/store.ts';
import { createCoveredDeliveries } from '../features/correlation/correlate.ts';
import { createFirstSeen } from '../features/enrichment/first-seen.ts';
import { createMuteStore } from '../features/mutes/store.ts';
import { createNameStore } from '../features/names/names.ts';
import { createEndedSessions } from '../features/page/ended-sessions.ts';
import { createRecheckStore } from '../features/recheck/store.ts';
import { createHabitStore } from '../features/silence/probe.ts';
import { createConfigRecord } from '../features/standby/standing.ts';
import { createStorms } from '../features/storms/storms.ts';
import { createTripwireStore } from '../features/tripwire/store.ts';
import { createCorrections } from '../ledger/corrections.ts';
import { createDeadLetters } from '../ledger/dead-letters.ts';
import { createDestinationStats } from '../ledger/destination-stats.ts';
import { createAlertIndex, createOutlines } from '../ledger/index-by-date.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createOperatorLog } from '../ledger/operator-log.ts';
import { ledgerKeys } from '../ledger/record.ts';
import type { Conditions } from '../ops/conditions.ts';
import { createFailureLog } from '../ops/failure-log.ts';
import { createCommitStore } from '../poll/commit-store.ts';
import { createCursorSnapshots, createCursors } from '../poll/cursor.ts';
import { createMirror } from '../poll/mirror.ts';
import { createQuarantine, createSeen } from '../poll/seen.ts';
import { createSkipped } from '../poll/skipped.ts';
import { makePrivateDirectory } from '../private-file.ts';
import { createBatchStore } from '../queue/batch-store.ts';
import { createDeadlines, DEADLINES_QUEUE } from '../queue/deadlines.ts';
import { createParcelQueues } from '../queue/queues.ts';
import { createJobScan, createLeftJobs } from '../queue/scan.ts';
import { type QueueSettings, queueName } from '../queue/settings.ts';
import { createAbandonedJobs, createOverlongWaits } from '../queue/stuck-jobs.ts';
import { checkRedis } from '../redis/check.ts';
import type { RedisClient } from '../redis/connect.ts';
import { createLocks } from '../redis/lock.ts';
import type { Lifecycle } from './lifecycle.ts';
import { type OpenRedis, openOwnRedis } from './redis.ts';

interface StoreSettings {
  redis: RedisClient;
  /** With its hash tag, see `keyPrefix`. */
  prefix: string;
  onError(queue: string, error: Error): void;
  /** Hears of each job. Default: nobody does. */
  telemetry?: QueueSettings['telemetry'];
  /** How many dead letters are kept, and how much is held for approval. Default: the parts' own. */
  limits?: { dead: number; held: HoldBounds };
  now(): number;
}

export type Store = ReturnType<typeof createStore>;

export const createStore = ({ redis, prefix, onError, telemetry, limits, now }: StoreSettings) => {
  const queues = createParcelQueues({ redis, prefix, onError, ...(telemetry && { telemetry }) });
  const destinationStats = createDestinationStats(redis, prefix);
  /** Without Redis it would wait for ever. */
  const writeStatistics = async (): Promise<void> => {
    if (redis.status === 'ready') await destinationStats.written();
  };
  const deadlines = createDeadlines({ redis, prefix, onError });
  const acknowledgements = createAcknowledgementStore(redis, prefix, now);
  return {
    redis,
    prefix,
    queues,
    jobScan: createJobScan(redis, prefix),
    leftJobs: createLeftJobs(redis, prefix),
    abandonedJobs: createAbandonedJobs(redis, prefix),
    deadlines,
    shortenWaits: createOverlongWaits({
      redis,
      prefix,
      queues: [...CHANNEL_KINDS.map(queueName), DEADLINES_QUEUE],
      now: () => Date.now(),
      monotonic: () => performance.now(),
    }),
    locks: createLocks(redis, prefix),
    cursors: createCursors(redis, prefix),
    cursorSnapshots: createCursorSnapshots(redis, prefix, ledgerKeys(prefix).open),
    seen: createSeen(redis, prefix),
    commits: createCommitStore(redis, prefix, ledgerKeys(prefix).open),
    quarantine: createQuarantine(redis, prefix, now),
    skipped: createSkipped(redis, prefix, now),
    ledger: createLedger(redis, prefix, now),
    alertIndex: createAlertIndex(redis, prefix, now),
    outlines: createOutlines(redis, prefix),
    corrections: createCorrections(redis, prefix, now),
    operatorLog: createOperatorLog(redis, prefix, now),
    dead: createDeadLetters(redis, prefix, limits?.dead),
    destinationStats,
    disabled: createDisabled(redis, prefix),
    mutes: createMuteStore(redis, prefix, now),
    knownRemarks: createKnownRemarks(redis, prefix, now),
    held: createApprovalStore(redis, prefix, now, limits?.held),
    rateLimiter: createRateLimiter({ store: createRateStateStore(redis, prefix), now }),
    circuits: createCircuits(redis, prefix, now),
    batches: createBatchStore(redis, prefix),
    announced: createAnnouncedStore(redis, prefix, now),
    habits: createHabitStore(redis, prefix),
    names: createNameStore(redis, prefix, now),
    outageStore: createOutageStore(redis, prefix, now),
    acknowledgements,
    escalations: createEscalations(redis, prefix, acknowledgements, now),
    addressChanges: createAddressChanges(redis, prefix),
    coveredDeliveries: createCoveredDeliveries(redis, prefix, now),
    firstSeen: createFirstSeen(redis, prefix, now),
    rechecks: createRecheckStore(redis, prefix),
    storms: createStorms(redis, prefix, now),
    tripwire: createTripwireStore(redis, prefix, now),
    configRecord: createConfigRecord(redis, prefix),
    endedSessions: createEndedSessions(redis, prefix, now),
    daemonReports: createDaemonReports(redis, prefix, now),
    close: async () => {
      await Promise.all([writeStatistics(), queues.close(), deadlines.close()]);
    },
  };
};

interface OpenStoreDependencies extends Pick<StoreSettings, 'telemetry' | 'limits' | 'now'> {
  config: Config;
  log: Logger;
  lifecycle: Pick<Lifecycle, 'onStop'>;
  stopping: AbortSignal;
  /** That a private Redis is silent. */
  conditions: Pick<Conditions, 'report' | 'over'>;
  /** Called with the reason when Redis is gone for good. */
  fail(reason: string): void;
}

/** If the directory is unusable, the embedded Redis reports it. With another Redis the daemon runs without a state file. */
const closeDataDir = async ({ dataDir }: Config, log: Logger): Promise<void> => {
  const isClosed = await makePrivateDirectory(dataDir).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    log.warn({ err: error, dataDir }, 'the data directory cannot be used');
    return true;
  });
  if (!isClosed) log.warn({ dataDir }, 'other users can write to the data directory, and it cannot be closed to them');
};

/**
 * Logs what is wrong with this Redis. Throws where only the operator can mend it: waiting would look like a daemon that
 * works. False where it did not answer.
 */
const review = async ({ redis, address, prefix }: OpenRedis, log: Logger): Promise<boolean> => {
  const findings = await checkRedis(redis, { address, prefix });
  for (const { name, message } of findings) {
    if (name === 'refused' || name === 'forbidden') throw new UsageError(message);
    log.warn({ finding: name }, message);
  }
  return !findings.some(({ name }) => name === 'unreachable');
};

/** Opens a daemon's Redis, everything that is kept in it, and the state file beside it. */
export const openStore = async (dependencies: OpenStoreDependencies) => {
  const { config, log, lifecycle, stopping, fail, conditions, ...settings } = dependencies;
  await closeDataDir(config, log);
  const opened = await openOwnRedis(config, { log, signal: stopping, conditions });
  const { redis, prefix, lost, close } = opened;
  lifecycle.onStop('redis', close);
  void lost.then((end) => fail(end.reason === 'lost' ? end.message : 'the embedded Redis has ended'));
  const hasAnswered = await review(opened, log);
  const failureLog = createFailureLog(log, settings.now);
  const onError = (queue: string, error: Error): void => failureLog.failed('queue', queue, error);
  const store = createStore({ redis, prefix, onError, ...settings });
  lifecycle.onStop('queues', store.close);
  const mirror = createMirror(join(config.dataDir, 'state.json'));
  const unusable = await mirror.load();
  if (unusable !== undefined) log.error({ reason: unusable }, 'the state file cannot be used; going on without it');
  return {
    store,
    mirror,
    /** Waits for a Redis that was away. Throws where it does not let us work. */
    demandRedis: async (): Promise<void> => {
      if (hasAnswered) return;
      await redis.ping().catch(() => {});
      await review(opened, log);
    },
  };
};
