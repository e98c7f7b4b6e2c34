/** A message of Tocsin itself as an alert: it is queued, recorded and retried like any other. */
import { type Alert, type Announcement, TOCSIN } from '../../alert.ts';
import { alertId } from '../../identity.ts';
import { iso } from '../../time.ts';

export interface AnnouncementInput {
  about: Announcement;
  /** Distinguishes announcements: the same key is the same announcement. */
  key: string;
  /** Plain text without secrets; the first line stands alone. */
  message: string;
}

export const announcementAlert = ({ about, key, message }: AnnouncementInput, now: number): Alert => {
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
    item: { message, createdAt: at },
    replay: false,
  };
};
