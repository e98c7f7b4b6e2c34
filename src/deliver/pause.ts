/** Stage: while a circuit is open, a fresh job joins the batch of its destination, and any other waits by itself. */
import type { Destination } from '../alert.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import { type JoinBatchDependencies, joinBatch } from './batch.ts';
import { isFresh, type JobStage, rerun } from './stage.ts';

export interface PauseDependencies {
  batching?: JoinBatchDependencies & { batches: Pick<BatchStore, 'seal'> };
  now(): number;
}

export interface LastTryDependencies {
  /** `retry.maxAge`: milliseconds after the first try at which a delivery is given up. */
  maxAgeMs: number;
  now(): number;
}

/** Seal a batch after an hour, so that the age of its oldest alert cannot kill the newer ones. */
const SEAL_AFTER_MS = 3_600_000;

/** Asks until when the destination pauses. A job past its maximum age gets its last try instead: only a try can end it. */
export const unlessLastTry = async (
  { destination, firstTriedAt }: ParcelJob,
  { maxAgeMs, now }: LastTryDependencies,
  ask: (destination: Destination) => Promise<number | undefined>,
): Promise<number | undefined> =>
  firstTriedAt !== undefined && now() - firstTriedAt > maxAgeMs ? undefined : ask(destination);

/** The delivery ages while it waits. */
export const waitUntil = async (
  until: number,
  job: ParcelJob,
  { batching, now }: PauseDependencies,
): Promise<Verdict> => {
  const { firstTriedAt = now(), destination, gathering } = job;
  if (gathering !== undefined && now() - firstTriedAt > SEAL_AFTER_MS) {
    await batching?.batches.seal(destination, gathering);
  }
  return rerun(until, { ...job, firstTriedAt });
};

export const pause: JobStage<PauseDependencies> = async ({ job, alerts, pausedUntil }, dependencies) => {
  if (pausedUntil === undefined) return undefined;
  const { batching } = dependencies;
  return batching && isFresh(job)
    ? joinBatch(job.destination, alerts, batching)
    : waitUntil(pausedUntil, job, dependencies);
};
