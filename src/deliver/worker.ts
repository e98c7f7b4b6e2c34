/**
 * What a BullMQ worker does with a job: parcel -> channel -> outcome, through the stages below. `app/deliver.ts` starts the
 * workers.
 */
import type { ParcelJob } from '../queue/job.ts';
import type { HoldsLock } from '../queue/job-locks.ts';
import type { ProcessParcel } from '../queue/parcel-worker.ts';
import { afterwards, finish } from './afterwards.ts';
import { decide, record, report, transmit, updateCircuit } from './attempt-stages.ts';
import { acknowledged, compose } from './compose.ts';
import { batch, correlate, dropBatch, giveUp, inOrder, lookUp, pause, putOff, refuse } from './job-stages.ts';
import { afterRepeat, defer, rest, settle, whenRecorded } from './message-stages.ts';
import { send } from './send.ts';
import {
  type AttemptInput,
  beginAttempt,
  type DeliverDependencies,
  type JobRun,
  type MessageDependencies,
  rerun,
  runStages,
} from './stage.ts';

/** Once for each run of a job. A stage that gives a verdict ends the run. */
const JOB_STAGES = [
  lookUp, // in one round trip: whether it is disabled, new address, circuit, open batch, what is still to be sent
  refuse, // a destination that its receiver disabled: its deliveries die at once
  correlate, // alerts that another alert covers by now are left out
  pause, // an open circuit: the job joins the batch of its destination, or waits
  afterwards, // all is sent: a reply says what is new where a message grew, one above a follow-up the new assessment
  batch, // joins an open batch, also after it was put off; a batch's own job waits for its send slot and seals it
  inOrder, // good news waits for the alert that it is about, where that is still on its way
  acknowledged, // escalations of alerts that somebody has acknowledged end
  putOff, // of a transaction that people have just heard of twice, where messages cannot grow: they wait
  compose, // alerts -> messages, each when its time comes
] as const;

/** Then once for each message of the job. A stage that gives a verdict ends the run. */
const MESSAGE_STAGES = [
  defer, // waits for a send slot, or for the circuit; a fresh job joins the batch instead
  rest, // a digest: the destination rests after it
  send, // while the job is ours: amends the message that it belongs to, or sends it: one or two attempts
  settle, // what becomes of the job: the next message, a retry, a plainer format, a new address
] as const;

/** In `send`, once for each attempt. A stage that gives a result ends the attempt. */
const ATTEMPT_STAGES = [
  transmit, // one request to the channel
  decide, // what becomes of the message, by the answer and the retry policy
  record, // ledger, dead letters, statistics
  updateCircuit, // of the destination and of the sender behind it
  report, // one log line, metrics
] as const;

const newRun = (job: ParcelJob, signal: AbortSignal, holdsLock: HoldsLock): JobRun => ({
  ...{
    job,
    signal,
    holdsLock,
    alerts: [],
    shown: [],
    hasOpenBatch: false,
    units: [],
    uncomposable: [],
    messages: [],
    unrecorded: [],
  },
});

/** The runs of jobs for people, or for programs. */
const createRuns = (dependencies: DeliverDependencies, inFlight: MessageDependencies['inFlight']): ProcessParcel => {
  const attempt = async (input: AttemptInput) => {
    const run = beginAttempt(input);
    return (await runStages(ATTEMPT_STAGES, run, dependencies)) ?? run.decision;
  };
  const messageDependencies = { ...dependencies, attempt, inFlight };

  return async (job, signal, holdsLock = () => true) => {
    const run = newRun(job, signal, holdsLock);
    const end = await runStages(JOB_STAGES, run, dependencies);
    if (end) return end.done ? finish(run, dependencies) : end;
    for await (const message of run.messages) {
      const verdict = await runStages(MESSAGE_STAGES, message, messageDependencies);
      if (!verdict) continue;
      await whenRecorded(run);
      return verdict;
    }
    if (await whenRecorded(run)) return afterRepeat(run.job, dependencies.now());
    await giveUp(run, dependencies);
    if (run.quietUntil !== undefined) return rerun(run.quietUntil, { ...run.job, hasWaited: true });
    await dropBatch(run.job, dependencies);
    return finish(run, dependencies);
  };
};

export const createDeliver = (dependencies: DeliverDependencies): ProcessParcel => {
  const { isForPeople = () => true, batching: _batching, threads: _threads, storms: _storms, ...alone } = dependencies;
  const inFlight = { jobs: 0, unrecorded: 0, most: dependencies.concurrency };
  const forPeople = createRuns(dependencies, inFlight);
  const forPrograms = createRuns(alone, inFlight);

  return async (job, ...others) => {
    inFlight.jobs += 1;
    // A batch that was opened while people read there is still sent.
    const run = job.batchNumber !== undefined || isForPeople(job.destination) ? forPeople : forPrograms;
    return run(job, ...others).finally(() => {
      inFlight.jobs -= 1;
    });
  };
};
