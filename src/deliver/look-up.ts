/** Stage: asks Redis for all that the next stages need, in one round trip: each one delays the alert. */
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { AddressChanges } from './address-changes.ts';
import type { Disabled } from './disabled.ts';
import type { DestinationHealth } from './health.ts';
import { type LastTryDependencies, unlessLastTry } from './pause.ts';
import { isFresh, type JobStage } from './stage.ts';

export interface LookUpDependencies extends LastTryDependencies {
  /** Left out: a receiver of this kind cannot disable its destination. */
  disabled?: Pick<Disabled, 'find'>;
  addressChanges: Pick<AddressChanges, 'follow'>;
  health: Pick<DestinationHealth, 'pausedUntil'>;
  /** A kind that people read. Left out: every job waits by itself. */
  batching?: { batches: Pick<BatchStore, 'hasOpenBatch'> };
  ledger: Pick<Ledger, 'pending'>;
}

export const lookUp: JobStage<LookUpDependencies> = async (run, dependencies) => {
  const { disabled, addressChanges, health, batching, ledger } = dependencies;
  const { job } = run;
  const [found, destination, pausedUntil, hasOpenBatch, alerts] = await Promise.all([
    disabled?.find(job.destination.id),
    addressChanges.follow(job.destination),
    unlessLastTry(job, dependencies, health.pausedUntil),
    batching && isFresh(job) ? batching.batches.hasOpenBatch(job.destination) : false,
    // A batch grows until its send slot comes: `batch` asks then.
    job.gathering === undefined ? ledger.pending(job.destination, job.alerts) : [],
  ]);
  run.disabled = found;
  run.job = { ...job, destination };
  run.pausedUntil = pausedUntil;
  run.hasOpenBatch = hasOpenBatch;
  run.alerts = alerts;
  return undefined;
};
