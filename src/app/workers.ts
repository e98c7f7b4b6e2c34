/** The worker of one channel kind: takes its parcels from the queue through the stages of `deliver/worker.ts`. */
import type { Logger } from 'pino';
import type { Alert, ChannelKind, Destination } from '../alert.ts';
import type { Channel } from '../channels/channel.ts';
import { chainsOf } from '../channels/configured-chains.ts';
import { pacingOf } from '../channels/pacing.ts';
import { canBeDisabled, isBatched } from '../channels/registry.ts';
import type { Config } from '../config/schema.ts';
import { type Broken, createDestinationHealth } from '../deliver/health.ts';
import type { AttemptEvent } from '../deliver/report.ts';
import { createSendSlots } from '../deliver/send-slot.ts';
import { createSenderTurns } from '../deliver/sender-turns.ts';
import { createThreads } from '../deliver/threads.ts';
import { createDeliver } from '../deliver/worker.ts';
import type { Subject } from '../ledger/outage-subject.ts';
import { createShares } from '../queue/shares.ts';
import { iso } from '../time.ts';
import type { Store } from './store.ts';

/** What the daemon does on the events of deliveries. */
export interface DeliveryEvents {
  onAttempt(event: AttemptEvent): void;
  /** A message of this kind waits so many milliseconds for its rate limit. */
  onSlotWait(kind: ChannelKind, ms: number): void;
  onDead(destination: Destination, alerts: readonly Alert[], why: string): Promise<void>;
  onBroken(broken: Broken): Promise<void>;
  onRecovered(subject: Subject): Promise<void>;
  onMoved(destination: Destination, address: string): Promise<void>;
  /** A job of a version that this daemon does not know has come up, and stays. */
  onUnknownVersion(queue: string, version: string): void;
}

export interface WorkerDependencies extends DeliveryEvents {
  config: Config;
  store: Store;
  log: Logger;
  scrub(text: string): string;
  /** Those of `alerts` that no other alert covers there. */
  uncovered(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  isStopping(): boolean;
  now(): number;
}

const VERIFY_MS = 5000;

export const startWorker = (channel: Channel, dependencies: WorkerDependencies) => {
  const { config, store, scrub, onAttempt, onDead, onBroken, onRecovered, onMoved, isStopping, now } = dependencies;
  const { ledger, disabled, batches, queues } = store;
  const options = config.channels[channel.kind];
  if (!options) throw new Error(`the channel kind '${channel.kind}' is open but not configured`);
  const { paceOf, senderOf } = pacingOf(options);
  const health = createDestinationHealth({
    circuits: store.circuits,
    senderOf,
    isSenders: async () => (await channel.isSenderFailure?.(AbortSignal.timeout(VERIFY_MS))) ?? true,
    onBroken,
    onRecovered,
  });
  const chains = chainsOf(config);
  const shares = createShares(options.concurrency);
  const senderTurns = createSenderTurns({
    reserve: (sender) => store.rateLimiter.reserve(sender, sender.rate),
    now,
  });
  const deliver = createDeliver({
    channel,
    compose: (parcel, format, at) => channel.compose(parcel, { sentAt: iso(at), format, chains }),
    ...(canBeDisabled(channel.kind) ? { disabled } : {}),
    ledger,
    deadLetters: store.dead,
    destinationStats: store.destinationStats,
    sendSlots: createSendSlots({ rateLimiter: store.rateLimiter, paceOf, senderOf, senderTurns, now }),
    health,
    addressChanges: store.addressChanges,
    ...(isBatched(channel.kind)
      ? {
          batching: { batches, enqueueBatch: queues.enqueueBatch },
          threads: createThreads(store.redis, store.prefix, ledger, config.alerts.incidentWindow),
          canAmend: channel.amend !== undefined,
        }
      : {}),
    uncovered: dependencies.uncovered,
    onAttempt: (event) => {
      shares.note(event.destination.id, event);
      onAttempt(event);
    },
    onSlotWait: (ms) => dependencies.onSlotWait(channel.kind, ms),
    onDead,
    onDisabled: disabled.disable,
    onMoved,
    scrub,
    isStopping,
    timeoutMs: options.timeout,
    concurrency: options.concurrency,
    probeMs: ({ id }) => shares.probeMs(id),
    maxAgeMs: options.retry.maxAge,
    now,
    random: Math.random,
  });
  const worker = queues.work(channel.kind, shares, deliver, dependencies.onUnknownVersion);
  return {
    ...worker,
    stop: (graceMs: number) => {
      senderTurns.close();
      return worker.stop(graceMs);
    },
  };
};
