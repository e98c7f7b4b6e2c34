/** Composes `deliver`: hands its workers the channels, and what to do when a delivery failed or a destination recovered. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { CHANNEL_KINDS, type ChannelKind, isSample } from '../alert.ts';
import type { Channel } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Broken } from '../deliver/health.ts';
import type { AttemptEvent } from '../deliver/report.ts';
import { createLeftKinds } from '../features/housekeeping/left-kinds.ts';
import type { Subject } from '../ledger/outage-subject.ts';
import { createDeliveryReport } from '../ops/delivery-report.ts';
import type { Metrics } from '../ops/metrics.ts';
import { type Tracing, traceIdOf } from '../ops/tracing.ts';
import type { ParcelWorker } from '../queue/parcel-worker.ts';
import type { Acknowledgement } from './acknowledgement.ts';
import type { openDispatch } from './dispatch.ts';
import type { Store } from './store.ts';
import { type OnTemplateFailed, startWorker } from './workers.ts';

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
