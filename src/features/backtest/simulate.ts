/**
 * What delivery would make of alerts where everything works: its own rules, played through on a clock of their own with
 * no Redis, no receiver and no waiting.
 */
import type { Alert, Destination, Parcel } from '../../alert.ts';
import type { Format, Message, Receipt } from '../../channels/channel.ts';
import { createRateLimiter } from '../../deliver/rate-limiter.ts';
import { createSendSlots, type SendSlotDependencies } from '../../deliver/send-slot.ts';
import { createDeliver, type DeliverDependencies } from '../../deliver/worker.ts';
import { batchJob, batchJobId, type ParcelJob, parcelJob } from '../../queue/job.ts';
import { createMemoryBatchStore, createMemoryRateStateStore, createMemoryThreads } from './in-memory.ts';

/** A parcel that dispatch would queue. */
export interface Arrival {
  /** When its job may run, in epoch milliseconds. */
  at: number;
  parcel: Parcel;
  /** Of it only what `untold` gives by then is told. */
  unlessTold?: true;
}

/** A message that would be sent. */
export interface ForecastMessage {
  destination: Destination;
  /** Epoch milliseconds. */
  at: number;
  alerts: readonly Alert[];
  /** When each of them could have been sent at the earliest, in the same order. */
  ready: number[];
  /** Many alerts in one message for people. */
  isDigest: boolean;
  /** It takes the place of an earlier one: nobody is called by it. */
  amends: boolean;
}

export interface ForecastDependencies extends Pick<SendSlotDependencies, 'paceOf' | 'senderOf'> {
  compose(parcel: Parcel, format: Format, at: number): Message[];
  /** People read it: what cannot be sent at once is gathered. */
  gathers: boolean;
  /** A receipt from this destination names the message, so that it can be found again. */
  givesHandle(destination: Destination): boolean;
  /** Its messages can be changed. */
  canAmend: boolean;
  /** How long after it was sent a message takes in findings of its transaction, in milliseconds. */
  incidentWindowMs: number;
  /** Those of `alerts` that no other has told there by then. */
  uncovered(destination: Destination, alerts: readonly Alert[], at: number): Alert[];
  onMessage(message: ForecastMessage): void;
}

interface Job {
  /** Epoch milliseconds. */
  at: number;
  /** Which of one moment comes first. */
  order: number;
  data: ParcelJob;
}

/** Jobs in order of time, and of one moment in the order in which they first came. */
const createJobs = (arrivals: readonly Arrival[]) => {
  const coming = arrivals.toSorted((a, b) => a.at - b.at);
  const waiting: Job[] = [];
  let arrived = 0;
  let added = 0;

  const put = (job: Job): void => {
    const before = waiting.findLastIndex(({ at, order }) => at < job.at || (at === job.at && order < job.order));
    waiting.splice(before + 1, 0, job);
  };

  const add = (at: number, data: ParcelJob): void => {
    put({ at, order: added, data });
    added += 1;
  };

  return {
    add,
    again: put,
    next: (): Job | undefined => {
      for (let next = coming[arrived]; next && next.at <= (waiting[0]?.at ?? next.at); next = coming[arrived]) {
        arrived += 1;
        add(next.at, { ...parcelJob(next.parcel), ...(next.unlessTold ? { unlessTold: true } : {}) });
      }
      return waiting.shift();
    },
  };
};

/** When each alert was ready at its destination, until it is delivered there. */
const createDue = (arrivals: readonly Arrival[]) => {
  const due = new Map<string, Map<string, number>>();
  for (const { at, parcel } of arrivals) {
    const there = due.get(parcel.destination.id) ?? new Map<string, number>();
    due.set(parcel.destination.id, there);
    for (const { id } of parcel.alerts) there.set(id, Math.min(at, there.get(id) ?? at));
  }
  const at = ({ id }: Destination) => due.get(id) ?? new Map<string, number>();
  return {
    pending: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> =>
      alerts.filter(({ id }) => at(destination).has(id)),
    take: (destination: Destination, alerts: readonly Alert[], sentAt: number): number[] => {
      const there = at(destination);
      const ready = alerts.map(({ id }) => there.get(id) ?? sentAt);
      for (const { id } of alerts) there.delete(id);
      return ready;
    },
  };
};

/** The batches of a kind that people read. */
const createBatching = (enqueue: (job: ParcelJob) => void): NonNullable<DeliverDependencies['batching']> => {
  const queued = new Set<string>();
  return {
    batches: createMemoryBatchStore(),
    enqueueBatch: async (destination, gathering) => {
      const id = batchJobId(destination, gathering);
      if (!queued.has(id)) enqueue(batchJob(destination, gathering));
      queued.add(id);
    },
  };
};

/** Plays the arrivals of one channel kind through; resolves when everything has been told. */
export const forecast = async (arrivals: readonly Arrival[], dependencies: ForecastDependencies): Promise<void> => {
  const { compose, paceOf, senderOf, gathers, givesHandle, canAmend, incidentWindowMs, uncovered, onMessage } =
    dependencies;
  let clock = 0;
  const now = (): number => clock;
  const jobs = createJobs(arrivals);
  const due = createDue(arrivals);

  /** Takes every message at once. */
  const take = async ({ destination, alerts, id, isDigest }: Message, amends: boolean): Promise<Receipt> => {
    const ready = due.take(destination, alerts, clock);
    onMessage({ destination, at: clock, alerts, ready, isDigest, amends });
    return givesHandle(destination) ? { handle: id } : {};
  };

  const process = createDeliver({
    compose,
    channel: { send: (message) => take(message, false), amend: (_handle, message) => take(message, true) },
    ledger: { pending: due.pending, recordAttempt: async () => false },
    deadLetters: { add: async () => {} },
    destinationStats: { succeeded: async () => {}, failed: async () => {} },
    sendSlots: createSendSlots({
      slots: createRateLimiter({ store: createMemoryRateStateStore(), now }),
      paceOf,
      senderOf,
      now,
    }),
    health: {
      pausedUntil: async () => undefined,
      admit: async () => undefined,
      worked: async () => {},
      failed: async () => undefined,
    },
    addressChanges: { follow: async (destination) => destination, note: async () => {} },
    ...(gathers
      ? {
          batching: createBatching((job) => jobs.add(clock, job)),
          threads: createMemoryThreads(incidentWindowMs, now),
          canAmend,
        }
      : {}),
    uncovered: async (destination, alerts) => uncovered(destination, alerts, clock),
    onAttempt: () => {},
    scrub: (text) => text,
    timeoutMs: 60_000,
    maxAgeMs: Number.POSITIVE_INFINITY,
    random: () => 0,
    now,
  });

  const { signal } = new AbortController();
  for (let job = jobs.next(); job; job = jobs.next()) {
    clock = Math.max(clock, job.at);
    const verdict = await process(job.data, signal);
    if (!verdict.done) jobs.again({ ...job, at: verdict.runAt, data: verdict.data });
  }
};
