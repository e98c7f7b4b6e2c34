/**
 * Stage: a fresh job joins the open batch of its destination, if there is one. The batch's own job waits for its send slot;
 * then it seals the batch and goes on with the alerts in it.
 */
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { SendSlots } from './send-slot.ts';
import { DONE, type JobStage, rerun } from './stage.ts';

export interface JoinBatchDependencies {
  batches: Pick<BatchStore, 'add'>;
  /** Queues the job that sends the batch of this number; the same however often. */
  enqueueBatch(destination: Destination, number: number, alerts: readonly Alert[]): Promise<void>;
}

export interface BatchDependencies {
  /** A kind that people read. Left out: every job waits by itself. */
  batching?: JoinBatchDependencies & { batches: Pick<BatchStore, 'seal' | 'drop'> };
  sendSlots: Pick<SendSlots, 'reserve'>;
  ledger: Pick<Ledger, 'pending'>;
}

/** Adds alerts to the open batch of a destination, or opens one; the batch's own job sends them. */
export const joinBatch = async (
  destination: Destination,
  alerts: readonly Alert[],
  { batches, enqueueBatch }: JoinBatchDependencies,
): Promise<Verdict> => {
  if (alerts.length === 0) return DONE;
  for (const number of await batches.add(destination, alerts)) await enqueueBatch(destination, number, alerts);
  return DONE;
};

export const batch: JobStage<BatchDependencies> = async (run, { batching, sendSlots, ledger }) => {
  const { job, alerts, hasOpenBatch } = run;
  if (batching === undefined) return undefined;
  if (hasOpenBatch) return joinBatch(job.destination, alerts, batching);
  if (job.gathering === undefined) return undefined;
  const slot = await sendSlots.reserve(job);
  if (!slot.isNow) return rerun(slot.runAt, slot.data);
  run.job = slot.data;
  run.alerts = await ledger.pending(job.destination, await batching.batches.seal(job.destination, job.gathering));
  return undefined;
};

/** Once every delivery of a job's batch has ended. */
export const dropBatch = async (
  { destination, gathering }: ParcelJob,
  { batching }: Pick<BatchDependencies, 'batching'>,
): Promise<void> => {
  if (gathering !== undefined) await batching?.batches.drop(destination, gathering);
};
