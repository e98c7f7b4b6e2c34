/** What a daemon tidies up: dead letters that are too old, and what waits for channel kinds that no config sets up any more. */
import type { Logger } from 'pino';
import type { ChannelKind } from '../../alert.ts';
import type { UnsentDependencies } from '../../deliver/attempt-stages.ts';
import { endUnsent } from '../../deliver/job-stages.ts';
import { type DeadLetters, MOST_DEAD } from '../../ledger/dead-letters.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { BatchStore } from '../../queue/batch-store.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import type { LeftJob, LeftJobs } from '../../queue/scan.ts';
import { type Locks, underLock } from '../../redis/lock.ts';

/** Keeps the dead letters within their bound, and says what goes: one command while there are few. `most`: what `dead` keeps. */
export const createDeadLetterBound =
  (
    dead: Pick<DeadLetters, 'trim'>,
    metrics: Pick<Metrics, 'deadRemoved'>,
    log: Pick<Logger, 'error'>,
    most = MOST_DEAD,
  ) =>
  async (): Promise<void> => {
    const removed = await dead.trim();
    if (removed === 0) return;
    metrics.deadRemoved.inc(removed);
    log.error({ removedLetters: removed, most }, 'too many dead deliveries; the oldest were removed');
  };

interface LeftKindsDependencies extends UnsentDependencies {
  /** Those that the config does not set up. */
  kinds: readonly ChannelKind[];
  queues: Pick<ParcelQueues, 'waitingFor' | 'workers' | 'remove'>;
  leftJobs: LeftJobs;
  batches: Pick<BatchStore, 'seal' | 'drop'>;
  locks: Pick<Locks, 'take'>;
  log: Pick<Logger, 'warn'>;
}

/** As long as a delivery is retried by default; the kind's own `retry.maxAge` is gone with it. */
const LEFT_FOR_MS = 24 * 3_600_000;
/** A daemon that has the kind may only be restarting. */
const IDLE_FOR_MS = 3_600_000;
const REASON = 'unconfigured';

/**
 * Ends the jobs of channel kinds that left the config: no worker takes them, and their deliveries would wait for ever.
 * While another daemon works on such a kind, it is left alone.
 */
export const createLeftKinds = (dependencies: LeftKindsDependencies) => {
  const { kinds, queues, leftJobs, batches, locks, ledger, log, now } = dependencies;
  /** Since when jobs wait that nobody works on, as far as this daemon saw it. */
  const idleSince = new Map<ChannelKind, number>();

  const isIdle = async (kind: ChannelKind): Promise<boolean> => {
    if ((await queues.waitingFor(kind)) === 0 || (await queues.workers(kind)) > 0) {
      idleSince.delete(kind);
      return false;
    }
    const since = idleSince.get(kind);
    if (since === undefined) idleSince.set(kind, now());
    return since !== undefined && now() - since >= IDLE_FOR_MS;
  };

  /** Gives how many deliveries it ended. It removes the job last, so that after a crash it runs again and adds nothing. */
  const endJob = async (kind: ChannelKind, { id, job }: LeftJob): Promise<number> => {
    const { destination, attempt, batchNumber } = job;
    const own = batchNumber === undefined ? job.alerts : await batches.seal(destination, batchNumber);
    const alerts = await ledger.pending(destination, own);
    const message = `the config does not set up ${kind} any more, and nobody sent it within a day`;
    if (alerts.length > 0) await endUnsent({ destination, alerts, attempt, reason: REASON, message }, dependencies);
    if ((await queues.remove(kind, id)) && batchNumber !== undefined) await batches.drop(destination, batchNumber);
    return alerts.length;
  };

  const endKind = async (kind: ChannelKind): Promise<void> => {
    let dead = 0;
    for await (const left of leftJobs.before(kind, now() - LEFT_FOR_MS)) dead += await endJob(kind, left);
    if (dead > 0) log.warn({ kind, dead }, 'deliveries of a channel kind that the config does not set up are dead');
  };

  return async (): Promise<void> => {
    for (const kind of kinds) if (await isIdle(kind)) await underLock(locks, [`left:${kind}`], () => endKind(kind));
  };
};
