/**
 * The queues and workers of a simulation, where every receiver takes everything: the stages of `deliver` over state in
 * memory. There is no Redis, no receiver and no waiting.
 */
import type { Alert, ChannelKind, Destination } from '../../alert.ts';
import type { Channel, Message, Receipt } from '../../channels/channel.ts';
import { createRateLimiter } from '../../deliver/rate-limiter.ts';
import { createSendSlots, type SendSlotDependencies } from '../../deliver/send-slot.ts';
import type { Batching, DeliverDependencies } from '../../deliver/stage.ts';
import { createDeliver } from '../../deliver/worker.ts';
import type { DispatchDependencies } from '../../dispatch/dispatch.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { batchJob, batchJobId, type ParcelJob, parcelJob } from '../../queue/job.ts';
import type { ProcessParcel } from '../../queue/parcel-worker.ts';
import { createMemoryBatchStore, createMemoryRateStateStore, createMemoryThreads } from './in-memory.ts';
import type { Timeline } from './timeline.ts';

export interface SimulatedMessage {
  destination: Destination;
  at: number;
  alerts: readonly Alert[];
  /** When each of them could have been sent at the earliest; not of those that were sent before, and are in a reply again. */
  ready: number[];
  /** Many alerts in one message for people. */
  isDigest: boolean;
  /** It replaces an earlier message, which notifies nobody. */
  amends: boolean;
}

/** As much of a channel kind as a simulation needs. */
export interface SimulatedKind
  extends Pick<SendSlotDependencies, 'paceOf' | 'senderOf'>,
    Required<Pick<DeliverDependencies, 'isForPeople'>> {
  compose: DeliverDependencies['compose'];
  /** How long its messages wait for more, in milliseconds. Default: not at all. */
  groupWaitMs?: number;
  givesHandle: NonNullable<Channel['givesHandle']>;
  canAmend: boolean;
}

interface SimulatedDeliveryDependencies extends Required<Pick<DeliverDependencies, 'uncovered'>> {
  timeline: Timeline;
  kinds: ReadonlyMap<ChannelKind, SimulatedKind>;
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  /** How long after it was sent a message takes in inspections of its transaction, in milliseconds. */
  incidentWindowMs: number;
  onMessage(message: SimulatedMessage): void;
}

/** When each alert was ready at its destination, until it is sent there. */
const createReady = () => {
  const ready = new Map<string, number>();
  const keyOf = ({ id }: Destination, alert: Alert): string => `${id} ${alert.id}`;
  return {
    note: (destination: Destination, alerts: readonly Alert[], at: number): void => {
      for (const key of alerts.map((alert) => keyOf(destination, alert))) if (!ready.has(key)) ready.set(key, at);
    },
    take: (destination: Destination, alerts: readonly Alert[]): number[] =>
      alerts.flatMap((alert) => {
        const at = ready.get(keyOf(destination, alert)) ?? [];
        ready.delete(keyOf(destination, alert));
        return at;
      }),
  };
};

/** Nothing fails in a simulation. */
const NO_FAILURES = {
  deadLetters: { add: async () => {}, get: async () => [], remove: async () => {} },
  destinationStats: { succeeded: async () => {}, failed: async () => {} },
  health: {
    pausedUntil: async () => undefined,
    admit: async () => undefined,
    worked: async () => {},
    unasked: async () => {},
    failed: async () => undefined,
  },
  addressChanges: { follow: async (destination: Destination) => destination, note: async () => {} },
  onAttempt: () => {},
  scrub: (text: string) => text,
  timeoutMs: 60_000,
  concurrency: 1,
  maxAgeMs: Number.POSITIVE_INFINITY,
  random: () => 0,
};

/** Queues a job that runs on the timeline. One that runs again keeps its place among those of the same moment. */
const queueJob = (
  timeline: Timeline,
  workers: ReadonlyMap<ChannelKind, ProcessParcel>,
  first: ParcelJob,
  at: number,
) => {
  const order = timeline.nextOrder();
  const runAt = (moment: number, job: ParcelJob): void => {
    const run = async (): Promise<void> => {
      const verdict = await workers.get(job.destination.kind)?.(job, new AbortController().signal);
      if (verdict && !verdict.done) runAt(verdict.runAt, verdict.data);
    };
    timeline.add(moment, run, order);
  };
  runAt(at, first);
};

export const createSimulatedDelivery = (
  dependencies: SimulatedDeliveryDependencies,
): Pick<DispatchDependencies, 'enqueue'> => {
  const { timeline, kinds, ledger, incidentWindowMs, uncovered, onMessage } = dependencies;
  const { now } = timeline;
  const rateLimiter = createRateLimiter({ store: createMemoryRateStateStore(), now });
  const batches = createMemoryBatchStore();
  const threads = createMemoryThreads(incidentWindowMs, now);
  const ready = createReady();
  const batchJobs = new Set<string>();

  const receive = async ({ destination, alerts, id, isDigest }: Message, amends: boolean): Promise<Receipt> => {
    onMessage({ destination, at: now(), alerts, ready: ready.take(destination, alerts), isDigest, amends });
    return kinds.get(destination.kind)?.givesHandle(destination.address) ? { handle: id } : {};
  };

  const enqueueBatch: Batching['enqueueBatch'] = async (destination, number, alerts, delayMs) => {
    const id = batchJobId(destination, number);
    if (!batchJobs.has(id)) addJob(batchJob(destination, number, alerts), now() + delayMs);
    batchJobs.add(id);
  };

  const workerOf = ({
    paceOf,
    senderOf,
    isForPeople,
    groupWaitMs = 0,
    canAmend,
    compose,
  }: SimulatedKind): ProcessParcel =>
    createDeliver({
      ...NO_FAILURES,
      compose,
      channel: { send: (message) => receive(message, false), amend: (_handle, message) => receive(message, true) },
      ledger,
      sendSlots: createSendSlots({ rateLimiter, paceOf, senderOf, now }),
      ...{ isForPeople, batching: { batches, enqueueBatch, groupWaitMs }, threads, canAmend },
      uncovered,
      now,
    });

  const workers = new Map([...kinds].map(([kind, facts]) => [kind, workerOf(facts)]));
  const addJob = (job: ParcelJob, at: number): void => queueJob(timeline, workers, job, at);

  return {
    enqueue: async (parcels, _nonce, delayMs) => {
      for (const parcel of parcels) {
        const at = now() + (delayMs ?? 0);
        ready.note(parcel.destination, parcel.alerts, at);
        addJob({ ...parcelJob(parcel), ...(delayMs === undefined ? {} : { unlessCovered: true }) }, at);
      }
    },
  };
};
