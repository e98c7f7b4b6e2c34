/** Stage: everything that is asked before anything is composed, in one go: each trip to Redis makes an alert later. */
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { AddressChanges } from './address-changes.ts';
import type { DestinationHealth } from './health.ts';
import { type LastTryDependencies, unlessLastTry } from './pause.ts';
import { isFresh, type JobStage } from './stage.ts';

export interface LookUpDependencies extends LastTryDependencies {
  addressChanges: Pick<AddressChanges, 'follow'>;
  health: Pick<DestinationHealth, 'pausedUntil'>;
  /** A kind that people read. Left out: every job waits by itself. */
  batching?: { batches: Pick<BatchStore, 'hasOpenBatch'> };
  ledger: Pick<Ledger, 'pending'>;
}

export const lookUp: JobStage<LookUpDependencies> = async (run, dependencies) => {
  const { addressChanges, health, batching, ledger } = dependencies;
  const { job } = run;
  const [destination, pausedUntil, hasOpenBatch, alerts] = await Promise.all([
    addressChanges.follow(job.destination),
    unlessLastTry(job, dependencies, health.pausedUntil),
    batching && isFresh(job) ? batching.batches.hasOpenBatch(job.destination) : false,
    // Until its send slot comes a batch takes in more.
    job.gathering === undefined ? ledger.pending(job.destination, job.alerts) : [],
  ]);
  run.job = { ...job, destination };
  run.pausedUntil = pausedUntil;
  run.hasOpenBatch = hasOpenBatch;
  run.alerts = alerts;
  return undefined;
};
