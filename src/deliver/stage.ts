/** What the stages of a delivery hand on, what they need, and the one shape that they have. */
import type { Alert, ChannelKind, Destination, Parcel, SentInspections } from '../alert.ts';
import type { Channel, ComposeContext, Format, Message, Receipt } from '../channels/channel.ts';
import type { Pauses, Sliced } from '../chunks.ts';
import type { DeliveryError } from '../errors.ts';
import type { DeadLetters } from '../ledger/dead-letters.ts';
import type { DestinationStats } from '../ledger/destination-stats.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Attempt } from '../ledger/record.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { Afterwards, ParcelJob } from '../queue/job.ts';
import type { HoldsLock } from '../queue/job-locks.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { Decision } from '../queue/retry.ts';
import type { AddressChanges, Disabled, DisabledDestination } from './destinations.ts';
import type { DestinationHealth } from './health.ts';
import type { SendSlots } from './send-slot.ts';
import type { Recalled, Threads } from './threads.ts';

/** Everything that an operator asks about an attempt. */
export interface AttemptEvent extends Omit<Attempt, 'at'> {
  /** ISO 8601; absent where nothing was tried. */
  at?: string;
  kind: ChannelKind;
  destination: Destination;
  alerts: readonly Alert[];
  attempt: number;
  /** The message was about many alerts. */
  isDigest: boolean;
  /** Absent where it is not tried again. */
  retryInMs?: number;
}

/** `at`: when it is said to be sent, in epoch milliseconds. */
export type Compose = (
  parcel: Parcel,
  format: Format,
  at: number,
  more?: Pick<ComposeContext, 'storm' | 'sentInspections' | 'grew' | 'heard'>,
) => Sliced<Message[]>;

/**
 * Gives a message what people can press below it. `about`: all alerts that it shows; `isChange`: it takes the place of an
 * earlier one. `sent` is called with how the message is found again, once it was sent.
 */
export type WithButtons = (
  message: Message,
  about: readonly Alert[],
  isChange: boolean,
) => Promise<{ message: Message; sent(handle: string): Promise<void> }>;

/** Of what people read: fresh jobs may join a batch. */
export interface Batching {
  batches: Pick<BatchStore, 'add' | 'hasOpenBatch' | 'seal' | 'drop'>;
  /** Queues the job that sends the batch of this number, so many milliseconds later; the same however often. */
  enqueueBatch(destination: Destination, number: number, alerts: readonly Alert[], delayMs: number): Promise<void>;
  /** How long a batch waits for more after it is opened, in milliseconds; then every fresh job joins one. Default: not at all. */
  groupWaitMs?: number;
}

/** What the deliveries of one channel kind need. */
export interface DeliverDependencies {
  channel: Pick<Channel, 'send' | 'amend'>;
  compose: Compose;
  /** What a destination that keeps incidents has of the transactions of these alerts. Default: nobody asks. */
  sentInspections?(destination: Destination, alerts: readonly Alert[]): Promise<SentInspections | undefined>;
  /** How composing lets other work run in between. Default: every few milliseconds. */
  pauses?: Pauses;
  /** Whether alerts would be a digest. Default: none are. */
  isDigest?(alerts: readonly Alert[]): boolean;
  /** Digests in a row, without replays. Left out: none is counted. */
  storms?: {
    /** Only more alerts than these may become a digest. Replays do not count: they are no storm. */
    above: number;
    soFar(destination: Destination): Promise<{ messages: number; alerts: number }>;
    noteDigest(destination: Destination, alerts: number): Promise<void>;
  };
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  deadLetters: Pick<DeadLetters, 'add' | 'get' | 'remove'>;
  destinationStats: Pick<DestinationStats, 'succeeded' | 'failed'>;
  sendSlots: SendSlots;
  health: DestinationHealth;
  addressChanges: Pick<AddressChanges, 'follow' | 'note'>;
  /** Left out: a receiver of this kind cannot disable its destination. */
  disabled?: Pick<Disabled, 'find'>;
  /** People read what is sent there; else there are no batches and no threads. Default: everywhere. */
  isForPeople?(destination: Destination): boolean;
  /** Left out: every job waits by itself. */
  batching?: Batching;
  /** Messages can belong to earlier ones. */
  threads?: Threads;
  /** Whether a message there can be found again, see `Channel.givesHandle`; of others nothing is asked. Default: each can. */
  givesHandle?: Channel['givesHandle'];
  /** It can put a message in the place of another. Default: it cannot. */
  canAmend?: boolean;
  /** Default: messages have none. */
  withButtons?: WithButtons;
  /** Those of `alerts` that no other alert covers there; the others are recorded as delivered. Default: all. */
  uncovered?(destination: Destination, alerts: readonly Alert[]): Promise<readonly Alert[]>;
  /** Those of these alert ids that still have to be sent there. Default: none. */
  waiting?(destination: Destination, ids: readonly string[]): Promise<readonly string[]>;
  /**
   * Those of `alerts`, all on their way to the fallback, that nobody has acknowledged; the deliveries of the others are
   * ended. Default: all.
   */
  unacknowledged?(destination: Destination, alerts: readonly Alert[]): Promise<readonly Alert[]>;
  onAttempt(event: AttemptEvent): void;
  /** A message waits so many milliseconds for its rate limit. Default: nothing. */
  onSlotWait?(ms: number): void;
  /** Deliveries are dead, for this reason; called before the ledger is written. Default: nothing. */
  onDead?(destination: Destination, alerts: readonly Alert[], why: string): Promise<void>;
  /** The same, once the ledger is written, and of what is dead by then. Default: nothing. */
  onDied?(destination: Destination, alerts: readonly Alert[]): Promise<void>;
  /** The receiver disabled this destination. Default: nothing. */
  onDisabled?(destination: Destination, at: string, message: string): Promise<void>;
  /** The destination has another address from now on. Default: nothing. */
  onMoved?(destination: Destination, address: string): Promise<void>;
  /** A message was changed, or got its reply; `why`: it was given up, for this reason. Default: nothing. */
  onAfterwards?(destination: Destination, what: Afterwards, why?: string): void;
  /** Takes known secrets out of what a provider said. */
  scrub(text: string): string;
  /** The daemon is stopping: it begins no further message, and what is left stays in the queue. Default: never. */
  isStopping?(): boolean;
  /** Milliseconds one send may take. */
  timeoutMs: number;
  /** A shorter time for a destination whose last sends timed out, in milliseconds. Default: `timeoutMs` for all. */
  probeMs?(destination: Destination): number | undefined;
  /** `retry.maxAge`: milliseconds after the first try at which a delivery is given up. */
  maxAgeMs: number;
  /** Jobs that run at once. */
  concurrency: number;
  now(): number;
  /** Default: the process' own. */
  monotonic?(): number;
  /** 0 up to, not including, 1. */
  random(): number;
}

/** The stages of a message may make attempts. */
export interface MessageDependencies extends DeliverDependencies {
  /** One try, through the stages of `worker.ts`. */
  attempt(input: AttemptInput): Promise<AttemptResult>;
  /**
   * What a killed daemon may send twice, of one kind: the message that each running job sends, and those whose ends are on
   * their way into the ledger; `most`: both together.
   */
  inFlight: { jobs: number; unrecorded: number; most: number };
}

/** One step: does its part, fills in the context for the stages after it, or gives an end; then no other stage runs. */
export type Stage<Context, End, Dependencies = DeliverDependencies> = (
  context: Context,
  dependencies: Dependencies,
) => Promise<End | undefined> | End | undefined;

export type JobStage = Stage<JobRun, Verdict>;
export type MessageStage = Stage<MessageRun, Verdict, MessageDependencies>;
export type AttemptStage = Stage<AttemptRun, AttemptResult>;

/** Runs the stages in their order until one of them gives an end. */
export const runStages = async <Context, End, Dependencies>(
  stages: readonly Stage<Context, End, Dependencies>[],
  context: Context,
  dependencies: Dependencies,
): Promise<End | undefined> => {
  for (const stage of stages) {
    const given = stage(context, dependencies);
    // Many stages have nothing to wait for.
    const end = given instanceof Promise ? await given : given;
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
  /** False where another run has the job by now. */
  holdsLock: HoldsLock;
  /** What is still to be delivered; set by `lookUp`, and by `batch` for the job of a batch. */
  alerts: readonly Alert[];
  /** Inspections and follow-ups at whose messages something may be left to do: delivered before this run, or by a change in it. */
  shown: Alert[];
  /** Set by `lookUp` where the destination's receiver disabled it. */
  disabled?: DisabledDestination | undefined;
  /** Set by `lookUp`: until when the circuit is open, in epoch milliseconds; undefined if it is closed. */
  pausedUntil?: number | undefined;
  /** Set by `lookUp`: alerts for this destination wait in a batch, and this job may join it. */
  hasOpenBatch: boolean;
  /** Set by `batch` and `defer`: the destination rests for the digest that goes out next. */
  hasRested?: boolean;
  /** Set by `compose`: what is not composed yet. `settle` adds what the receiver refused, in a plainer format. */
  units: Unit[];
  /** Filled by `compose` as it goes on: not even the plainest format could be made of these, and why. */
  uncomposable: { alerts: readonly Alert[]; error: unknown }[];
  /** Set by `compose`: one after the other, each composed when its time comes. */
  messages: AsyncIterable<MessageRun> | Iterable<MessageRun>;
  /** Set by `putOff`, in epoch milliseconds: what is left of the job waits until then, for more of its transactions. */
  quietUntil?: number;
  /** Set by `putOff`: the messages that these alerts may belong to. */
  recalled?: Recalled;
  /** Filled by `settle`: ends that are on their way into the ledger, oldest first, see `noteDelivered`. */
  unrecorded: Promise<boolean>[];
  /** When the ledger last confirmed one, by the monotonic clock. */
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

/** A try of a message, as it begins. */
export interface AttemptInput {
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
}

/** One try of one message. */
export interface AttemptRun extends AttemptInput {
  /** Set by `transmit`: the receipt or the error. */
  receipt?: Receipt;
  error?: DeliveryError;
  durationMs: number;
  /** Set by `decide`; `updateCircuit` may bring the next try forward. */
  decision: AttemptResult;
  /** Set by `record`: what the ledger says of this try; absent where only a part of the message was sent. */
  entry?: Attempt;
  /** Set by `record` where this try was the last: the alerts that are dead by it, not those that another run delivered. */
  dead?: readonly Alert[];
}

/** Until a stage decides otherwise nothing is charged. */
export const beginAttempt = (input: AttemptInput): AttemptRun => ({
  ...input,
  durationMs: 0,
  decision: { kind: 'stopping' },
});

/**
 * `partial`: one of several parts was taken, and nothing is recorded yet. `isRepeat`: another job delivered some of it in
 * the same moment; known when the end is durable. `stopping`: the daemon is going down, or another run has the job; nothing
 * is charged.
 */
export type AttemptResult =
  | { kind: 'delivered'; receipt: Receipt; isRepeat: boolean | Promise<boolean> }
  | { kind: 'partial'; progress: string }
  | { kind: 'stopping' }
  | (Decision & { unknownSince?: number });

/** `claimed`: another job changes the message that these alerts belong to; nothing was sent. */
export type SendResult = AttemptResult | { kind: 'claimed' };

export const DONE: Verdict = { done: true };

export const rerun = (runAt: number, data: ParcelJob): Verdict => ({ done: false, runAt, data });

/** Nothing of it was tried, and no send slot is reserved for it: its alerts may join a batch. */
export const isUntried = ({ attempt, moves, slot, most, format, progress, afterwards }: ParcelJob): boolean =>
  attempt === 0 && format === 'rich' && [moves, slot, most, progress, afterwards].every((value) => value === undefined);

/** The same, and it is not a batch's own. */
export const isFresh = (job: ParcelJob): boolean => isUntried(job) && job.batchNumber === undefined;

/** The job when its slots are used; the same one where it has none. */
export const withoutSlot = (given: ParcelJob): ParcelJob => {
  if (!given.slot && !given.senderSlot && !given.ticket) return given;
  const { slot: _slot, senderSlot: _senderSlot, ticket: _ticket, ...job } = given;
  return job;
};
