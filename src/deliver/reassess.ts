/**
 * Stage: a follow-up was sent below a message; now the message itself says the new assessment, in its title. Each change has
 * a send slot of its own. The follow-up is what counts: where the message cannot be changed, it stays as it was.
 */
import type { Message } from '../channels/channel.ts';
import type { ParcelJob, Reassessed } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import { decide, transmit } from './attempt-stages.ts';
import { composeAgain, withoutButtons } from './compose.ts';
import { tryAgain } from './job-stages.ts';
import {
  type AttemptRun,
  beginAttempt,
  type DeliverDependencies,
  DONE,
  type JobRun,
  type JobStage,
  type MessageRun,
  rerun,
  runStages,
  withoutSlot,
} from './stage.ts';
import { ASK_AGAIN_MS } from './threads.ts';

/** More at once have come as a digest. */
const MOST = 5;

/** The title is worth some minutes of tries. */
const TRIES = 5;

/** Notes that a follow-up was sent below the message that it changes. */
export const noteReassessed = ({ run, message: { alerts } }: MessageRun): void => {
  const { reassessed = [] } = run.job;
  const changes = alerts.flatMap(({ followUp, txHash }) => (followUp && txHash ? [{ ...followUp, txHash }] : []));
  if (changes.length > 0) run.job = { ...run.job, reassessed: [...reassessed, ...changes].slice(0, MOST) };
};

/** What is left of a job when everything in it was sent. */
export const reassessedJob = ({ v, destination, fairnessKey, reassessed }: ParcelJob): ParcelJob | undefined =>
  reassessed && { v, destination, fairnessKey, reassessed, alerts: [], attempt: 0, format: 'rich' };

/** The job with the changes after this one. */
const withoutFirst = (job: ParcelJob): ParcelJob | undefined => {
  const [, ...others] = job.reassessed ?? [];
  return others.length === 0 ? undefined : reassessedJob({ ...job, reassessed: others });
};

const goOn = (job: ParcelJob, { now }: DeliverDependencies): Verdict => {
  const left = withoutFirst(job);
  return left ? rerun(now(), left) : DONE;
};

/** Nothing is recorded: all of its alerts are delivered. */
const attempt = async (
  { job, signal }: JobRun,
  message: Message,
  amends: string,
  dependencies: DeliverDependencies,
): Promise<AttemptRun> => {
  const firstTriedAt = job.firstTriedAt ?? dependencies.now();
  const run = beginAttempt({ message, amends, attempt: job.attempt + 1, firstTriedAt, canBePlainer: false, signal });
  await runStages([transmit, decide], run, dependencies);
  return run;
};

/** In its slot, which is used up in any case. */
const change = async (run: JobRun, next: Reassessed, dependencies: DeliverDependencies): Promise<Verdict> => {
  const { threads, withButtons = withoutButtons, onUnchanged = () => {}, now } = dependencies;
  const { job } = run;
  // It may have grown until it was claimed.
  const earlier = await threads?.reassess(job.destination, next);
  const plain =
    earlier && (await composeAgain(dependencies, { ...job, alerts: earlier.alerts }, 'rich', earlier.sentAt ?? now()));
  if (!earlier || !plain) return goOn(job, dependencies);
  const { message, sent } = await withButtons(plain, earlier.alerts, true);
  const { decision, error } = await attempt(run, message, earlier.handle, dependencies);
  if (decision.kind === 'stopping') return rerun(now(), job);
  if (decision.kind === 'delivered') {
    await sent(earlier.handle);
    await threads?.noteReassessed(job.destination, next);
  }
  if (decision.kind !== 'retry' || job.attempt + 1 >= TRIES) {
    if (error) onUnchanged(job.destination, next, error.message);
    return goOn(job, dependencies);
  }
  return tryAgain({ ...job, firstTriedAt: job.firstTriedAt ?? now() }, decision, dependencies);
};

/** It waits for its slot since an earlier run, which has found the message. */
const hasAsked = ({ slot, ticket }: ParcelJob): boolean => slot !== undefined || ticket !== undefined;

/** Jobs without alerts: what a follow-up left to do. It waits for a send slot before it recalls and composes anything. */
export const reassess: JobStage = async (run, dependencies) => {
  const { job, alerts } = run;
  const [next] = job.reassessed ?? [];
  if (next === undefined || alerts.length > 0 || job.batchNumber !== undefined) return undefined;
  const { threads, sendSlots, now } = dependencies;
  const recall = () => threads?.reassess(job.destination, next);
  // A message that nobody remembers takes no slot from others.
  const known = hasAsked(job) ? undefined : await recall();
  if (!threads || !(hasAsked(job) || known)) return goOn(job, dependencies);
  const slot = await sendSlots.reserve(job);
  if (!slot.isNow) return rerun(slot.runAt, slot.data);
  const earlier = known ?? (await recall());
  if (!earlier) return goOn(job, dependencies);
  const claim = await threads.claim(job.destination, earlier.alerts);
  if (claim === 'taken') return rerun(now() + ASK_AGAIN_MS, slot.data);
  try {
    return await change({ ...run, job: withoutSlot(slot.data) }, next, dependencies);
  } finally {
    await claim?.();
  }
};
