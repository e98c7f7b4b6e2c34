/**
 * Stage: what is left to do at messages when everything in a job is sent. Below a message that has grown, one reply with a
 * sound says what is new in it. A message above a follow-up says the new assessment, in its title. Each has a send slot of
 * its own, and nothing is recorded: all of the alerts are delivered.
 */
import type { Message } from '../channels/channel.ts';
import type { Afterwards, ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import { decide, transmit } from './attempt-stages.ts';
import { composeAgain, plainer, withoutButtons } from './compose.ts';
import { tryAgain } from './job-stages.ts';
import { follow } from './message-stages.ts';
import {
  type AttemptRun,
  beginAttempt,
  type DeliverDependencies,
  DONE,
  type JobRun,
  type JobStage,
  rerun,
  runStages,
  withoutSlot,
} from './stage.ts';
import type { Earlier } from './thread-store.ts';
import { ASK_AGAIN_MS, type Threads } from './threads.ts';

/** More at once have come as a digest. */
const MOST_CHANGES = 5;

/** A title is worth some minutes of tries; a reply as many as an alert. */
const TRIES = 5;

const jobOf = ({ v, destination, fairnessKey }: ParcelJob, afterwards: readonly Afterwards[]): ParcelJob => ({
  ...{ v, destination, fairnessKey, alerts: [], attempt: 0, format: 'rich' },
  afterwards: [...afterwards],
});

/**
 * The end of a job, or what is left of it. It is asked of the messages, not carried along: a daemon that was killed before
 * it came here leaves a job whose alerts are delivered, and that job's next run finds the same.
 */
export const finish = async (
  { job, shown }: JobRun,
  { threads, canAmend, now }: DeliverDependencies,
): Promise<Verdict> => {
  if (!threads || !canAmend || shown.length === 0) return DONE;
  const changes = shown.flatMap(({ followUp, txHash }) => (followUp && txHash ? [{ ...followUp, txHash }] : []));
  const replies = (await threads.owed(job.destination, shown)).map((txHash) => ({ txHash }));
  const left = [...replies, ...changes.slice(0, MOST_CHANGES)];
  return left.length === 0 ? DONE : rerun(now(), jobOf(job, left));
};

/** The job with what comes after the first. */
const goOn = (job: ParcelJob, { now }: DeliverDependencies): Verdict => {
  const others = job.afterwards?.slice(1) ?? [];
  return others.length === 0 ? DONE : rerun(now(), jobOf(job, others));
};

/** What is to be done, as the message is now. */
interface Plan {
  earlier: Earlier;
  /** Epoch milliseconds. */
  dueAt: number;
  /** Undefined where it cannot be composed. */
  compose(): Promise<{ message: Message; sent(handle: string): Promise<void> } | undefined>;
  /** Where it takes the place of the message. */
  amends?: string;
  note(): Promise<void>;
  /** Undefined: the same as it was. */
  plainer?: ParcelJob['format'] | undefined;
  tries: number;
}

const planChange = async (
  job: ParcelJob,
  change: Extract<Afterwards, { of: string }>,
  threads: Threads,
  dependencies: DeliverDependencies,
): Promise<Plan | undefined> => {
  const { withButtons = withoutButtons, now } = dependencies;
  const earlier = await threads.reassess(job.destination, change);
  if (earlier === undefined) return undefined;
  const { handle, alerts, sentAt, grew } = earlier;
  return {
    ...{ earlier, dueAt: now(), amends: handle, tries: TRIES },
    compose: async () => {
      const parcel = { destination: job.destination, alerts };
      const message = await composeAgain(dependencies, parcel, 'rich', sentAt, grew && { grew });
      return message && (await withButtons(message, alerts, true));
    },
    note: () => threads.noteReassessed(job.destination, change),
  };
};

const planReply = async (
  job: ParcelJob,
  txHash: string,
  threads: Threads,
  dependencies: DeliverDependencies,
): Promise<Plan | undefined> => {
  const { destination, format } = job;
  const owed = await threads.reply(destination, txHash);
  if (owed === undefined) return undefined;
  const { handle, alerts, heard } = owed.message;
  const compose = (some: typeof alerts, more = {}) =>
    composeAgain(dependencies, { destination, alerts: some }, format, dependencies.now(), more);
  return {
    ...{ earlier: owed.message, dueAt: owed.dueAt, plainer: plainer(format), tries: Number.POSITIVE_INFINITY },
    compose: async () => {
      const news = alerts.slice(heard);
      const message = (await compose(alerts, { heard })) ?? (await compose(news));
      return message && withoutButtons({ ...message, alerts: news, replyTo: handle }, news, false);
    },
    note: () => threads.noteReply(destination, txHash, owed.message),
  };
};

const planOf = async (
  job: ParcelJob,
  next: Afterwards,
  dependencies: DeliverDependencies,
): Promise<Plan | undefined> => {
  const { threads } = dependencies;
  if (threads === undefined) return undefined;
  return 'of' in next
    ? planChange(job, next, threads, dependencies)
    : planReply(job, next.txHash, threads, dependencies);
};

const attempt = async (
  { job, signal }: JobRun,
  message: Message,
  { amends, plainer: next }: Plan,
  dependencies: DeliverDependencies,
): Promise<AttemptRun> => {
  const firstTriedAt = job.firstTriedAt ?? dependencies.now();
  const input = { message, attempt: job.attempt + 1, firstTriedAt, canBePlainer: next !== undefined, signal };
  const run = beginAttempt(amends === undefined ? input : { ...input, amends });
  await runStages([transmit, decide], run, dependencies);
  return run;
};

/** In its slot, which is used up in any case. */
const carryOut = async (run: JobRun, next: Afterwards, dependencies: DeliverDependencies): Promise<Verdict> => {
  const { onAfterwards = () => {}, now } = dependencies;
  const job = { ...run.job, firstTriedAt: run.job.firstTriedAt ?? now() };
  // It may have grown until it was claimed, or somebody has replied.
  const plan = await planOf(job, next, dependencies);
  if (plan === undefined) return goOn(job, dependencies);
  if (plan.dueAt > now()) return rerun(plan.dueAt, job);
  const composed = await plan.compose();
  if (composed === undefined) return goOn(job, dependencies);
  const { decision, error } = await attempt({ ...run, job }, composed.message, plan, dependencies);
  switch (decision.kind) {
    case 'stopping':
      return rerun(now(), job);
    case 'delivered':
      await composed.sent(plan.earlier.handle);
      await plan.note();
      onAfterwards(job.destination, next);
      return goOn(job, dependencies);
    case 'readdress':
      return follow({ job }, decision.address, dependencies);
    case 'plainer':
      if (plan.plainer !== undefined) return rerun(now(), { ...job, format: plan.plainer });
      break;
    case 'retry':
      if (job.attempt + 1 < plan.tries) {
        return tryAgain({ ...job, unknownSince: decision.unknownSince }, decision, dependencies);
      }
  }
  if (error) onAfterwards(job.destination, next, error.message);
  return goOn(job, dependencies);
};

/** It waits for its slot since an earlier run, which has found the message. */
const hasAsked = ({ slot, ticket }: ParcelJob): boolean => slot !== undefined || ticket !== undefined;

/** Jobs without alerts. They wait for a send slot before they compose anything. */
export const afterwards: JobStage = async (run, dependencies) => {
  const { job, alerts } = run;
  const [next] = job.afterwards ?? [];
  if (next === undefined || alerts.length > 0 || job.batchNumber !== undefined) return undefined;
  const { threads, sendSlots, now } = dependencies;
  // What nobody remembers takes no slot from others.
  const known = hasAsked(job) ? undefined : await planOf(job, next, dependencies);
  if (!threads || !(hasAsked(job) || known)) return goOn(job, dependencies);
  if (known && known.dueAt > now()) return rerun(known.dueAt, job);
  const slot = await sendSlots.reserve(job);
  if (!slot.isNow) return rerun(slot.runAt, slot.data);
  const { earlier } = known ?? (await planOf(job, next, dependencies)) ?? {};
  if (!earlier) return goOn(job, dependencies);
  const claim = await threads.claim(job.destination, earlier.alerts);
  if (claim === 'taken') return rerun(now() + ASK_AGAIN_MS, slot.data);
  try {
    return await carryOut({ ...run, job: withoutSlot(slot.data) }, next, dependencies);
  } finally {
    await claim?.();
  }
};
