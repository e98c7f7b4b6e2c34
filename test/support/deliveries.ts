/** The delivery of parcels to a channel that does as it is announced, with a clock and a queue of the test's own. */

import type { Alert, Destination } from '../../src/alert.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { createPresentation } from '../../src/channels/content/presentation.ts';
import { mapSliced } from '../../src/chunks.ts';
import { createAddressChanges } from '../../src/deliver/destinations.ts';
import { type Broken, createCircuits, createDestinationHealth } from '../../src/deliver/health.ts';
import type { Pace, Rate } from '../../src/deliver/rate-limit-rule.ts';
import { createRateLimiter, createRateStateStore } from '../../src/deliver/rate-limiter.ts';
import { createSendSlots } from '../../src/deliver/send-slot.ts';
import type { AttemptEvent, DeliverDependencies } from '../../src/deliver/stage.ts';
import { createThreadStore } from '../../src/deliver/thread-store.ts';
import { createThreads } from '../../src/deliver/threads.ts';
import { createDeliver } from '../../src/deliver/worker.ts';
import { DeliveryError, type DeliveryReason } from '../../src/errors.ts';
import { createDeadLetters } from '../../src/ledger/dead-letters.ts';
import { createDestinationStats } from '../../src/ledger/destination-stats.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { createBatchStore } from '../../src/queue/batch-store.ts';
import { batchJob, batchJobId, type ParcelJob, parcelJob } from '../../src/queue/job.ts';
import { destinationOf } from './alerts.ts';
import { makeAlert } from './numbered.ts';
import { openTestRedis } from './redis.ts';

export const DESTINATION = destinationOf('slack', 'C1');
export const OTHER = destinationOf('slack', 'C2');

export const failure = (reason: DeliveryReason, details: object = {}) =>
  new DeliveryError(reason, 'refused', { code: reason, ...details });

export interface Sent {
  at: number;
  to: string;
  items: string[];
  replyTo?: string;
  amends?: string;
  /** Where it says more than what it delivers. */
  shows?: string[];
  /** What a changed message says of its alerts. */
  now?: string[];
}

/** In the order of their numbers: alerts of one moment have none. */
const itemsOf = (alerts: readonly Alert[]): string[] =>
  alerts.map(({ itemId }) => itemId).toSorted((a, b) => Number(a.slice(5)) - Number(b.slice(5)));

/** How long a message grows by findings of its transaction, in milliseconds. */
export const INCIDENT_WINDOW_MS = 600_000;

export const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);
export const items = (...numbers: number[]): string[] => numbers.map((n) => `item-${n}`);

export interface DeliveriesSetUp {
  rate?: Rate;
  sender?: Pace;
  /** What all destinations are paced as. */
  shared?: string;
  /** Default true: for people. */
  isBatched?: boolean;
  /** Default: everywhere. */
  isForPeople?(destination: Destination): boolean;
  /** Default true. */
  canAmend?: boolean;
  /** Default: messages do not wait for more. */
  groupWaitMs?: number;
  /** What the channel throws; asked at each try, `sent.at` in milliseconds since the beginning. Default: nothing. */
  respond?(sent: Sent): Promise<DeliveryError | undefined> | DeliveryError | undefined;
  /** In how many parts an alert is sent. Default: one. */
  partsOf?(alert: Alert): number;
  onMoved?(destination: Destination, address: string): Promise<void>;
  onAfterwards?: DeliverDependencies['onAfterwards'];
  /** Happens while an outage is being announced. */
  whileAnnouncing?(): Promise<void>;
}

/** A queue of its own: jobs run in order of time, one by one, until none is left or `until` is reached. */
export const setUpDeliveries = (options: DeliveriesSetUp = {}) => {
  const { partsOf = () => 1, groupWaitMs = 0, canAmend = true } = options;
  const { rate = {}, sender, shared, isBatched = true, respond, onMoved = async () => {}, whileAnnouncing } = options;
  const { redis, prefix } = openTestRedis();
  const begun = Date.parse('2026-11-20T12:00:00Z');
  const time = { now: begun };
  const now = () => time.now;
  const sent: Sent[] = [];
  const announced: string[] = [];
  /** Answers by destination, used up in order; none left: as `respond` says. */
  const answers: Record<string, DeliveryError[]> = {};
  /** When somebody acknowledged, in epoch milliseconds. */
  const acknowledged: { at?: number } = {};
  const take = async (entry: Omit<Sent, 'at'>) => {
    const message = { at: time.now - begun, ...entry };
    const answer = answers[entry.to]?.shift() ?? (await respond?.(message));
    if (answer) throw answer;
    sent.push(message);
    return { providerId: `ts-${sent.length}`, handle: `handle-${sent.length}` };
  };
  /** As the channels do: few are single messages, many are one. */
  const channel: Channel = {
    kind: 'slack',
    compose: ({ destination, alerts }) => {
      const byTransaction = [...Map.groupBy(alerts, ({ txHash, id }) => txHash ?? id).values()];
      const isDigest = isBatched && byTransaction.length > 5;
      const groups = isDigest ? [alerts] : byTransaction;
      return mapSliced(groups, (group) => {
        return { destination, alerts: group, id: group.map((alert) => alert.id).join(), body: group, isDigest };
      });
    },
    send: async ({ destination, alerts, body, replyTo, progress = '0' }) => {
      const shown = body as Alert[];
      const receipt = await take({
        to: destination.address,
        items: itemsOf(alerts),
        ...(replyTo === undefined ? {} : { replyTo }),
        ...(shown.length > alerts.length ? { shows: itemsOf(shown) } : {}),
      });
      const parts = Math.max(...alerts.map(partsOf));
      const sentParts = Number(progress) + 1;
      return sentParts < parts ? { ...receipt, progress: String(sentParts) } : receipt;
    },
    amend: (amends, { destination, body }) => {
      const alerts = body as Alert[];
      const changed = alerts.flatMap(({ itemId, reassessed: change }) =>
        change === undefined ? [] : [`${itemId} ${change.is ?? 'gone'}, was ${change.was}`],
      );
      const news = changed.length === 0 ? {} : { now: changed };
      return take({ to: destination.address, items: itemsOf(alerts), amends, ...news });
    },
    verify: async () => 'fine',
    close: async () => {},
  };
  const ledger = createLedger(redis, prefix, now);
  const dead = createDeadLetters(redis, prefix);
  const destinationStats = createDestinationStats(redis, prefix);
  const attempts: AttemptEvent[] = [];
  const died: string[] = [];
  const batches = createBatchStore(redis, prefix);
  const circuits = createCircuits(redis, prefix, now);
  const rateLimiter = createRateLimiter({ store: createRateStateStore(redis, prefix), now });
  const senderOf = () => sender;
  const broken: Broken[] = [];
  const health = createDestinationHealth({
    circuits,
    senderOf,
    isSenders: async () => true,
    onBroken: async (what) => {
      broken.push(what);
      await whileAnnouncing?.();
      announced.push(`${what.isSender ? 'sender' : what.destination.address} broken: ${what.reason}`);
    },
    onRecovered: async ({ destination, isSender }) => {
      announced.push(`${isSender ? 'sender' : destination.address} well`);
    },
  });
  const jobs = new Map<string, { runAt: number; data: ParcelJob }>();
  const process = createDeliver({
    channel,
    compose: (parcel, format, at) =>
      channel.compose(parcel, { sentAt: new Date(at).toISOString(), format, presentation: createPresentation() }),
    ledger,
    deadLetters: dead,
    destinationStats,
    onDead: async (_destination, alerts) => void died.push(...itemsOf(alerts)),
    sendSlots: createSendSlots({ rateLimiter, paceOf: ({ id }) => ({ id: shared ?? id, rate }), senderOf, now }),
    health,
    addressChanges: createAddressChanges(redis, prefix),
    waiting: ledger.waiting,
    ...(options.isForPeople && { isForPeople: options.isForPeople }),
    ...(isBatched
      ? {
          batching: {
            batches,
            groupWaitMs,
            enqueueBatch: async (
              destination: Destination,
              number: number,
              alerts: readonly Alert[],
              delayMs: number,
            ) => {
              const id = batchJobId(destination, number);
              const data = batchJob(destination, number, alerts);
              if (!jobs.has(id)) jobs.set(id, { runAt: time.now + delayMs, data });
            },
          },
          threads: createThreads(createThreadStore(redis, prefix), ledger, {
            windowMs: INCIDENT_WINDOW_MS,
            keepMs: 7_200_000,
            replyWithinMs: 86_400_000,
            acknowledgedAt: async () => acknowledged.at,
            now,
          }),
          canAmend,
        }
      : {}),
    onAttempt: (event) => void attempts.push(event),
    onMoved,
    ...(options.onAfterwards && { onAfterwards: options.onAfterwards }),
    scrub: (text) => text,
    concurrency: 20,
    timeoutMs: 5000,
    maxAgeMs: 86_400_000,
    now,
    random: () => 0.5,
  });
  let count = 0;
  const add = (alerts: Alert[], destination: Destination = DESTINATION): void => {
    count += 1;
    jobs.set(`parcel-${count}`, { runAt: time.now, data: parcelJob({ destination, alerts }) });
  };
  /** A run as a worker begins it, perhaps one of several at once. */
  const start = (data: ParcelJob, signal = new AbortController().signal) => process(structuredClone(data), signal);
  /** `until`: milliseconds since the beginning. */
  const run = async (until = Number.POSITIVE_INFINITY): Promise<void> => {
    for (let runs = 0; runs < 5000; runs += 1) {
      const [next] = [...jobs].toSorted(([, a], [, b]) => a.runAt - b.runAt);
      if (!next || next[1].runAt - begun > until) return;
      const [id, { runAt, data }] = next;
      time.now = Math.max(time.now, runAt);
      const verdict = await start(data);
      if (verdict.done) jobs.delete(id);
      else jobs.set(id, { runAt: verdict.runAt, data: verdict.data });
    }
    throw new Error('the jobs do not come to an end');
  };
  const states = async (...numbers: number[]) =>
    Promise.all(numbers.map(async (n) => (await ledger.read(makeAlert(n).id))?.deliveries[0]?.state));
  const ends = { sent, announced, broken, dead, died, attempts, states, statistics: destinationStats.list };
  return {
    redis,
    prefix,
    add,
    run,
    start,
    time,
    begun,
    jobs,
    answers,
    acknowledged,
    ...ends,
    batches,
    circuits,
    health,
    ledger,
    rateLimiter,
  };
};
