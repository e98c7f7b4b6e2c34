/** What the stages of a delivery hand on, and the one shape that they have. */
import type { Alert } from '../alert.ts';
import type { Format, Message, Receipt } from '../channels/channel.ts';
import type { DeliveryError } from '../errors.ts';
import type { Attempt } from '../ledger/record.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { Decision } from '../queue/retry.ts';
import type { DisabledDestination } from './destinations.ts';

/** One step: does its part, fills in the context for the stages after it, or gives an end; then no other stage runs. */
export type Stage<Context, End, Dependencies> = (
  context: Context,
  dependencies: Dependencies,
) => Promise<End | undefined> | End | undefined;

/** All that the stages of a list need together. */
export type DependenciesOf<Stages extends readonly Stage<never, unknown, never>[]> =
  Stages[number] extends Stage<never, unknown, infer Dependencies> ? Dependencies : never;

/** Runs the stages in their order until one of them gives an end. */
export const runStages = async <Context, End, Dependencies>(
  stages: readonly Stage<Context, End, Dependencies>[],
  context: Context,
  dependencies: Dependencies,
): Promise<End | undefined> => {
  for (const stage of stages) {
    const end = await stage(context, dependencies);
    if (end !== undefined) return end;
  }
  return undefined;
};

/** Alerts still to be delivered, in one format. */
export interface Unit {
  alerts: readonly Alert[];
  format: Format;
}

/** One run of a job. */
export interface JobRun {
  /** The data that goes back into the queue if the job has to run again. */
  job: ParcelJob;
  signal: AbortSignal;
  /** What is still to be delivered; set by `look-up`, and by `batch` for the job of a batch. */
  alerts: readonly Alert[];
  /** Set by `look-up` where the destination's receiver disabled it. */
  disabled?: DisabledDestination | undefined;
  /** Set by `look-up`: until when the circuit is open, in epoch milliseconds; undefined if it is closed. */
  pausedUntil?: number | undefined;
  /** Set by `look-up`: alerts for this destination wait in a batch, and this job may join it. */
  hasOpenBatch: boolean;
  /** Set by `compose`: what is not composed yet. `settle` adds what the receiver refused, in a plainer format. */
  units: Unit[];
  /** Filled by `compose` as it goes on: not even the plainest format could be made of these, and why. */
  uncomposable: { alerts: readonly Alert[]; error: unknown }[];
  /** Set by `compose`: one after the other, each composed when its time comes. */
  messages: AsyncIterable<MessageRun> | Iterable<MessageRun>;
  /** Filled by `settle`: ends that are on their way into the ledger, oldest first, see `recorded.ts`. */
  unrecorded: Promise<boolean>[];
  /** When the ledger last confirmed one, in milliseconds of a clock that nobody sets. */
  confirmedAt?: number;
}

/** One message of a job. */
export interface MessageRun {
  run: JobRun;
  unit: Unit;
  message: Message;
  /** Epoch milliseconds: when the message says that it was sent; the same for all of its parts. */
  composedAt: number;
  /** The data that goes back into the queue if this message has to wait or is tried again. */
  job: ParcelJob;
  /** Set by `send`. */
  result?: SendResult;
}

/** One try of one message. */
export interface AttemptRun {
  message: Message;
  /** The handle of the message that it changes in place; left out: it is a new message. */
  amends?: string;
  /** Tries charged so far, this one included. */
  attempt: number;
  /** Epoch milliseconds. */
  firstTriedAt: number;
  /** Epoch milliseconds of the first `unknown` answer in a row; left out if the last answer was another. */
  unknownSince?: number | undefined;
  /** A plainer format is left to try. */
  canBePlainer: boolean;
  signal: AbortSignal;
  /** Set by `transmit`: the receipt or the error. */
  receipt?: Receipt;
  error?: DeliveryError;
  durationMs: number;
  /** Set by `decide`; `update-circuit` may bring the next try forward. */
  decision: AttemptResult;
  /** Set by `record`: what the ledger says of this try; absent where only a part of the message was sent. */
  entry?: Attempt;
  /** Set by `record` where this try was the last: the alerts that are dead by it, not those that another run delivered. */
  dead?: readonly Alert[];
}

export type AttemptInput = Omit<AttemptRun, 'receipt' | 'error' | 'durationMs' | 'decision' | 'entry' | 'dead'>;

/**
 * `partial`: one of several parts was taken, and nothing is recorded yet. `isRepeat`: another job delivered some of it in
 * the same moment; known when the end is durable. `stopping`: the daemon is going down; nothing is charged.
 */
export type AttemptResult =
  | { kind: 'delivered'; receipt: Receipt; isRepeat: boolean | Promise<boolean> }
  | { kind: 'partial'; progress: string }
  | { kind: 'stopping' }
  | (Decision & { unknownSince?: number });

/** `claimed`: another job changes the message that these alerts belong to; nothing was sent. */
export type SendResult = AttemptResult | { kind: 'claimed' };

export type JobStage<Dependencies> = Stage<JobRun, Verdict, Dependencies>;
export type MessageStage<Dependencies> = Stage<MessageRun, Verdict, Dependencies>;
export type AttemptStage<Dependencies> = Stage<AttemptRun, AttemptResult, Dependencies>;

export const DONE: Verdict = { done: true };

export const rerun = (runAt: number, data: ParcelJob): Verdict => ({ done: false, runAt, data });

/** Nothing of it was tried, and no send slot is reserved for it: it may join a batch. */
export const isFresh = ({ attempt, moves, slot, gathering, format, progress, reassessed }: ParcelJob): boolean =>
  attempt === 0 &&
  reassessed === undefined &&
  progress === undefined &&
  moves === undefined &&
  slot === undefined &&
  gathering === undefined &&
  format === 'rich';
