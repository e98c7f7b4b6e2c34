/** Stages of a job before anything is composed: what is known of its alerts, and whether they wait, alone or in a batch. */

import { type Alert, type Destination, isPlayedDown, isSample } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { AddressChanges, Disabled } from './destinations.ts';
import type { DestinationHealth } from './health.ts';
import type { SendSlots } from './send-slot.ts';
import { DONE, isFresh, type JobRun, type JobStage, rerun } from './stage.ts';

// Stage: asks Redis for all that the next stages need, in one round trip: each one delays the alert.

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

// Stage: leaves out alerts that another alert covers by now, in jobs that waited for that (`unlessTold`).

export interface CorrelateDependencies {
  /** Those of `alerts` that no other alert covers there; the others are recorded as delivered. Default: all. */
  uncovered?(destination: Destination, alerts: readonly Alert[]): Promise<readonly Alert[]>;
}

export const uncoveredOf = async (
  { destination, unlessTold }: ParcelJob,
  alerts: readonly Alert[],
  { uncovered }: CorrelateDependencies,
): Promise<readonly Alert[]> => (unlessTold && uncovered ? uncovered(destination, alerts) : alerts);

export const correlate: JobStage<CorrelateDependencies> = async (run, dependencies) => {
  run.alerts = await uncoveredOf(run.job, run.alerts, dependencies);
  return undefined;
};

// Stage: while a circuit is open, a fresh job joins the batch of its destination, and any other waits by itself.

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

// Stage: a fresh job joins the open batch of its destination, if there is one, or opens one where the kind waits for more.
// The batch's own job waits for its send slot; then it seals the batch and goes on with the alerts in it.

interface JoinBatchDependencies {
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

// Stage: a follow-up that plays an alert down waits while that alert is still on its way to the same destination, as after
// a refusal. Else the alert would come last: people would read CRITICAL, and a tool for people on call would stay alarmed.

export interface InOrderDependencies {
  /** Those of these alert ids that still have to be sent there. Default: none. */
  waiting?(destination: Destination, ids: readonly string[]): Promise<readonly string[]>;
  /** Of an alert's tries, in milliseconds. */
  maxAgeMs: number;
  now(): number;
}

/** The first wait; each further one is twice as long. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/** As often as it takes to get to the longest wait. */
const GROWING = Math.log2(LONGEST_WAIT_MS / FIRST_WAIT_MS);

const waitMsAfter = (waits: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);

/** Without the first, short ones. */
const waitedMs = (waits: number): number => Math.max(0, waits - Math.ceil(GROWING)) * LONGEST_WAIT_MS;

const followed = (alert: Alert): string[] => (alert.followUp && isPlayedDown(alert) ? [alert.followUp.of] : []);

/**
 * Only a job of follow-ups alone waits: in a batch the digest shows both. The wait ends with the alert's delivery, at the
 * latest after `retry.maxAge`: an alert that is held, or whose job was lost, is tried by nobody. Until then it costs one
 * short run a minute, and nothing has to be remembered and woken for it.
 */
export const inOrder: JobStage<InOrderDependencies> = async ({ job, alerts }, { waiting, maxAgeMs, now }) => {
  const { waits = 0, gathering, destination } = job;
  if (waiting === undefined || gathering !== undefined || alerts.length === 0) return undefined;
  const firsts = alerts.flatMap(followed);
  if (firsts.length < alerts.length || waitedMs(waits) >= maxAgeMs) return undefined;
  const left = await waiting(destination, firsts);
  return left.length === 0 ? undefined : rerun(now() + waitMsAfter(waits), { ...job, waits: waits + 1 });
};
