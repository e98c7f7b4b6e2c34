/** What will be sent without anybody's doing: what a job carries, and what is held until its destination is approved. */

import type { Store } from '../../app/store.ts';
import { createJobScan, type JobScan } from '../../queue/scan.ts';

export const createQueuedOrHeld = ({ redis, prefix, held }: Pick<Store, 'redis' | 'prefix' | 'held'>): JobScan => {
  const jobScan = createJobScan(redis, prefix);
  return {
    withoutJob: async (kind, deliveries) => {
      const loose: (typeof deliveries)[number][] = [];
      for (const [destination, all] of Map.groupBy(deliveries, (one) => one.destination)) {
        const ids = all.map(({ alert }) => alert);
        const waiting = await held.waiting(destination, ids);
        loose.push(...all.filter(({ alert }) => !waiting.has(alert)));
      }
      // Second: what is released meanwhile is in the queue before it is held no more.
      return jobScan.withoutJob(kind, loose);
    },
  };
};
