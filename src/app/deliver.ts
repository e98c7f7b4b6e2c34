/** Composes `deliver`: a worker for each channel kind, and what to do when a delivery failed or a destination recovered. */

import { CHANNEL_KINDS, type ChannelKind, type Destination, isSample } from '../alert.ts';
import type { Channel } from '../channels/channel.ts';
import { createPresentation } from '../channels/content/presentation.ts';
import { createTemplates } from '../channels/content/template.ts';
import { FEW, planOf } from '../channels/incidents.ts';
import { kindFacts, pacingOf, readerAt } from '../channels/registry.ts';
import type { Config } from '../config/schema.ts';
import { createDestinationHealth } from '../deliver/health.ts';
import { createSenderTurns, createSendSlots } from '../deliver/send-slot.ts';
import { createThreadStore } from '../deliver/thread-store.ts';
import { createThreads } from '../deliver/threads.ts';
import { createDeliver } from '../deliver/worker.ts';
import { createLeftKinds } from '../features/housekeeping/housekeeping.ts';
import { createClosing } from '../features/recheck/closing.ts';
import { createSentInspections } from '../ledger/sent-inspections.ts';
import { createDeliveryReport } from '../ops/delivery-report.ts';
import { traceIdOf } from '../ops/tracing.ts';
import type { ParcelWorker } from '../queue/parcel-worker.ts';
import { createPlaces } from '../queue/places.ts';
import { iso } from '../time.ts';
import { endedWithin } from '../waiting.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import type { Shared } from './context.ts';
import type { Dispatching } from './dispatch.ts';

interface OpenDelivery {
  channels: readonly Channel[];
  dispatching: Pick<Dispatching, 'uncovered'> & {
    outageNotifier: Omit<Dispatching['outageNotifier'], 'complete'>;
    fallback: Pick<Dispatching['fallback'], 'onDead'>;
  };
  /** Buttons of messages, and links. Default: they have none. */
  acknowledgement?: Pick<Acknowledgement, 'withButtons'> | undefined;
  /** Called when a message was not accepted, other than a sample. */
  onRefused?(kind: ChannelKind): void;
  /** Called when a kind's token or mail server was refused, with its answer; with undefined when it works again. */
  onSender?(kind: ChannelKind, problem: string | undefined): void;
  /** A job of a version that this daemon does not know has come up, and stays. */
  onUnknownVersion(queue: string, version: string): void;
  /** The worker of a kind asks for a job, or begins one. Default: nobody hears of it. */
  onTurn?(kind: ChannelKind): void;
  /** A template of the config, by its place in it from 0, could not be rendered. Default: nothing. */
  onTemplateFailed?(index: number, why: string): void;
}

interface WorkerSettings extends Shared, OpenDelivery {
  onAttempt: Parameters<typeof createDeliver>[0]['onAttempt'];
  isStopping(): boolean;
}

const VERIFY_MS = 5000;

/** After the last second look its follow-up may have to wait. */
const LATE_MS = 900_000;

const keptForReassessment = ({ alerts: { secondLook } }: Config): number =>
  secondLook.length === 0 ? 0 : Math.max(...secondLook) + LATE_MS;

/** The worker of one channel kind: takes its parcels from the queue through the stages of `deliver/worker.ts`. */
const startWorker = (channel: Channel, settings: WorkerSettings) => {
  const { config, store, metrics, scrub, dispatching, onAttempt, onSender, isStopping, log, now } = settings;
  const { fallback, outageNotifier, uncovered } = dispatching;
  const { ledger, disabled, batches, queues } = store;
  const { withButtons } = settings.acknowledgement ?? {};
  const options = config.channels[channel.kind];
  if (!options) throw new Error(`the channel kind '${channel.kind}' is open but not configured`);
  const { paceOf, senderOf, groupWaitMs } = pacingOf(options);
  const health = createDestinationHealth({
    circuits: store.circuits,
    senderOf,
    isSenders: async () => (await channel.isSenderFailure?.(AbortSignal.timeout(VERIFY_MS))) ?? true,
    onBroken: async (broken) => {
      if (broken.isSender) onSender?.(broken.destination.kind, broken.message);
      await outageNotifier.onBroken(broken);
    },
    onRecovered: async (recovered) => {
      if (recovered.isSender) onSender?.(recovered.destination.kind, undefined);
      await outageNotifier.onRecovered(recovered);
    },
  });
  const presentation = createPresentation(
    config,
    createTemplates(config.templates, {
      kind: channel.kind,
      onFailed: (index, why) => settings.onTemplateFailed?.(index, why),
    }),
  );
  const sentInspectionsOf = createSentInspections(ledger);
  const keepsIncidents = ({ address }: Destination): boolean => readerAt(channel, address) === 'incidents';
  const places = createPlaces(options.concurrency);
  const senderTurns = createSenderTurns({
    reserve: (sender) => store.rateLimiter.reserve(sender, sender.rate),
    now,
  });
  const deliver = createDeliver({
    channel,
    compose: (parcel, format, at, more) => channel.compose(parcel, { sentAt: iso(at), format, presentation, ...more }),
    sentInspections: async (destination, alerts) =>
      keepsIncidents(destination) ? sentInspectionsOf(destination, alerts) : undefined,
    isDigest: (alerts) => planOf(alerts).some(({ as }) => as === 'digest'),
    storms: { above: FEW, ...store.storms },
    ...(kindFacts(channel.kind).canBeDisabled ? { disabled } : {}),
    ledger,
    deadLetters: store.dead,
    destinationStats: store.destinationStats,
    sendSlots: createSendSlots({ rateLimiter: store.rateLimiter, paceOf, senderOf, senderTurns, now }),
    health,
    addressChanges: store.addressChanges,
    isForPeople: ({ address }) => readerAt(channel, address) === 'people',
    batching: { batches, enqueueBatch: queues.enqueueBatch, groupWaitMs },
    threads: createThreads(createThreadStore(store.redis, store.prefix), ledger, {
      windowMs: config.alerts.incidentWindow,
      keepMs: channel.amend === undefined ? 0 : keptForReassessment(config),
      replyWithinMs: options.retry.maxAge,
      acknowledgedAt: store.acknowledgements.lastAt,
      now,
    }),
    canAmend: channel.amend !== undefined,
    givesHandle: (address) => channel.givesHandle?.(address) ?? false,
    uncovered,
    waiting: ledger.waiting,
    ...(withButtons && { withButtons: withButtons(channel), unacknowledged: store.escalations.unacknowledged }),
    onAttempt: (event) => {
      places.note(event.destination.id, event);
      onAttempt(event);
    },
    onSlotWait: (ms) => {
      metrics.slotWaits.inc({ kind: channel.kind });
      metrics.slotWaitSeconds.inc({ kind: channel.kind }, ms / 1000);
    },
    onDead: fallback.onDead,
    onDied: createClosing({
      ...{ ledger, sentInspections: sentInspectionsOf, keepsIncidents, log, now },
      enqueue: queues.enqueue,
    }),
    onDisabled: disabled.disable,
    onAfterwards: ({ kind, id }, what, why) => {
      const isChange = 'of' in what;
      const outcome = why === undefined ? 'delivered' : 'dead';
      metrics.afterwards.inc({ kind, what: isChange ? 'assessment' : 'reply', outcome });
      if (why === undefined) return;
      log.warn(
        { kind, destination: id, ...what, message: scrub(why) },
        isChange ? 'the message above a follow-up was not changed' : 'nobody was called by a reply when a message grew',
      );
    },
    onMoved: outageNotifier.onMoved,
    scrub,
    isStopping,
    timeoutMs: options.timeout,
    concurrency: options.concurrency,
    probeMs: ({ id }) => places.probeMs(id),
    maxAgeMs: options.retry.maxAge,
    now,
    random: Math.random,
  });
  const worker = queues.work(channel.kind, places, deliver, settings.onUnknownVersion, () =>
    settings.onTurn?.(channel.kind),
  );
  return {
    ...worker,
    stop: (graceMs: number) => {
      senderTurns.close();
      return worker.stop(graceMs);
    },
  };
};

/** A worker whose connection is dead never ends: then it is left. */
const REBUILD_GRACE_MS = 5000;

type Worker = ParcelWorker & { kind: ChannelKind };

export type Delivering = ReturnType<typeof openDelivery>;

export const openDelivery = (shared: Shared, parts: OpenDelivery) => {
  const { config, store, metrics, log, tracing, now } = shared;
  const { channels, dispatching, onRefused } = parts;
  const report = createDeliveryReport({ log, metrics, ...(tracing && { traceIdOf }), now });
  let stopping = false;
  let workers: Worker[] = [];

  const settings: WorkerSettings = {
    ...shared,
    ...parts,
    onAttempt: (event) => {
      report(event);
      tracing?.attempted(event);
      if (event.outcome !== 'delivered' && !event.alerts.every(isSample)) onRefused?.(event.kind);
    },
    isStopping: () => stopping,
  };

  const endLeftKinds = createLeftKinds({
    ...store,
    kinds: CHANNEL_KINDS.filter((kind) => config.channels[kind] === undefined),
    deadLetters: store.dead,
    onDead: dispatching.fallback.onDead,
    onAttempt: report,
    log,
    now,
  });

  const open = (channel: Channel): Worker => ({ kind: channel.kind, ...startWorker(channel, settings) });

  return {
    /** Ends what waits for channel kinds that the config does not set up; to be called often. */
    endLeftKinds,
    start: (): ((graceMs: number) => Promise<void>) => {
      workers = channels.map(open);
      return async (graceMs) => {
        stopping = true;
        await Promise.all(workers.map((worker) => worker.stop(graceMs)));
      };
    },
    /** Starts another worker for one that takes nothing any more. What the old one still sends may end, as in a stop. */
    rebuild: async (kind: ChannelKind): Promise<void> => {
      const channel = channels.find((one) => one.kind === kind);
      const old = workers.find((worker) => worker.kind === kind);
      if (stopping || !channel || !old) return;
      workers = [...workers.filter((worker) => worker !== old), open(channel)];
      await endedWithin(old.stop(REBUILD_GRACE_MS), 2 * REBUILD_GRACE_MS);
    },
    /** None before the start. */
    workers: (): readonly Worker[] => workers,
  };
};
