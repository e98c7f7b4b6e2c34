/** Puts what Tocsin itself has to say on its way: booked and tried again like any alert, and told once to each. */
import type { Alert, Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { type AnnouncementInput, announcementAlert } from './alert.ts';
import { createEnqueueOnce } from './enqueue-once.ts';

export const createAnnounce = ({ ledger, queues }: Pick<Store, 'ledger' | 'queues'>) => {
  const send = createEnqueueOnce({ ledger, enqueue: queues.enqueue });

  /** `at`: epoch milliseconds. Durable when it resolves; gives the announcement's id. */
  return async (said: AnnouncementInput, at: number, destinations: readonly Destination[]): Promise<Alert['id']> => {
    const alert = announcementAlert(said, at);
    await send(toParcels([{ alert, destinations }]), 'announcement');
    return alert.id;
  };
};
