/** Stages of a job before anything is composed: what is known of its alerts, and whether they wait, alone or in a batch. */
import { type Alert, type Destination, isPlayedDown, isSample } from '../alert.ts';
import { messageOf } from '../errors.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { Decision } from '../queue/retry.ts';
import { iso } from '../time.ts';
import { type Failure, recordFailure, type UnsentDependencies } from './attempt-stages.ts';
import {
  type Batching,
  type DeliverDependencies,
  DONE,
  isFresh,
  isUntried,
  type JobRun,
  type JobStage,
  rerun,
  withoutSlot,
} from './stage.ts';

/** Asks until when the destination pauses. A job past its maximum age gets its last try instead: only a try can end it. */
export const unlessLastTry = (
  { destination, firstTriedAt }: ParcelJob,
  { maxAgeMs, now }: DeliverDependencies,
  ask: (destination: Destination) => Promise<number | undefined> | undefined,
) => (firstTriedAt !== undefined && now() - firstTriedAt > maxAgeMs ? undefined : ask(destination));

/** `all`: what the job is to deliver. What is not pending any more may have left something to do, where a daemon was killed. */
const setPending = (run: JobRun, all: readonly Alert[], pending: readonly Alert[]): void => {
  const left = new Set(pending.map(({ id }) => id));
  run.alerts = pending;
  run.shown = all.filter(({ id }) => !left.has(id));
};

/** Asks Redis for all that the next stages need, in one round trip: each one delays the alert. */
export const lookUp: JobStage = async (run, dependencies) => {
  const { disabled, addressChanges, health, batching, sendSlots, ledger } = dependencies;
  const { job } = run;
  const [found, destination, pausedUntil, hasOpenBatch, alerts] = await Promise.all([
    disabled?.find(job.destination.id),
    addressChanges.follow(job.destination),
    unlessLastTry(job, dependencies, health.pausedUntil),
    batching && isFresh(job) ? batching.batches.hasOpenBatch(job.destination) : false,
    // A batch grows until its send slot comes: `batch` asks then.
    job.batchNumber === undefined ? ledger.pending(job.destination, job.alerts) : [],
    sendSlots.look(job.destination),
  ]);
  run.disabled = found;
  run.job = { ...job, destination };
  run.pausedUntil = pausedUntil;
  run.hasOpenBatch = hasOpenBatch;
  setPending(run, job.alerts, alerts);
  return undefined;
};

/** What goes to `destination` of `alerts`, where their job waited for other alerts that may cover them. */
export const uncoveredOf = async (
  { destination, unlessCovered }: ParcelJob,
  alerts: readonly Alert[],
  { uncovered }: DeliverDependencies,
): Promise<readonly Alert[]> => (unlessCovered && uncovered ? uncovered(destination, alerts) : alerts);

/** Records and reports deliveries that die without a try like those that died by one. */
export const endUnsent = async (
  { destination, alerts, attempt, reason, message }: Omit<Failure, 'entry'> & { reason: string; message: string },
  dependencies: UnsentDependencies,
): Promise<void> => {
  const at = iso(dependencies.now());
  const outcome = { outcome: 'dead', durationMs: 0, reason, message } as const;
  const dead = await recordFailure({ destination, alerts, attempt, entry: { at, ...outcome } }, dependencies);
  await dependencies.destinationStats.failed(destination, at, message);
  if (dead.length > 0)
    dependencies.onAttempt({ kind: destination.kind, destination, alerts: dead, attempt, isDigest: false, ...outcome });
};

/** Deliveries to a destination that its receiver disabled die at once: nothing that is sent could change it. */
export const refuse: JobStage = async ({ job, alerts, disabled }, dependencies) => {
  if (disabled === undefined) return undefined;
  const { destination, attempt } = job;
  const message = `disabled since ${disabled.at}, when ${disabled.message}; tocsin destinations enable ${destination.id}`;
  if (alerts.length > 0) await endUnsent({ destination, alerts, attempt, reason: 'disabled', message }, dependencies);
  return DONE;
};

/**
 * Ends the alerts that no format could compose, after everything else of their job: a fault of ours, which a repeat would
 * only repeat. As dead letters they wait for a version that can.
 */
export const giveUp = async (
  { job: { destination, attempt }, uncomposable }: Pick<JobRun, 'job' | 'uncomposable'>,
  dependencies: DeliverDependencies,
): Promise<void> => {
  for (const { alerts, error } of uncomposable) {
    const message = `no message could be made of it, not even the plainest: ${dependencies.scrub(messageOf(error))}`;
    await endUnsent({ destination, alerts, attempt, reason: 'uncomposable', message }, dependencies);
  }
};

/** Leaves out alerts that another alert covers by now. */
export const correlate: JobStage = async (run, dependencies) => {
  run.alerts = await uncoveredOf(run.job, run.alerts, dependencies);
  return undefined;
};

/** Adds alerts to the open batch of a destination, or opens one; the batch's own job sends them. */
export const joinBatch = async (
  destination: Destination,
  alerts: readonly Alert[],
  { batches, enqueueBatch, groupWaitMs = 0 }: Batching,
): Promise<Verdict> => {
  if (alerts.length === 0) return DONE;
  for (const number of await batches.add(destination, alerts)) {
    await enqueueBatch(destination, number, alerts, groupWaitMs);
  }
  return DONE;
};

/** Seal a batch after an hour, so that the age of its oldest alert cannot kill the newer ones. */
const SEAL_AFTER_MS = 3_600_000;

/** The job waits until the circuit may be probed; its delivery ages meanwhile. */
export const waitUntil = async (
  until: number,
  job: ParcelJob,
  { batching, now }: DeliverDependencies,
): Promise<Verdict> => {
  const { firstTriedAt = now(), destination, batchNumber } = job;
  if (batchNumber !== undefined && now() - firstTriedAt > SEAL_AFTER_MS) {
    await batching?.batches.seal(destination, batchNumber);
  }
  return rerun(until, { ...job, firstTriedAt });
};

/** While a circuit is open, a fresh job joins the batch of its destination, and any other waits by itself. */
export const pause: JobStage = async ({ job, alerts, pausedUntil }, dependencies) => {
  if (pausedUntil === undefined) return undefined;
  const { batching } = dependencies;
  return batching && isFresh(job)
    ? joinBatch(job.destination, alerts, batching)
    : waitUntil(pausedUntil, job, dependencies);
};

/** More may come that belongs in the same message. A sample does not wait: an operator is watching for it. */
const waitsForMore = ({ job, alerts }: JobRun, { groupWaitMs = 0 }: Batching): boolean =>
  groupWaitMs > 0 && isFresh(job) && !alerts.every(isSample);

/** Jobs that were put off are due at the same moment. They gather for at least this long, to become one message. */
const GATHER_MS = 1000;

/** Durable in the new batch before the old one is dropped. */
const joinOthers = async (
  { job, alerts }: JobRun,
  batching: Batching,
  { ledger }: DeliverDependencies,
): Promise<Verdict> => {
  const { destination, batchNumber } = job;
  const all = batchNumber === undefined ? alerts : await batching.batches.seal(destination, batchNumber);
  const left = await ledger.pending(destination, all);
  await joinBatch(destination, left, { ...batching, groupWaitMs: Math.max(batching.groupWaitMs ?? 0, GATHER_MS) });
  if (batchNumber !== undefined) await batching.batches.drop(destination, batchNumber);
  return DONE;
};

/**
 * A fresh job joins the open batch of its destination, if there is one, or opens one where the kind waits for more. The
 * batch's own job waits for its send slot; then it seals the batch and goes on with the alerts in it.
 */
export const batch: JobStage = async (run, dependencies) => {
  const { batching, sendSlots, isDigest = () => false, ledger } = dependencies;
  const { job, alerts, hasOpenBatch } = run;
  if (batching === undefined) return undefined;
  if (job.hasWaited) return joinOthers(run, batching, dependencies);
  if (hasOpenBatch || waitsForMore(run, batching)) return joinBatch(job.destination, alerts, batching);
  if (job.batchNumber === undefined) return undefined;
  const slot = await sendSlots.reserve(job);
  if (!slot.isNow) return rerun(slot.runAt, slot.data);
  run.job = slot.data;
  const sealed = await batching.batches.seal(job.destination, job.batchNumber);
  // A digest takes a while to compose; no other one may take the next slot of a burst meanwhile.
  run.hasRested = job.attempt === 0 && job.most === undefined && isDigest(sealed);
  if (run.hasRested) await sendSlots.rest(job.destination);
  setPending(run, sealed, await ledger.pending(job.destination, sealed));
  return undefined;
};

/**
 * Alerts wait where a message cannot grow, and people have just heard of their transaction twice; all others go on. Then they
 * join a batch, and are one message. Digests are not put off.
 */
export const putOff: JobStage = async (run, dependencies) => {
  const { threads, batching, canAmend, givesHandle = () => true, isDigest = () => false } = dependencies;
  const { job, alerts } = run;
  if (!threads || !batching || canAmend || !givesHandle(job.destination.address)) return undefined;
  if (!isUntried(withoutSlot(job)) || alerts.length === 0 || isDigest(alerts)) return undefined;
  const { known, quiet } = await threads.recall(job.destination, alerts);
  run.recalled = known;
  if (quiet === undefined) return undefined;
  const waiting = new Set(quiet.alerts);
  run.alerts = alerts.filter((alert) => !waiting.has(alert));
  run.quietUntil = quiet.until;
  return undefined;
};

/** Once every delivery of a job's batch has ended. */
export const dropBatch = async (
  { destination, batchNumber }: ParcelJob,
  { batching }: DeliverDependencies,
): Promise<void> => {
  if (batchNumber !== undefined) await batching?.batches.drop(destination, batchNumber);
};

/** The first wait for an alert that is followed up; each further one is twice as long. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/** How many waits it takes to get to the longest one. */
const GROWING = Math.log2(LONGEST_WAIT_MS / FIRST_WAIT_MS);

const waitMsAfter = (waits: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);

/** How long it has waited, without the first, short waits. */
const waitedMs = (waits: number): number => Math.max(0, waits - Math.ceil(GROWING)) * LONGEST_WAIT_MS;

const followed = (alert: Alert): string[] => {
  const { followUp, type, below } = alert;
  if (type === 'tocsin.alert.acknowledged' && below !== undefined) return [below];
  return followUp && isPlayedDown(alert) ? [followUp.of] : [];
};

/**
 * A follow-up that plays an alert down waits, and so does the news that somebody has acknowledged it, while that alert is still on its way to the same destination, as after a
 * refusal. Else the alert would come last: people would read CRITICAL, and a tool for people on call would stay alarmed.
 *
 * Only a job of follow-ups alone waits, also that of a batch: other alerts are more urgent. The wait ends with the alert's
 * delivery, at the latest after `retry.maxAge`: an alert that is held, or whose job was lost, is tried by nobody. Until
 * then it costs one short run a minute, and nothing has to be remembered and woken for it.
 */
export const inOrder: JobStage = async ({ job, alerts }, { waiting, maxAgeMs, now }) => {
  const { waits = 0, destination } = job;
  if (waiting === undefined || alerts.length === 0) return undefined;
  const firsts = alerts.flatMap(followed);
  if (firsts.length < alerts.length || waitedMs(waits) >= maxAgeMs) return undefined;
  const left = await waiting(destination, firsts);
  return left.length === 0 ? undefined : rerun(now() + waitMsAfter(waits), { ...job, waits: waits + 1 });
};

/** Counts the attempt and tries again. A wait that the provider named holds the destination; after it this job is first. */
export const tryAgain = async (
  { attempt, ...job }: ParcelJob,
  { delayMs, holdMs }: Extract<Decision, { kind: 'retry' }>,
  { sendSlots, now }: DeliverDependencies,
): Promise<Verdict> => {
  const charged = { ...job, attempt: attempt + 1 };
  if (holdMs === 0) return rerun(now() + delayMs, charged);
  const slot = await sendSlots.hold(job.destination, now() + delayMs);
  return rerun(slot.at, { ...charged, slot });
};
