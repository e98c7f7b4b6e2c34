/** Parcel -> channel -> outcome. Each message of a parcel ends in exactly one way; what is left waits in the queue. */
import type { Alert, Destination } from '../alert.ts';
import type { Message } from '../channels/channel.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { ProcessParcel, Verdict } from '../queue/queues.ts';
import { createMessagesOf, partsOf, plainer, type Unit } from './compose.ts';
import { createTell, type TellDependencies } from './tell.ts';
import { createWaiting, DONE, isFresh, rerun, type WaitingDependencies } from './waiting.ts';

export interface DeliverDependencies extends TellDependencies, WaitingDependencies {
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

/** A message of more alerts is a digest, and others keep a distance from it. */
const FEW_ALERTS = 5;

export const isMany = (alerts: readonly Alert[]): boolean => alerts.length > FEW_ALERTS;

export const createDeliver = (dependencies: DeliverDependencies): ProcessParcel => {
  const { compose, turns, moves, gathering, now } = dependencies;
  const waiting = createWaiting(dependencies);

  const tell = createTell(dependencies);

  /** What the message takes of its destination's pace besides the turn that it has. */
  const spend = async ({ destination, attempt }: ParcelJob, { alerts, weight = 1 }: Message): Promise<void> => {
    if (gathering && isMany(alerts) && attempt === 0) await turns.rest(destination);
    await turns.spend(destination, weight - 1);
  };

  /** Sends one message; gives a verdict where the job has to stop, and notes in `todo` what must be told more plainly. */
  const sendOne = async (
    job: ParcelJob,
    message: Message,
    unit: Unit,
    todo: Unit[],
    signal: AbortSignal,
  ): Promise<Verdict | undefined> => {
    const { format } = unit;
    // What was refused must not be gathered as if it were new: the same body would go out again.
    const mayGather = gathering !== undefined && isFresh({ ...job, format }) && todo.length === 0;
    const wait = await waiting.heldUp({ ...job, format }, mayGather);
    if (wait) return wait;
    delete job.slot;
    delete job.senderSlot;
    job.firstTriedAt ??= now();
    await spend(job, message);
    const { firstTriedAt, unknownSince, yields = 0 } = job;
    const attempt = job.attempt + 1;
    const result = await tell(
      { attempt, firstTriedAt, unknownSince, mayYield: yields < YIELDS, signal },
      message,
      unit,
    );
    return after({ ...job, format }, result, message, todo);
  };

  /** What becomes of the job; undefined where it goes on. */
  const after = (
    job: ParcelJob,
    result: Awaited<ReturnType<typeof tell>>,
    message: Message,
    todo: Unit[],
  ): Promise<Verdict> | Verdict | undefined => {
    switch (result.kind) {
      case 'delivered':
        if (result.isRepeat) return rerun(now() + YIELD_MS, job);
        return job.most === undefined ? undefined : rerun(now(), { ...job, most: 2 * job.most });
      case 'dead':
        return undefined;
      case 'taken':
        return rerun(now() + TAKEN_MS, { ...job, yields: (job.yields ?? 0) + 1 });
      case 'stopping':
        return rerun(now(), job);
      case 'plainer':
        return simpler(job, message, todo);
      case 'readdress':
        return moved(job, result.address);
      case 'again':
        return again({ ...job, attempt: job.attempt + 1, unknownSince: result.unknownSince }, result);
    }
  };

  /** More plainly; where that is not possible, in halves, which closes in on the one that is refused. */
  const simpler = (job: ParcelJob, { alerts }: Message, todo: Unit[]): Verdict | undefined => {
    const format = plainer(job.format);
    if (format === undefined) return rerun(now(), { ...job, most: Math.ceil(alerts.length / 2) });
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
    const messagesOf = createMessagesOf(compose, job.destination, todo);
    for (let unit = todo.shift(); unit; unit = todo.shift()) {
      for (const message of messagesOf(unit)) {
        const verdict = await sendOne(job, message, unit, todo, signal);
        if (verdict) return verdict;
      }
    }
    if (job.gathering !== undefined) await gathering?.backlog.drop(job.destination, job.gathering);
    return DONE;
  };
};
