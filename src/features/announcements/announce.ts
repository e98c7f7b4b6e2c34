/** Sends a message of Tocsin itself, once to each destination. */
import type { Alert, Destination } from '../../alert.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { type AnnouncementInput, announcementAlert } from './alert.ts';
import type { EnqueueOnce } from './enqueue-once.ts';

/** `at`: epoch milliseconds. Durable when it resolves; gives the announcement's id. */
export type Announce = (
  announcement: AnnouncementInput,
  at: number,
  destinations: readonly Destination[],
) => Promise<Alert['id']>;

export const createAnnounce =
  (enqueueOnce: EnqueueOnce): Announce =>
  async (announcement, at, destinations) => {
    const alert = announcementAlert(announcement, at);
    await enqueueOnce(toParcels([{ alert, destinations }]), 'announcement');
    return alert.id;
  };
