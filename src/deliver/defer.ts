/** Stage: a message waits where the daemon stops, where its send slot has not come, and while a circuit is open. */
import type { Ledger } from '../ledger/ledger.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import { joinBatch } from './batch.ts';
import { type CorrelateDependencies, uncoveredOf } from './correlate.ts';
import type { DestinationHealth } from './health.ts';
import { type LastTryDependencies, type PauseDependencies, unlessLastTry, waitUntil } from './pause.ts';
import type { SendSlots } from './send-slot.ts';
import { isFresh, type MessageRun, type MessageStage, rerun } from './stage.ts';

export interface DeferDependencies extends CorrelateDependencies, LastTryDependencies, PauseDependencies {
  sendSlots: Pick<SendSlots, 'reserve' | 'take'>;
  health: Pick<DestinationHealth, 'admit'>;
  ledger: Pick<Ledger, 'pending'>;
  /** A message waits so many milliseconds for its rate limit. Default: nothing. */
  onSlotWait?(ms: number): void;
  /** The daemon is stopping: it begins no further message, and what is left stays in the queue. Default: never. */
  isStopping?(): boolean;
}

/** What is left of the job joins the batch: some of it may have been sent since `look-up`. */
const joinWithRest = async (
  { job }: MessageRun,
  batching: NonNullable<DeferDependencies['batching']>,
  dependencies: DeferDependencies,
): Promise<Verdict> => {
  const pending = await dependencies.ledger.pending(job.destination, job.alerts);
  return joinBatch(job.destination, await uncoveredOf(job, pending, dependencies), batching);
};

/** The message is sent now: its slots are used, and only this message goes on after the part that was sent last. */
const begin = (each: MessageRun, now: number): void => {
  const { slot: _slot, senderSlot: _senderSlot, ticket: _ticket, progress, ...job } = each.run.job;
  const isGoingOn = progress?.id === each.message.id && progress.format === each.unit.format;
  each.run.job = { ...job, firstTriedAt: job.firstTriedAt ?? now };
  each.job = { ...each.run.job, format: each.job.format, ...(isGoingOn ? { progress } : {}) };
};

export const defer: MessageStage<DeferDependencies> = async (each, dependencies) => {
  const { sendSlots, health, batching, onSlotWait = () => {}, isStopping = () => false, now } = dependencies;
  const { job, run } = each;
  if (isStopping()) return rerun(now(), job);
  // A refused message must not join a batch as if it were new: the same body would go out again.
  const mayJoin = isFresh(job) && run.units.length === 0 ? batching : undefined;
  const slot = mayJoin ? await sendSlots.take(job) : await sendSlots.reserve(job);
  if (slot === undefined) return mayJoin && joinWithRest(each, mayJoin, dependencies);
  if (!slot.isNow) {
    onSlotWait(Math.max(0, slot.runAt - now()));
    return rerun(slot.runAt, slot.data);
  }
  const pausedUntil = await unlessLastTry(job, dependencies, health.admit);
  if (pausedUntil === undefined) {
    begin(each, now());
    return undefined;
  }
  return mayJoin ? joinWithRest(each, mayJoin, dependencies) : waitUntil(pausedUntil, slot.data, dependencies);
};
