/** Deliveries that have a queued job or an approval hold: they are sent without anybody's help, or once approved. */
import type { JobScan } from '../../queue/scan.ts';
import type { ApprovalStore } from './store.ts';

interface QueuedOrHeldDependencies {
  jobScan: JobScan;
  held: Pick<ApprovalStore, 'waiting'>;
}

export const createQueuedOrHeld = ({ jobScan, held }: QueuedOrHeldDependencies): JobScan => ({
  withoutJob: async (kind, deliveries) => {
    const notHeld: (typeof deliveries)[number][] = [];
    for (const [destination, all] of Map.groupBy(deliveries, (one) => one.destination)) {
      const ids = all.map(({ alert }) => alert);
      const waiting = await held.waiting(destination, ids);
      notHeld.push(...all.filter(({ alert }) => !waiting.has(alert)));
    }
    // The queue is asked second: an alert that is released meanwhile is queued before it leaves the hold.
    return jobScan.withoutJob(kind, notHeld);
  },
});
