/** The worker of one channel kind: takes its parcels from the queue through the stages of `deliver/worker.ts`. */
import type { Logger } from 'pino';
import type { Alert, ChannelKind, Destination } from '../alert.ts';
import type { Channel } from '../channels/channel.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { createTemplates } from '../channels/content/template.ts';
import { FEW } from '../channels/incidents.ts';
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
import type { Acknowledgement } from './acknowledgement.ts';
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
  /** A template of the config, by its place in it from 0, could not be rendered. Default: nothing. */
  onTemplateFailed?: OnTemplateFailed | undefined;
}

export type OnTemplateFailed = (index: number, why: string) => void;

export interface WorkerDependencies extends DeliveryEvents {
  config: Config;
  store: Store;
  log: Logger;
  scrub(text: string): string;
  /** Those of `alerts` that no other alert covers there. */
  uncovered(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Buttons of messages, and links. Undefined: they have none. */
  acknowledgement: Pick<Acknowledgement, 'withButtons'> | undefined;
  isStopping(): boolean;
  now(): number;
}

const VERIFY_MS = 5000;

/** After the last second look its follow-up may have to wait. */
const LATE_MS = 900_000;

const keptForReassessment = ({ alerts: { secondLook } }: Config): number =>
  secondLook.length === 0 ? 0 : Math.max(...secondLook) + LATE_MS;

export const startWorker = (channel: Channel, dependencies: WorkerDependencies) => {
  const { config, store, scrub, onAttempt, onDead, onBroken, onRecovered, onMoved, isStopping, log, now } =
    dependencies;
  const { ledger, disabled, batches, queues } = store;
  const { withButtons } = dependencies.acknowledgement ?? {};
  const options = config.channels[channel.kind];
  if (!options) throw new Error(`the channel kind '${channel.kind}' is open but not configured`);
  const { paceOf, senderOf, groupWaitMs } = pacingOf(options);
  const health = createDestinationHealth({
    circuits: store.circuits,
    senderOf,
    isSenders: async () => (await channel.isSenderFailure?.(AbortSignal.timeout(VERIFY_MS))) ?? true,
    onBroken,
    onRecovered,
  });
  const presentation = createPresentation(
    config,
    createTemplates(config.templates, {
      kind: channel.kind,
      onFailed: (index, why) => dependencies.onTemplateFailed?.(index, why),
    }),
  );
  const shares = createShares(options.concurrency);
  const senderTurns = createSenderTurns({
    reserve: (sender) => store.rateLimiter.reserve(sender, sender.rate),
    now,
  });
  const deliver = createDeliver({
    channel,
    compose: (parcel, format, at, storm) =>
      channel.compose(parcel, { sentAt: iso(at), format, presentation, ...(storm && { storm }) }),
    storms: { above: FEW, ...store.storms },
    ...(canBeDisabled(channel.kind) ? { disabled } : {}),
    ledger,
    deadLetters: store.dead,
    destinationStats: store.destinationStats,
    sendSlots: createSendSlots({ rateLimiter: store.rateLimiter, paceOf, senderOf, senderTurns, now }),
    health,
    addressChanges: store.addressChanges,
    ...(isBatched(channel.kind)
      ? {
          batching: { batches, enqueueBatch: queues.enqueueBatch, groupWaitMs },
          threads: createThreads(store.redis, store.prefix, ledger, {
            windowMs: config.alerts.incidentWindow,
            keepMs: channel.amend === undefined ? 0 : keptForReassessment(config),
            now,
          }),
          canAmend: channel.amend !== undefined,
        }
      : {}),
    uncovered: dependencies.uncovered,
    waiting: ledger.waiting,
    ...(withButtons && { withButtons: withButtons(channel), unacknowledged: store.escalations.unacknowledged }),
    onAttempt: (event) => {
      shares.note(event.destination.id, event);
      onAttempt(event);
    },
    onSlotWait: (ms) => dependencies.onSlotWait(channel.kind, ms),
    onDead,
    onDisabled: disabled.disable,
    onUnchanged: ({ kind, id }, { of, was, is }, why) =>
      log.warn(
        { kind, destination: id, of, was, is, message: scrub(why) },
        'the message above a follow-up was not changed',
      ),
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
