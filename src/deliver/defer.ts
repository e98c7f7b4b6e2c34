/** What keeps a job from sending now, and how it waits: gathered with others, or by itself until a given time. */
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { BatchStore } from '../queue/batch-store.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Verdict } from '../queue/queues.ts';
import type { AddressChanges } from './address-changes.ts';
import type { DestinationHealth } from './health.ts';
import type { createSendSlots } from './send-slot.ts';

export interface DeferralDependencies {
  ledger: Pick<Ledger, 'pending'>;
  turns: ReturnType<typeof createSendSlots>;
  health: Pick<DestinationHealth, 'pausedUntil' | 'admit'>;
  moves: AddressChanges;
  /** A kind that people read: what cannot be sent now is gathered. Left out: every parcel waits by itself. */
  gathering?: {
    batches: BatchStore;
    /** Queues the job that will tell what is gathered; the same however often. */
    enqueue(destination: Destination, gathering: number): Promise<void>;
  };
  /** Those of `alerts` that no other alert has told there meanwhile; the others are accounted for. Default: all. */
  uncovered?(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Milliseconds after the first try at which a delivery is given up. */
  maxAgeMs: number;
  /** The daemon is going down: no further message is begun, and what is left waits in the queue. Default: never. */
  isStopping?(): boolean;
  now(): number;
}

/** What waits longer than this is frozen: alerts of a day must not end together with the oldest of them. */
const GATHER_MS = 3_600_000;

export const DONE: Verdict = { done: true };

export const rerun = (runAt: number, data: ParcelJob): Verdict => ({ done: false, runAt, data });

/** Nothing of it was tried, and no turn is reserved for it. */
export const isFresh = ({ attempt, moves, slot, gathering, format, progress }: ParcelJob): boolean =>
  attempt === 0 &&
  progress === undefined &&
  moves === undefined &&
  slot === undefined &&
  gathering === undefined &&
  format === 'rich';

export const createDeferral = (dependencies: DeferralDependencies) => {
  const { ledger, turns, health, moves, gathering, now } = dependencies;
  const { isStopping = () => false } = dependencies;

  /** What of a job has still to be told. */
  const alertsOf = async ({ destination, alerts, gathering: number, unlessTold }: ParcelJob): Promise<Alert[]> => {
    const all = number === undefined || !gathering ? alerts : await gathering.batches.seal(destination, number);
    const pending = await ledger.pending(destination, all);
    return unlessTold && dependencies.uncovered ? dependencies.uncovered(destination, pending) : pending;
  };

  /** What cannot be sent now joins what waits already. */
  const gather = async (
    { batches, enqueue }: NonNullable<typeof gathering>,
    job: ParcelJob,
    known?: readonly Alert[],
  ): Promise<Verdict> => {
    const alerts = known ?? (await alertsOf(job));
    if (alerts.length > 0) await enqueue(job.destination, await batches.add(job.destination, alerts));
    return DONE;
  };

  /** Until when a destination takes nothing. What is too old for another wait gets its last try instead: only that can end it. */
  const unlessOld = async (
    { destination, firstTriedAt = now() }: ParcelJob,
    ask: DestinationHealth['admit'],
  ): Promise<number | undefined> => (now() - firstTriedAt > dependencies.maxAgeMs ? undefined : ask(destination));

  /** Waits for a destination that does not work now. */
  const pause = async (job: ParcelJob, until: number, known?: readonly Alert[]): Promise<Verdict> => {
    const { firstTriedAt = now(), destination } = job;
    if (gathering && isFresh(job)) return gather(gathering, job, known);
    if (job.gathering !== undefined && now() - firstTriedAt > GATHER_MS) {
      await gathering?.batches.seal(destination, job.gathering);
    }
    return rerun(until, { ...job, firstTriedAt });
  };

  /** Everything that is asked before anything is composed, in one go: each trip to Redis makes an alert later. */
  const lookUp = async (queued: ParcelJob) => {
    const [destination, pausedUntil, hasOpenBatch, alerts] = await Promise.all([
      moves.follow(queued.destination),
      unlessOld(queued, health.pausedUntil),
      gathering && isFresh(queued) ? gathering.batches.hasOpenBatch(queued.destination) : false,
      queued.gathering === undefined ? alertsOf(queued) : undefined,
    ]);
    return { job: { ...queued, destination }, pausedUntil, hasOpenBatch, alerts };
  };

  /** Until its turn comes a gathering takes in what else there is. */
  const waitForTurn = async (job: ParcelJob): Promise<Verdict | undefined> => {
    const turn = await turns.next(job, false);
    if (turn !== 'busy' && !turn.isNow) return rerun(turn.runAt, turn.data);
    if (turn !== 'busy') Object.assign(job, turn.data);
    return undefined;
  };

  /** What keeps a message from being sent now: our own end, its turn, or a destination that takes nothing. */
  const defer = async (job: ParcelJob, mayGather: boolean): Promise<Verdict | undefined> => {
    if (isStopping()) return rerun(now(), job);
    const turn = await turns.next(job, mayGather);
    if (turn === 'busy') return gathering && gather(gathering, job);
    if (!turn.isNow) return rerun(turn.runAt, turn.data);
    const pausedUntil = await unlessOld(job, health.admit);
    return pausedUntil === undefined ? undefined : pause(mayGather ? job : turn.data, pausedUntil);
  };

  return {
    defer,
    /** What a job has to tell now, and to which address; or what it waits for. */
    ready: async (queued: ParcelJob): Promise<Verdict | { job: ParcelJob; alerts: readonly Alert[] }> => {
      const { job, pausedUntil, hasOpenBatch, alerts } = await lookUp(queued);
      if (pausedUntil !== undefined) return pause(job, pausedUntil, alerts);
      if (gathering && hasOpenBatch) return gather(gathering, job, alerts);
      const wait = job.gathering === undefined ? undefined : await waitForTurn(job);
      return wait ?? { job, alerts: alerts ?? (await alertsOf(job)) };
    },
  };
};
