/** Composes `deliver`: a worker for each channel kind, and what to do when a delivery failed or a destination recovered. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, isHuman, isSample } from '../alert.ts';
import type { Channel } from '../channels/channel.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { createTemplates } from '../channels/content/template.ts';
import { FEW } from '../channels/incidents.ts';
import { kindFacts, pacingOf } from '../channels/registry.ts';
import type { Config } from '../config/schema.ts';
import { type Broken, createDestinationHealth, type Subject } from '../deliver/health.ts';
import { createSenderTurns, createSendSlots } from '../deliver/send-slot.ts';
import type { AttemptEvent } from '../deliver/stage.ts';
import { createThreads } from '../deliver/threads.ts';
import { createDeliver } from '../deliver/worker.ts';
import { createLeftKinds } from '../features/housekeeping/housekeeping.ts';
import { createDeliveryReport } from '../ops/delivery-report.ts';
import type { Metrics } from '../ops/metrics.ts';
import { type Tracing, traceIdOf } from '../ops/tracing.ts';
import type { ParcelWorker } from '../queue/parcel-worker.ts';
import { createPlaces } from '../queue/places.ts';
import { iso } from '../time.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import type { openDispatch } from './dispatch.ts';
import type { Store } from './store.ts';

// The worker of one channel kind: takes its parcels from the queue through the stages of `deliver/worker.ts`.

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

type OnTemplateFailed = (index: number, why: string) => void;

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

const startWorker = (channel: Channel, dependencies: WorkerDependencies) => {
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
  const places = createPlaces(options.concurrency);
  const senderTurns = createSenderTurns({
    reserve: (sender) => store.rateLimiter.reserve(sender, sender.rate),
    now,
  });
  const deliver = createDeliver({
    channel,
    compose: (parcel, format, at, storm) =>
      channel.compose(parcel, { sentAt: iso(at), format, presentation, ...(storm && { storm }) }),
    storms: { above: FEW, ...store.storms },
    ...(kindFacts(channel.kind).canBeDisabled ? { disabled } : {}),
    ledger,
    deadLetters: store.dead,
    destinationStats: store.destinationStats,
    sendSlots: createSendSlots({ rateLimiter: store.rateLimiter, paceOf, senderOf, senderTurns, now }),
    health,
    addressChanges: store.addressChanges,
    ...(isHuman(channel)
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
      places.note(event.destination.id, event);
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
    probeMs: ({ id }) => places.probeMs(id),
    maxAgeMs: options.retry.maxAge,
    now,
    random: Math.random,
  });
  const worker = queues.work(channel.kind, places, deliver, dependencies.onUnknownVersion);
  return {
    ...worker,
    stop: (graceMs: number) => {
      senderTurns.close();
      return worker.stop(graceMs);
    },
  };
};

// Composes `deliver`: hands its workers the channels, and what to do when a delivery failed or a destination recovered.

export interface OpenDelivery {
  config: Config;
  store: Store;
  channels: readonly Channel[];
  metrics: Metrics;
  log: Logger;
  scrub(text: string): string;
  dispatching: Pick<ReturnType<typeof openDispatch>, 'outageNotifier' | 'uncovered'> & {
    fallback: Pick<ReturnType<typeof openDispatch>['fallback'], 'onDead'>;
  };
  /** Called when a message was not accepted, other than a sample. */
  onRefused?(kind: ChannelKind): void;
  /** Called when a kind's token or mail server was refused, with its answer; with undefined when it works again. */
  onSender?(kind: ChannelKind, problem: string | undefined): void;
  /** Buttons of messages, and links. Default: they have none. */
  acknowledgement?: Pick<Acknowledgement, 'withButtons'> | undefined;
  onUnknownVersion(queue: string, version: string): void;
  /** Where the traces of alerts go. Default: nowhere. */
  tracing?: Tracing | undefined;
  /** A template of the config could not be rendered. Default: nothing. */
  onTemplateFailed?: OnTemplateFailed;
  now(): number;
}

/** A worker whose connection is dead never ends: then it is left. */
const REBUILD_GRACE_MS = 5000;

type Worker = ParcelWorker & { kind: ChannelKind };

export const openDelivery = (dependencies: OpenDelivery) => {
  const { config, store, channels, metrics, log, scrub, dispatching, onRefused, onSender, tracing, now } = dependencies;
  const { fallback, outageNotifier, uncovered } = dispatching;
  const report = createDeliveryReport({ log, metrics, ...(tracing && { traceIdOf }), now });
  let stopping = false;
  let workers: Worker[] = [];

  const workerDependencies = {
    config,
    store,
    log,
    scrub,
    onAttempt: (event: AttemptEvent) => {
      report(event);
      tracing?.attempted(event);
      if (event.outcome !== 'delivered' && !event.alerts.every(isSample)) onRefused?.(event.kind);
    },
    onSlotWait: (kind: ChannelKind, ms: number) => {
      metrics.slotWaits.inc({ kind });
      metrics.slotWaitSeconds.inc({ kind }, ms / 1000);
    },
    onDead: fallback.onDead,
    uncovered,
    onBroken: async (broken: Broken) => {
      if (broken.isSender) onSender?.(broken.destination.kind, broken.message);
      await outageNotifier.onBroken(broken);
    },
    onRecovered: async (recovered: Subject) => {
      if (recovered.isSender) onSender?.(recovered.destination.kind, undefined);
      await outageNotifier.onRecovered(recovered);
    },
    onMoved: outageNotifier.onMoved,
    acknowledgement: dependencies.acknowledgement,
    onUnknownVersion: dependencies.onUnknownVersion,
    onTemplateFailed: dependencies.onTemplateFailed,
    isStopping: () => stopping,
    now,
  };

  const endLeftKinds = createLeftKinds({
    ...store,
    kinds: CHANNEL_KINDS.filter((kind) => config.channels[kind] === undefined),
    deadLetters: store.dead,
    onDead: fallback.onDead,
    onAttempt: report,
    log,
    now,
  });

  const open = (channel: Channel): Worker => ({ kind: channel.kind, ...startWorker(channel, workerDependencies) });

  return {
    /** Ends what waits for channel kinds that the config does not set up; to be called often. */
    endLeftKinds,
    /** Starts the workers; gives the function that stops them. */
    start: (): ((graceMs: number) => Promise<void>) => {
      workers = channels.map(open);
      return async (graceMs) => {
        stopping = true;
        await Promise.all(workers.map((worker) => worker.stop(graceMs)));
      };
    },
    /** Starts a worker that takes nothing any more anew. What the old one still sends may end, as in a stop. */
    rebuild: async (kind: ChannelKind): Promise<void> => {
      const channel = channels.find((one) => one.kind === kind);
      const old = workers.find((worker) => worker.kind === kind);
      if (stopping || !channel || !old) return;
      workers = [...workers.filter((worker) => worker !== old), open(channel)];
      await Promise.race([old.stop(REBUILD_GRACE_MS), sleep(2 * REBUILD_GRACE_MS, undefined, { ref: false })]);
    },
    /** None before the start. */
    workers: (): readonly Worker[] => workers,
  };
};
