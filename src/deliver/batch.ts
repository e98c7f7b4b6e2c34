/**
 * Stage: a fresh job joins the open batch of its destination, if there is one, or opens one where the kind waits for more.
 * The batch's own job waits for its send slot; then it seals the batch and goes on with the alerts in it.
 */
import { type Alert, type Destination, isSample } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { SendSlots } from './send-slot.ts';
import { DONE, isFresh, type JobRun, type JobStage, rerun } from './stage.ts';

export interface JoinBatchDependencies {
  batches: Pick<BatchStore, 'add'>;
  /** Queues the job that sends the batch of this number, so many milliseconds later; the same however often. */
  enqueueBatch(destination: Destination, number: number, alerts: readonly Alert[], delayMs: number): Promise<void>;
  /** How long a batch waits for more after it is opened, in milliseconds; then every fresh job joins one. Default: not at all. */
  groupWaitMs?: number;
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
  { batches, enqueueBatch, groupWaitMs = 0 }: JoinBatchDependencies,
): Promise<Verdict> => {
  if (alerts.length === 0) return DONE;
  for (const number of await batches.add(destination, alerts)) {
    await enqueueBatch(destination, number, alerts, groupWaitMs);
  }
  return DONE;
};

/** More may come that belongs into the same message. An operator waits for a sample, and nothing belongs to it. */
const waitsForMore = ({ job, alerts }: JobRun, { groupWaitMs = 0 }: JoinBatchDependencies): boolean =>
  groupWaitMs > 0 && isFresh(job) && !alerts.every(isSample);

export const batch: JobStage<BatchDependencies> = async (run, { batching, sendSlots, ledger }) => {
  const { job, alerts, hasOpenBatch } = run;
  if (batching === undefined) return undefined;
  if (hasOpenBatch || waitsForMore(run, batching)) return joinBatch(job.destination, alerts, batching);
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
