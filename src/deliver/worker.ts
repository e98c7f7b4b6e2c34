/** Parcel -> channel -> outcome. Each message of a parcel ends in exactly one way; what is left waits in the queue. */
import type { Alert, Destination, Parcel } from '../alert.ts';
import { type Channel, type ComposeContext, FORMATS, type Format, type Message } from '../channels/channel.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { ProcessParcel, Verdict } from '../queue/queues.ts';
import type { createAttempt } from './attempt.ts';
import type { Ledger } from './ledger.ts';
import type { Rate, Slots } from './slots.ts';

export interface DeliverDependencies {
  channel: Channel;
  attempt: ReturnType<typeof createAttempt>;
  ledger: Ledger;
  slots: Slots;
  rateOf(destination: Destination): Rate;
  chains: ComposeContext['chains'];
  /** The daemon is going down: no further message is begun, and what is left waits in the queue. Default: never. */
  isStopping?(): boolean;
  now(): number;
}

/** Waiting less than this is not worth a trip through the queue. */
const NEAR_MS = 20;

/** Between two moves of one destination, after the first. */
const MOVE_AGAIN_MS = 60_000;

/** Alerts still to be told, in one format. */
interface Unit {
  alerts: readonly Alert[];
  format: Format;
  /** No format is left; it is tried once more after everything else. */
  hopeless?: boolean;
}

const plainer = (format: Format): Format | undefined => FORMATS[FORMATS.indexOf(format) + 1];

const rerun = (runAt: number, data: ParcelJob): Verdict => ({ done: false, runAt, data });

export const createDeliver = (dependencies: DeliverDependencies): ProcessParcel => {
  const { channel, attempt, ledger, slots, rateOf, chains, isStopping = () => false, now } = dependencies;

  const compose = (parcel: Parcel, format: Format): Message[] =>
    channel.compose(parcel, { sentAt: new Date(now()).toISOString(), format, chains });

  /** Sends one message; gives a verdict where the job has to stop, and notes in `todo` what must be told more plainly. */
  const sendOne = async (
    job: ParcelJob,
    message: Message,
    format: Format,
    todo: Unit[],
    signal: AbortSignal,
  ): Promise<Verdict | undefined> => {
    if (isStopping()) return rerun(now(), { ...job, format });
    const slot = await slots.reserve(job.destination, rateOf(job.destination), job.slot);
    if (slot.at > now() + NEAR_MS) return rerun(slot.at, { ...job, format, slot });
    delete job.slot;
    job.firstTriedAt ??= now();
    const canBePlainer = plainer(format) !== undefined;
    const tried = { message, attempt: job.attempt + 1, firstTriedAt: job.firstTriedAt, canBePlainer, signal };
    const result = await attempt(tried);
    switch (result.kind) {
      case 'delivered':
      case 'dead':
        return undefined;
      case 'stopping':
        return rerun(now(), job);
      case 'plainer':
        todo.push({ alerts: message.alerts, format: plainer(format) ?? format });
        return undefined;
      case 'readdress':
        return moved(job, result.address);
      case 'again':
        return again({ ...job, format, attempt: job.attempt + 1 }, result);
    }
  };

  /** A wait that the provider named holds the whole destination, and this job goes first when it is over. */
  const again = async (job: ParcelJob, { delayMs, holdMs }: { delayMs: number; holdMs: number }): Promise<Verdict> => {
    if (holdMs === 0) return rerun(now() + delayMs, job);
    const slot = await slots.hold(job.destination, now() + delayMs);
    return rerun(slot.at, { ...job, slot });
  };

  /** Followed at once the first time; a provider that sends us round in circles is followed slowly. */
  const moved = ({ moves = 0, ...job }: ParcelJob, address: string): Verdict =>
    rerun(now() + moves * MOVE_AGAIN_MS, { ...job, moves: moves + 1, destination: { ...job.destination, address } });

  /**
   * The messages of a unit. An alert that cannot be composed is our own fault: it must not take its neighbours along, so
   * the unit is split, then told more plainly; one that not even the plainest format can tell is thrown, last of all.
   */
  const messagesOf = (job: ParcelJob, { alerts, format, hopeless }: Unit, todo: Unit[]): Message[] => {
    try {
      return compose({ destination: job.destination, alerts: [...alerts] }, format);
    } catch (error) {
      if (hopeless) throw error;
      const next = alerts.length > 1 ? format : plainer(format);
      const rest = next === undefined ? { format, hopeless: true } : { format: next };
      todo.push(...alerts.map((alert) => ({ alerts: [alert], ...rest })));
      return [];
    }
  };

  return async (queued, signal) => {
    const job = { ...queued };
    const todo: Unit[] = [{ alerts: await ledger.pending(job.destination, job.alerts), format: job.format }];
    for (let unit = todo.shift(); unit; unit = todo.shift()) {
      if (unit.alerts.length === 0) continue;
      for (const message of messagesOf(job, unit, todo)) {
        const verdict = await sendOne(job, message, unit.format, todo, signal);
        if (verdict) return verdict;
      }
    }
    return { done: true };
  };
};
