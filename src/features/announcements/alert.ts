/** A message of Tocsin itself as an alert: it is queued, recorded and retried like any other. */
import { type Alert, type Announcement, type JsonObject, TOCSIN } from '../../alert.ts';
import { type AnnouncementText, commandsIn } from '../../announcement.ts';
import { alertId } from '../../identity.ts';
import { iso } from '../../time.ts';

export interface AnnouncementInput extends AnnouncementText {
  about: Announcement;
  /** Distinguishes announcements: the same key is the same announcement. */
  key: string;
  /** The alert that it is about, below whose message it is sent, and the transaction. */
  of?: Pick<Alert, 'id' | 'txHash'>;
}

/** Beside the whole text, for those who render more than a text. An older daemon sends the text. */
const partsOf = ({ message, lead, listed = [] }: AnnouncementText): JsonObject => {
  const steps = commandsIn(message);
  return {
    ...(steps.length === 0 ? {} : { steps }),
    ...(lead === undefined || listed.length === 0 ? {} : { lead, listed: listed.map((one) => ({ ...one })) }),
  };
};

export const announcementAlert = (input: AnnouncementInput, now: number): Alert => {
  const { about, key, message, of } = input;
  const at = iso(now);
  const itemId = `${about} ${key}`;
  return {
    id: alertId(TOCSIN, 'notifications', itemId),
    source: 'notifications',
    service: TOCSIN,
    protocol: TOCSIN,
    type: `tocsin.${about}`,
    itemId,
    at,
    readAt: at,
    ...(of === undefined ? {} : { below: of.id }),
    ...(of?.txHash === undefined ? {} : { txHash: of.txHash }),
    item: { message, createdAt: at, ...partsOf(input) },
    replay: false,
  };
};
