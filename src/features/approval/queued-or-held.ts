/** What will be sent without anybody's doing: what a job carries, and what is held until its destination is approved. */

import type { Store } from '../../app/store.ts';
import { createInventory, type Inventory } from '../../queue/scan.ts';

export const createCarried = ({ redis, prefix, held }: Pick<Store, 'redis' | 'prefix' | 'held'>): Inventory => {
  const inventory = createInventory(redis, prefix);
  return {
    uncarried: async (kind, deliveries) => {
      const loose: (typeof deliveries)[number][] = [];
      for (const [destination, all] of Map.groupBy(deliveries, (one) => one.destination)) {
        const ids = all.map(({ alert }) => alert);
        const waiting = await held.waiting(destination, ids);
        loose.push(...all.filter(({ alert }) => !waiting.has(alert)));
      }
      // Second: what is released meanwhile is in the queue before it is held no more.
      return inventory.uncarried(kind, loose);
    },
  };
};
