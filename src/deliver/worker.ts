/** Parcel -> channel -> outcome. Each message of a parcel ends in exactly one way; what is left waits in the queue. */
import type { Destination } from '../alert.ts';
import type { Format, Message } from '../channels/channel.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { ProcessParcel, Verdict } from '../queue/queues.ts';
import { createMessagesOf, partsOf, plainer, plainest, type Unit } from './compose.ts';
import { createDeferral, type DeferralDependencies, DONE, isFresh, rerun } from './defer.ts';
import { createSendMessage, type SendMessageDependencies } from './send-message.ts';

export interface DeliverDependencies extends SendMessageDependencies, DeferralDependencies {
  /** The destination has another address from now on. Default: nobody is told. */
  onMoved?(destination: Destination, address: string): Promise<void>;
}

/** Between two moves of one destination, after the first. */
const MOVE_AGAIN_MS = 60_000;

/** While another job changes the message that an alert belongs to: then it can grow by this one. */
const TAKEN_MS = 700;
const YIELDS = 5;

/** What is told by another job now ends there; then this one goes on with what is left. */
const YIELD_MS = 5000;

/** Into so many parts is cut what was refused as a whole; a quarter at a time is found soonest. */
const PARTS = 4;
const ALL = Number.MAX_SAFE_INTEGER;

/** One run of a job. */
interface Run {
  job: ParcelJob;
  /** What is still to be told in it. */
  todo: Unit[];
  /** When its messages are said to be sent: parts of one message are of one composition. */
  at: number;
  signal: AbortSignal;
}

export const createDeliver = (dependencies: DeliverDependencies): ProcessParcel => {
  const { compose, turns, moves, gathering, now } = dependencies;
  const waiting = createDeferral(dependencies);

  const tell = createSendMessage(dependencies);

  /** Parts of a digest that was refused as a whole do not keep the distance of digests: they are late already. */
  const mustRest = ({ attempt, most }: ParcelJob, { isDigest }: Message): boolean =>
    isDigest && attempt === 0 && most === undefined;

  /** Sends one message; gives a verdict where the job has to stop, and notes in `todo` what must be told more plainly. */
  const sendOne = async (run: Run, message: Message, unit: Unit): Promise<Verdict | undefined> => {
    const { job, todo, signal } = run;
    const format = plainest([unit, ...todo].map((left) => left.format));
    // What was refused must not be gathered as if it were new: the same body would go out again.
    const mayGather = gathering !== undefined && isFresh({ ...job, format }) && todo.length === 0;
    const wait = await waiting.defer({ ...job, format }, mayGather);
    if (wait) return wait;
    const { progress } = job;
    delete job.slot;
    delete job.senderSlot;
    delete job.progress;
    job.firstTriedAt ??= now();
    if (mustRest(job, message)) await turns.rest(job.destination);
    const { firstTriedAt, unknownSince, yields = 0 } = job;
    const attempt = job.attempt + 1;
    const isGoingOn = progress?.id === message.id && progress.format === unit.format;
    const result = await tell(
      { attempt, firstTriedAt, unknownSince, mayYield: yields < YIELDS, signal },
      { ...message, ...(isGoingOn ? { progress: progress.after } : {}) },
      unit,
    );
    return after({ ...run, job: { ...job, format, ...(isGoingOn ? { progress } : {}) } }, result, message, unit);
  };

  /** What becomes of the job; undefined where it goes on. */
  const after = (
    { job, todo, at }: Run,
    result: Awaited<ReturnType<typeof tell>>,
    message: Message,
    { format }: Unit,
  ): Promise<Verdict> | Verdict | undefined => {
    switch (result.kind) {
      case 'delivered':
        return result.isRepeat ? rerun(now() + YIELD_MS, job) : undefined;
      case 'partial':
        return rerun(now(), { ...job, progress: { id: message.id, format, after: result.progress, at } });
      case 'dead':
        // The one that was refused: the others go on together.
        return job.most !== undefined && message.alerts.length === 1 ? rerun(now(), { ...job, most: ALL }) : undefined;
      case 'taken':
        return rerun(now() + TAKEN_MS, { ...job, yields: (job.yields ?? 0) + 1 });
      case 'stopping':
        return rerun(now(), job);
      case 'plainer':
        return simpler(job, message, format, todo);
      case 'readdress':
        return moved(job, result.address);
      case 'again':
        return again({ ...job, attempt: job.attempt + 1, unknownSince: result.unknownSince }, result);
    }
  };

  /** More plainly; where that is not possible, in smaller parts, which closes in on the one that is refused. */
  const simpler = (job: ParcelJob, { alerts }: Message, refused: Format, todo: Unit[]): Verdict | undefined => {
    const format = plainer(refused);
    if (format === undefined) return rerun(now(), { ...job, most: Math.ceil(alerts.length / PARTS) });
    todo.push({ alerts, format });
    return undefined;
  };

  /** A wait that the provider named holds the whole destination, and this job goes first when it is over. */
  const again = async (job: ParcelJob, { delayMs, holdMs }: { delayMs: number; holdMs: number }): Promise<Verdict> => {
    if (holdMs === 0) return rerun(now() + delayMs, job);
    const slot = await turns.hold(job.destination, now() + delayMs);
    return rerun(slot.at, { ...job, slot });
  };

  /** Followed at once the first time; a provider that sends us round in circles is followed slowly. */
  const moved = async (job: ParcelJob, address: string): Promise<Verdict> => {
    const { moves: times = 0, destination } = job;
    const known = await moves.follow(destination);
    if (known.address !== address) await dependencies.onMoved?.(destination, address);
    await moves.note(destination, address);
    return rerun(now() + times * MOVE_AGAIN_MS, { ...job, moves: times + 1, destination: { ...destination, address } });
  };

  return async (queued, signal) => {
    const ready = await waiting.ready(queued);
    if ('done' in ready) return ready;
    const { job } = ready;
    const { format, most } = job;
    const todo: Unit[] = partsOf(ready.alerts, most).map((alerts) => ({ alerts, format }));
    const at = job.progress?.at ?? now();
    const run = { job, todo, at, signal };
    const messagesOf = createMessagesOf(compose, job.destination, at, todo);
    for (let unit = todo.shift(); unit; unit = todo.shift()) {
      for (const message of messagesOf(unit)) {
        const verdict = await sendOne(run, message, unit);
        if (verdict) return verdict;
      }
    }
    if (job.gathering !== undefined) await gathering?.batches.drop(job.destination, job.gathering);
    return DONE;
  };
};
