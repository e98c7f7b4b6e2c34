/** Ends a sample that nobody waits for any more: it must not arrive hours later, when it frightens people. */
import type { Parcel } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { parcelJobId } from '../../queue/job.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { iso } from '../../time.ts';

export interface CancelSampleDependencies {
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  queues: Pick<ParcelQueues, 'remove'>;
  now(): number;
}

const MESSAGE = 'whoever sent this test has stopped waiting for it';

/**
 * Gives the ids of the destinations that get nothing more. The ledger decides: a job that runs later finds nothing to
 * send. A request that is under way may still arrive.
 */
export const createCancelSample =
  ({ ledger, queues, now }: CancelSampleDependencies) =>
  async (parcels: readonly Parcel[]): Promise<Set<string>> => {
    const cancelled = new Set<string>();
    for (const parcel of parcels) {
      const { destination, alerts } = parcel;
      const waiting = await ledger.pending(destination, alerts);
      if (waiting.length === 0) continue;
      const attempt = {
        at: iso(now()),
        outcome: 'dead',
        durationMs: 0,
        reason: 'cancelled',
        message: MESSAGE,
      } as const;
      const found = await ledger.recordAttempt(destination, waiting, { state: 'dead', attempt });
      if (!found.includes('delivered')) cancelled.add(destination.id);
      await queues.remove(destination.kind, parcelJobId(parcel));
    }
    return cancelled;
  };
