/** The two item lists as one: pages of items to poll, with an identity for those that carry none. */
import { contentId, type Item, type ItemPage } from '../alert.ts';
import type { ServiceClient } from './client.ts';
import type { ServiceClock } from './clock.ts';
import { type PageNumbering, walkPages } from './paginate.ts';
import { type Assessment, type Inspection, type Notification, notificationId, type Page } from './wire.ts';

export interface FeedSettings {
  /** Asked of the service where it is a single one; the reader filters in any case. */
  assessment?: Assessment;
}

export interface Feed {
  /** Inspections of one protocol dated after `since` (epoch milliseconds), page by page, oldest first if the service sorts. */
  inspections(protocol: string, since: number, signal: AbortSignal): AsyncGenerator<ItemPage>;
  /** Notifications of several protocols, likewise. */
  notifications(protocols: readonly string[], since: number, signal: AbortSignal): AsyncGenerator<ItemPage>;
}

/** An inspection as an item to poll. */
export const fromInspection = ({ id, protocol, assessment, txHash, dates, raw }: Inspection): Item => ({
  source: 'inspections',
  protocol,
  itemId: id,
  assessment,
  ...(txHash === undefined ? {} : { txHash }),
  dates,
  raw,
});

const fromNotification = (notification: Notification, itemId: string): Item => ({
  source: 'notifications',
  protocol: notification.protocol,
  itemId,
  dates: notification.dates,
  raw: notification.raw,
});

/** Equal notifications on one page are different ones: the second of them is told apart by its number. */
const fromNotifications = (notifications: readonly Notification[]): Item[] => {
  const times = new Map<string, number>();
  return notifications.map((notification) => {
    const base = notificationId(notification);
    const time = (times.get(base) ?? 0) + 1;
    times.set(base, time);
    return fromNotification(notification, time === 1 ? base : contentId(base, String(time)));
  });
};

export const createFeed = (client: ServiceClient, clock: ServiceClock, { assessment }: FeedSettings): Feed => {
  const numbering = { inspections: {} as PageNumbering, notifications: {} as PageNumbering };
  const toItems = <T>(page: Page<T>, convert: (items: T[]) => Item[]): Page<Item> => {
    clock.observe(page.serverTime);
    return { ...page, items: convert(page.items) };
  };

  const identify = ({ itemId }: Item): string => itemId;

  return {
    inspections: (protocol, since, signal) => {
      const query = { protocol, status: assessment, startDate: since, sort: 'asc' } as const;
      return walkPages(
        async (pageNumber) =>
          toItems(await client.listInspections({ ...query, pageNumber }, signal), (items) => items.map(fromInspection)),
        identify,
        { numbering: numbering.inspections },
      );
    },
    notifications: (protocols, since, signal) => {
      const query = { protocols, startDate: since, sort: 'asc' } as const;
      return walkPages(
        async (pageNumber) =>
          toItems(await client.listNotifications({ ...query, pageNumber }, signal), fromNotifications),
        identify,
        { numbering: numbering.notifications },
      );
    },
  };
};
