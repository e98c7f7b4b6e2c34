/** Stage: what becomes of the job after a message: it goes on, or ends its run and is tried again. */
import type { Destination } from '../alert.ts';
import type { Message } from '../channels/channel.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/parcel-worker.ts';
import type { AddressChanges } from './address-changes.ts';
import { plainer } from './compose.ts';
import { noteDelivered, type RecordedDependencies } from './recorded.ts';
import type { SendSlots } from './send-slot.ts';
import { type MessageRun, type MessageStage, rerun, type SendResult } from './stage.ts';
import { ASK_AGAIN_MS } from './threads.ts';

export interface SettleDependencies extends RecordedDependencies {
  sendSlots: Pick<SendSlots, 'hold'>;
  addressChanges: AddressChanges;
  /** Counts digests in a row, without replays. Left out: none is counted. */
  storms?: { noteDigest(destination: Destination, alerts: number): Promise<void> };
  /** The destination has another address from now on. Default: nothing. */
  onMoved?(destination: Destination, address: string): Promise<void>;
  now(): number;
}

/** Between two address changes of one destination, after the first. */
const MOVE_AGAIN_MS = 60_000;

/** Another job sends some of the same alerts: its message ends within this, and then this job goes on with the rest. */
const REPEAT_MS = 5000;

export const afterRepeat = (job: ParcelJob, now: number): Verdict => rerun(now + REPEAT_MS, job);

/** A message that was refused as a whole is cut into this many parts: quarters find the refused alert soonest. */
const PARTS = 4;
const ALL = Number.MAX_SAFE_INTEGER;

/** More plainly; where no plainer format is left, in smaller parts, which closes in on the refused alert. */
const plainerOrSmaller = ({ run, job, message, unit }: MessageRun, now: number): Verdict | undefined => {
  const { alerts } = message;
  const format = plainer(unit.format);
  if (format === undefined) return rerun(now, { ...job, most: Math.ceil(alerts.length / PARTS) });
  run.units.push({ alerts, format });
  return undefined;
};

/** A wait that the provider named holds the whole destination; this job goes first when it is over. */
const retry = async (
  { job }: MessageRun,
  { delayMs, holdMs, unknownSince }: Extract<SendResult, { kind: 'retry' }>,
  { sendSlots, now }: SettleDependencies,
): Promise<Verdict> => {
  const charged = { ...job, attempt: job.attempt + 1, unknownSince };
  if (holdMs === 0) return rerun(now() + delayMs, charged);
  const slot = await sendSlots.hold(job.destination, now() + delayMs);
  return rerun(slot.at, { ...charged, slot });
};

/** Follows a new address at once the first time, and slowly after that: two addresses may point at each other. */
const follow = async (
  { job }: MessageRun,
  address: string,
  { addressChanges, onMoved, now }: SettleDependencies,
): Promise<Verdict> => {
  const { moves: times = 0, destination } = job;
  const known = await addressChanges.follow(destination);
  if (known.address !== address) await onMoved?.(destination, address);
  await addressChanges.note(destination, address);
  return rerun(now() + times * MOVE_AGAIN_MS, { ...job, moves: times + 1, destination: { ...destination, address } });
};

/** History that somebody replays is no storm. */
const noteDigest = ({ isDigest, destination, alerts }: Message, { storms }: SettleDependencies): void => {
  const news = alerts.filter(({ replay }) => !replay).length;
  if (isDigest && news > 0) void storms?.noteDigest(destination, news).catch(() => {});
};

export const settle: MessageStage<SettleDependencies> = (each, dependencies) => {
  const { job, message, unit, composedAt, result = { kind: 'stopping' } } = each;
  const { now } = dependencies;
  switch (result.kind) {
    case 'delivered':
      noteDigest(message, dependencies);
      return noteDelivered(each.run, result.isRepeat, dependencies).then((isRepeat) =>
        isRepeat ? afterRepeat(job, now()) : undefined,
      );
    case 'partial': {
      const progress = { id: message.id, format: unit.format, after: result.progress, at: composedAt };
      return rerun(now(), { ...job, progress });
    }
    case 'dead':
      // This was the refused alert: the others go on together.
      return job.most !== undefined && message.alerts.length === 1 ? rerun(now(), { ...job, most: ALL }) : undefined;
    case 'claimed':
      // When another job has changed the message that these alerts belong to, they can join it.
      return rerun(now() + ASK_AGAIN_MS, { ...job, yields: (job.yields ?? 0) + 1 });
    case 'stopping':
      return rerun(now(), job);
    case 'plainer':
      return plainerOrSmaller(each, now());
    case 'readdress':
      return follow(each, result.address, dependencies);
    case 'retry':
      return retry(each, result, dependencies);
  }
};
