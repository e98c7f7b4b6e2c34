/** Stages of a message before and after `send`: it waits for its send slot; then the job goes on, or runs again. */
import type { Message } from '../channels/channel.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import { plainer } from './compose.ts';
import { joinBatch, tryAgain, uncoveredOf, unlessLastTry, waitUntil } from './job-stages.ts';
import {
  type Batching,
  type DeliverDependencies,
  isFresh,
  type JobRun,
  type MessageDependencies,
  type MessageRun,
  type MessageStage,
  rerun,
  withoutSlot,
} from './stage.ts';
import { ASK_AGAIN_MS } from './threads.ts';

/** What is left of the job joins the batch: some of it may have been sent since `lookUp`. */
const joinWithRest = async (
  { job }: MessageRun,
  batching: Batching,
  dependencies: DeliverDependencies,
): Promise<Verdict> => {
  const pending = await dependencies.ledger.pending(job.destination, job.alerts);
  return joinBatch(job.destination, await uncoveredOf(job, pending, dependencies), batching);
};

/** The message is sent now: its slots are used, and only this message goes on after the part that was sent last. */
const begin = (each: MessageRun, now: number): void => {
  const { run, message, unit } = each;
  const before = withoutSlot(run.job);
  // Mostly an earlier message of the run has changed all that.
  if (before === run.job && before.progress === undefined && before.firstTriedAt !== undefined) return;
  const { progress, ...job } = before;
  const isGoingOn = progress?.id === message.id && progress.format === unit.format;
  run.job = { ...job, firstTriedAt: job.firstTriedAt ?? now };
  each.job = { ...run.job, format: each.job.format, ...(isGoingOn ? { progress } : {}) };
};

/** A message waits where the daemon stops, where its send slot has not come, and while a circuit is open. */
export const defer: MessageStage = async (each, dependencies) => {
  const { sendSlots, health, batching, onSlotWait = () => {}, isStopping = () => false, now } = dependencies;
  const { job, run } = each;
  if (isStopping()) return rerun(now(), job);
  // A refused message must not join a batch as if it were new: the same body would go out again.
  const mayJoin = isFresh(job) && run.units.length === 0 ? batching : undefined;
  const { isDigest } = each.message;
  const slot = mayJoin ? await sendSlots.take(job, isDigest) : await sendSlots.reserve(job);
  if (mayJoin && slot !== undefined) run.hasRested = isDigest;
  if (slot === undefined) return mayJoin && joinWithRest(each, mayJoin, dependencies);
  if (!slot.isNow) {
    onSlotWait(Math.max(0, slot.runAt - now()));
    return rerun(slot.runAt, slot.data);
  }
  const pausedUntil = await unlessLastTry(job, dependencies, health.admit);
  if (pausedUntil === undefined) {
    begin(each, now());
    return undefined;
  }
  return mayJoin ? joinWithRest(each, mayJoin, dependencies) : waitUntil(pausedUntil, slot.data, dependencies);
};

/**
 * After a digest its destination rests, so that digests keep a distance. Parts of a digest that was refused as a whole are
 * sent without a rest: they are late already.
 */
export const rest: MessageStage = async ({ run, message, job }, { sendSlots }) => {
  const { hasRested } = run;
  run.hasRested = false;
  if (message.isDigest && job.attempt === 0 && job.most === undefined && !hasRested)
    await sendSlots.rest(job.destination);
  return undefined;
};

/** If the ledger confirmed an end less than this many milliseconds ago, no other run can have the job. */
const RECENT_MS = 200;

/** Running jobs and unrecorded ends are bounded together, so a kill repeats no more than if each job waited. */
const mayGoOn = ({ jobs, unrecorded, most }: MessageDependencies['inFlight']): boolean => jobs + unrecorded <= most;

/**
 * Notes that a message was delivered. True where another job delivered some of it in the same moment, or of one before.
 *
 * A job need not wait for the ledger after each message: the ends of the last ones may be on their way into it while the
 * next message is sent. But it waits where another run may have sent the same alerts meanwhile: after its first message,
 * and after one that took long. And it ends only when all of its ends are durable.
 */
export const noteDelivered = async (
  run: JobRun,
  isRepeat: boolean | Promise<boolean>,
  { inFlight, monotonic = () => performance.now() }: Pick<MessageDependencies, 'inFlight' | 'monotonic'>,
): Promise<boolean> => {
  inFlight.unrecorded += 1;
  const recording = Promise.resolve(isRepeat);
  const end = (): void => {
    inFlight.unrecorded -= 1;
  };
  // What waits for it later gets the error.
  recording.then(end, end);
  run.unrecorded.push(recording);
  const isRecent = monotonic() - (run.confirmedAt ?? Number.NEGATIVE_INFINITY) < RECENT_MS;
  while (run.unrecorded.length > 0 && !(isRecent && mayGoOn(inFlight))) {
    if (await run.unrecorded.shift()) return true;
    run.confirmedAt = monotonic();
  }
  return false;
};

/** When all ends of a run are durable. True where another job delivered something of it as well. */
export const whenRecorded = async (run: JobRun): Promise<boolean> => {
  const repeats = await Promise.all(run.unrecorded.splice(0));
  return repeats.includes(true);
};

/** Between two address changes of one destination, after the first. */
const MOVE_AGAIN_MS = 60_000;

/** Another job sends some of the same alerts: its message ends within this, and then this job goes on with the rest. */
const REPEAT_MS = 5000;

export const afterRepeat = (job: ParcelJob, now: number): Verdict => rerun(now + REPEAT_MS, job);

/** A message that was refused as a whole is cut into this many parts: quarters find the refused alert soonest. */
const PARTS = 4;
const ALL = Number.MAX_SAFE_INTEGER;

/** More plainly; where no plainer format is left, in smaller parts, which closes in on the refused alert. */
const plainerOrSmaller = ({ run, job, message, unit }: MessageRun, now: number): Verdict | undefined => {
  const { alerts } = message;
  const format = plainer(unit.format);
  if (format === undefined) return rerun(now, { ...job, most: Math.ceil(alerts.length / PARTS) });
  run.units.push({ alerts, format });
  return undefined;
};

/** Follows a new address at once the first time, and slowly after that: two addresses may point at each other. */
export const follow = async (
  { job }: Pick<MessageRun, 'job'>,
  address: string,
  { addressChanges, onMoved, now }: DeliverDependencies,
): Promise<Verdict> => {
  const { moves: times = 0, destination } = job;
  const known = await addressChanges.follow(destination);
  const announcing = known.address === address ? undefined : onMoved?.(destination, address);
  const isAnnounced = await Promise.resolve(announcing).then(
    () => true,
    () => false,
  );
  // Until then each delivery finds the new address by itself, and announces it.
  if (isAnnounced) await addressChanges.note(destination, address);
  return rerun(now() + times * MOVE_AGAIN_MS, { ...job, moves: times + 1, destination: { ...destination, address } });
};

/** History that somebody replays is no storm. */
const noteDigest = ({ isDigest, destination, alerts }: Message, { storms }: DeliverDependencies): void => {
  const news = alerts.filter(({ replay }) => !replay).length;
  if (isDigest && news > 0) void storms?.noteDigest(destination, news).catch(() => {});
};

/** What becomes of the job after a message: it goes on, or ends its run and is tried again. */
export const settle: MessageStage = (each, dependencies) => {
  const { job, message, unit, composedAt, result = { kind: 'stopping' } } = each;
  const { now } = dependencies;
  switch (result.kind) {
    case 'delivered':
      noteDigest(message, dependencies);
      return noteDelivered(each.run, result.isRepeat, dependencies).then((isRepeat) =>
        isRepeat ? afterRepeat(job, now()) : undefined,
      );
    case 'partial': {
      const progress = { id: message.id, format: unit.format, after: result.progress, at: composedAt };
      return rerun(now(), { ...job, progress });
    }
    case 'dead':
      // This was the refused alert: the others go on together.
      return job.most !== undefined && message.alerts.length === 1 ? rerun(now(), { ...job, most: ALL }) : undefined;
    case 'claimed':
      // When another job has changed the message that these alerts belong to, they can join it.
      return rerun(now() + ASK_AGAIN_MS, { ...job, yields: (job.yields ?? 0) + 1 });
    case 'stopping':
      return rerun(now(), job);
    case 'plainer':
      return plainerOrSmaller(each, now());
    case 'readdress':
      return follow(each, result.address, dependencies);
    case 'retry':
      return tryAgain({ ...job, unknownSince: result.unknownSince }, result, dependencies);
  }
};
