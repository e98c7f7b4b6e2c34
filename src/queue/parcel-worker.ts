/** Takes the jobs of one kind from its queue and runs them, each when it has a place. */
import type { Queue } from 'bullmq';
import type { ChannelKind } from '../alert.ts';
import { createBoundedMap } from '../bounded-map.ts';
import { delayUntil } from '../time.ts';
import { type ParcelJob, readParcelJob } from './job.ts';
import type { HoldsLock } from './job-locks.ts';
import type { Claim, Places } from './places.ts';
import { type JobRun, loadBullmq, openWorker, type QueueSettings, queueName, stopWorker } from './settings.ts';

/** What a processor decides about a job: it is done, or it runs again at a given time with new data. */
export type Verdict = { done: true } | { done: false; runAt: number; data: ParcelJob };
/** `holdsLock`: asked before each message. Without the lock another run has the job. Default: it always does. */
export type ProcessParcel = (job: ParcelJob, signal: AbortSignal, holdsLock?: HoldsLock) => Promise<Verdict>;

/** The name of a job that does nothing, and the queue's only one. */
export const CANARY = 'canary';

/** Long enough to cost little, short enough for a newer daemon beside this one: it can take the job when it is due. */
const UNKNOWN_AGAIN_MS = 5000;

/** Throws for data that nobody of us wrote, at once and for good: the audit queues again what no job will send. */
const ours = (data: ParcelJob | { flaw: string }, queue: string): ParcelJob => {
  const flaw = 'flaw' in data ? data.flaw : 'destination';
  if ('v' in data && queueName(data.destination.kind) === queue) return data;
  throw new (loadBullmq().UnrecoverableError)(
    `somebody else than Tocsin wrote or changed a job in Redis, and nothing was sent by it: see its ${flaw}`,
  );
};

/** Waiting costs no attempt of BullMQ's: those count our own exceptions only. */
const putBack = async ({ job, token }: JobRun, delayMs: number): Promise<never> => {
  await job.moveToDelayed(Date.now() + delayMs, token);
  throw new (loadBullmq().DelayedError)();
};

const claimOf = ({ fairnessKey, destination, slot, ticket }: ParcelJob, priority = 0): Claim => ({
  key: fairnessKey,
  destination: destination.id,
  priority,
  isDue: ((slot ?? ticket)?.at ?? Number.POSITIVE_INFINITY) <= Date.now(),
});

/** The same moment by both clocks. */
const moment = () => ({ wall: Date.now(), monotonic: performance.now() });
/** Jobs brought forward at once: few enough that they make no storm. */
const RECALLED_AT_ONCE = 20;
/** Ids that a process remembers; the other jobs come back when their delay is over. */
const MOST_AWAY = 5000;

/** Jobs that went back into the queue for want of a place, brought forward when there is room sooner than expected. */
const createRecall = (queue: Pick<Queue, 'getJob'>) => {
  /** Until when they wait in the queue, in epoch milliseconds. */
  const away = createBoundedMap<string, number>(MOST_AWAY);
  let isRecalling = false;

  return {
    wentBack: away.set,
    /** There is room: some jobs come at once. Never throws. */
    recall: async (): Promise<void> => {
      if (isRecalling || away.size === 0) return;
      isRecalling = true;
      const due = Date.now();
      const some = [...away.entries()].slice(0, RECALLED_AT_ONCE);
      for (const [id] of some) away.delete(id);
      const early = some.filter(([, until]) => until > due);
      // A job that runs already, or is gone, cannot be brought forward, and need not be.
      await Promise.allSettled(early.map(async ([id]) => (await queue.getJob(id))?.promote()));
      isRecalling = false;
    },
  };
};

/** Gives what a worker does with a parcel's job. */
const createRunJob = (
  queue: Queue,
  places: Places,
  process: ProcessParcel,
  onUnknownVersion: (queue: string, version: string) => void,
) => {
  const { wentBack, recall } = createRecall(queue);
  return async (taken: JobRun): Promise<void> => {
    const { job, signal, holdsLock } = taken;
    const begun = moment();
    const read = readParcelJob(job.data);
    if ('unknownVersion' in read) {
      onUnknownVersion(queue.name, read.unknownVersion);
      return putBack(taken, UNKNOWN_AGAIN_MS);
    }
    const data = ours(read, queue.name);
    const place = await places.enter(claimOf(data, job.priority));
    if ('againInMs' in place) {
      wentBack(job.id ?? '', Date.now() + place.againInMs);
      return putBack(taken, place.againInMs);
    }
    const verdict = await process(data, signal, holdsLock).finally(place.leave);
    if (places.hasRoom()) void recall();
    // It is another run's by now, or will be: this one changes nothing of it.
    if (!(await holdsLock())) throw new (loadBullmq().DelayedError)();
    if (verdict.done) return;
    // At once: a clock that is set back during the next command must not make the wait longer by as much.
    const delayMs = delayUntil(verdict.runAt, begun, moment());
    await job.updateData(verdict.data);
    await putBack(taken, delayMs);
  };
};

export const createWork =
  (
    settings: QueueSettings,
    queues: Record<ChannelKind, { opened(): Queue }>,
    canaryKey: (kind: ChannelKind) => string,
  ) =>
  (
    kind: ChannelKind,
    places: Places,
    process: ProcessParcel,
    onUnknownVersion: (queue: string, version: string) => void,
    onTurn = () => {},
  ) => {
    const { redis } = settings;
    const runJob = createRunJob(queues[kind].opened(), places, process, onUnknownVersion);
    const take = async (run: JobRun): Promise<void> => {
      onTurn();
      if (run.job.name === CANARY) await redis.set(canaryKey(kind), Date.now());
      else await runJob(run);
    };
    const { worker, checkStalled } = openWorker(settings, queueName(kind), places.jobs, take, onTurn);
    return {
      /** The locks of its jobs name it. */
      id: worker.id,
      /** Looks at once for jobs that lost their lock. */
      checkStalled,
      /** Takes no new job, lets the running ones end, and aborts those that have not after `graceMs`. */
      stop: (graceMs: number): Promise<void> => {
        places.close();
        return stopWorker(worker, redis, graceMs);
      },
    };
  };

export type ParcelWorker = ReturnType<ReturnType<typeof createWork>>;
