/** Parcel -> channel -> outcome. Each message of a parcel ends in exactly one way; what is left waits in the queue. */
import type { Alert, Destination } from '../alert.ts';
import type { Message } from '../channels/channel.ts';
import type { Backlog } from '../queue/backlog.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { ProcessParcel, Verdict } from '../queue/queues.ts';
import { createUnits, plainer, type Unit } from './compose.ts';
import type { DestinationHealth } from './health.ts';
import type { Ledger } from './ledger.ts';
import type { Moves } from './moves.ts';
import { createTell, type TellDependencies } from './tell.ts';
import type { createTurns } from './turn.ts';

export interface DeliverDependencies extends TellDependencies {
  ledger: Pick<Ledger, 'pending'>;
  turns: ReturnType<typeof createTurns>;
  health: Pick<DestinationHealth, 'pausedUntil' | 'admit'>;
  moves: Moves;
  /** A kind that people read: what cannot be sent now is gathered. Left out: every parcel waits by itself. */
  gathering?: {
    backlog: Backlog;
    /** Queues the job that will tell what is gathered; the same however often. */
    enqueue(destination: Destination, gathering: number): Promise<void>;
  };
  /** Those of `alerts` that no other alert has told there meanwhile; the others are accounted for. Default: all. */
  untold?(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Milliseconds after the first try at which a delivery is given up. */
  maxAgeMs: number;
  /** The destination has another address from now on. Default: nobody is told. */
  onMoved?(destination: Destination, address: string): Promise<void>;
  /** The daemon is going down: no further message is begun, and what is left waits in the queue. Default: never. */
  isStopping?(): boolean;
  now(): number;
}

/** Between two moves of one destination, after the first. */
const MOVE_AGAIN_MS = 60_000;

/** What is told by another job now ends there; then this one goes on with what is left. */
const YIELD_MS = 5000;

/** What waits longer than this is frozen: alerts of a day must not end together with the oldest of them. */
const GATHER_MS = 3_600_000;

/** A message of more alerts is a digest, and others keep a distance from it. */
const FEW_ALERTS = 5;

export const isMany = (alerts: readonly Alert[]): boolean => alerts.length > FEW_ALERTS;

const DONE: Verdict = { done: true };

const rerun = (runAt: number, data: ParcelJob): Verdict => ({ done: false, runAt, data });

/** Nothing of it was tried, and no turn is reserved for it. */
const isFresh = ({ attempt, moves, slot, gathering, format }: ParcelJob): boolean =>
  attempt === 0 && moves === undefined && slot === undefined && gathering === undefined && format === 'rich';

export const createDeliver = (dependencies: DeliverDependencies): ProcessParcel => {
  const { compose, ledger, turns, health, moves, gathering, now } = dependencies;
  const { isStopping = () => false } = dependencies;

  /** What of a job has still to be told. */
  const alertsOf = async ({ destination, alerts, gathering: number, unlessTold }: ParcelJob): Promise<Alert[]> => {
    const all = number === undefined || !gathering ? alerts : await gathering.backlog.freeze(destination, number);
    const pending = await ledger.pending(destination, all);
    return unlessTold && dependencies.untold ? dependencies.untold(destination, pending) : pending;
  };

  /** What cannot be sent now joins what waits already. */
  const gather = async ({ backlog, enqueue }: NonNullable<typeof gathering>, job: ParcelJob): Promise<Verdict> => {
    const alerts = await alertsOf(job);
    if (alerts.length > 0) await enqueue(job.destination, await backlog.add(job.destination, alerts));
    return DONE;
  };

  const tell = createTell(dependencies);

  /** Until when a destination takes nothing. What is too old for another wait gets its last try instead: only that can end it. */
  const unlessOld = async (
    { destination, firstTriedAt = now() }: ParcelJob,
    ask: DestinationHealth['admit'],
  ): Promise<number | undefined> => (now() - firstTriedAt > dependencies.maxAgeMs ? undefined : ask(destination));

  /** What keeps a message from being sent now: our own end, its turn, or a destination that takes nothing. */
  const heldUp = async (job: ParcelJob, mayGather: boolean): Promise<Verdict | undefined> => {
    if (isStopping()) return rerun(now(), job);
    const turn = await turns.next(job, mayGather);
    if (turn === 'busy') return gathering && gather(gathering, job);
    if (!turn.isNow) return rerun(turn.runAt, turn.data);
    const pausedUntil = await unlessOld(job, health.admit);
    return pausedUntil === undefined ? undefined : pause(mayGather ? job : turn.data, pausedUntil);
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
    const wait = await heldUp({ ...job, format }, mayGather);
    if (wait) return wait;
    delete job.slot;
    delete job.senderSlot;
    job.firstTriedAt ??= now();
    if (gathering && isMany(message.alerts) && job.attempt === 0) await turns.rest(job.destination);
    const { firstTriedAt, unknownSince } = job;
    const attempt = job.attempt + 1;
    const result = await tell({ attempt, firstTriedAt, unknownSince, signal }, message, unit);
    const rest = { ...job, format };
    switch (result.kind) {
      case 'delivered':
        return result.isRepeat ? rerun(now() + YIELD_MS, rest) : undefined;
      case 'dead':
        return undefined;
      case 'stopping':
        return rerun(now(), rest);
      case 'plainer':
        todo.push({ alerts: message.alerts, format: plainer(format) ?? format });
        return undefined;
      case 'readdress':
        return moved(rest, result.address);
      case 'again':
        return again({ ...rest, attempt, unknownSince: result.unknownSince }, result);
    }
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

  /** Waits for a destination that does not work now. */
  const pause = async (job: ParcelJob, until: number): Promise<Verdict> => {
    const { firstTriedAt = now(), destination } = job;
    if (gathering && isFresh(job)) return gather(gathering, job);
    if (job.gathering !== undefined && now() - firstTriedAt > GATHER_MS) {
      await gathering?.backlog.freeze(destination, job.gathering);
    }
    return rerun(until, { ...job, firstTriedAt });
  };

  /** What stops a job before anything of it is composed. */
  const notYet = async (job: ParcelJob): Promise<Verdict | undefined> => {
    const pausedUntil = await unlessOld(job, health.pausedUntil);
    if (pausedUntil !== undefined) return pause(job, pausedUntil);
    const isAdding = gathering && isFresh(job) && (await gathering.backlog.isGathering(job.destination));
    if (isAdding) return gather(gathering, job);
    if (job.gathering === undefined) return undefined;
    // Until its turn comes it takes in what else there is.
    const turn = await turns.next(job, false);
    if (turn !== 'busy' && !turn.isNow) return rerun(turn.runAt, turn.data);
    if (turn !== 'busy') Object.assign(job, turn.data);
    return undefined;
  };

  return async (queued, signal) => {
    const job = { ...queued, destination: await moves.follow(queued.destination) };
    const wait = await notYet(job);
    if (wait) return wait;
    const todo: Unit[] = [{ alerts: await alertsOf(job), format: job.format }];
    const messagesOf = createUnits(compose, job.destination, todo);
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
