/** `tocsin notifications`: the messages that the service stored. */
import { type Notification, notificationId, type Page } from '../service/wire.ts';
import { type CommandContext, EXIT, type ExitCode } from './context.ts';
import { type PeriodOptions, periodOf } from './inspection-filter.ts';
import { timeText } from './item-text.ts';
import { limitOf, pageSizeFor, printListing } from './listing.ts';
import { type ServiceOptions, withServices } from './services.ts';
import { renderTable } from './table.ts';

interface NotificationOptions extends ServiceOptions, PeriodOptions {
  /** Commander demands at least one. */
  protocol: string[];
  limit?: string;
  all?: boolean;
}

interface Stored {
  notification: Notification;
  /** Equal messages of one page are different ones. */
  key: string;
}

const numbered = (page: Page<Notification>): Page<Stored> => {
  const times = new Map<string, number>();
  const items = page.items.map((notification) => {
    const id = notificationId(notification);
    const time = (times.get(id) ?? 0) + 1;
    times.set(id, time);
    return { notification, key: `${id} ${time}` };
  });
  return { ...page, items };
};

const renderNotifications = (stored: readonly Stored[], width: number | undefined): string =>
  renderTable(
    stored,
    [
      { head: 'stored (UTC)', cell: ({ notification }) => timeText(notification.dates.createdAt) },
      { head: 'protocol', shrinks: true, cell: ({ notification }) => notification.protocol },
    ],
    { width, below: ({ notification }) => [notification.message] },
  );

export const notifications = async (options: NotificationOptions, context: CommandContext): Promise<ExitCode> => {
  const limit = limitOf(options);
  const period = periodOf(options, Date.now());
  const protocols = [...new Set(options.protocol)];
  return await withServices(options, context, async (services) => {
    const { client, pageSize } = await services.listing(protocols);
    const size = pageSizeFor(limit, pageSize);
    const query = { protocols, ...period, sort: period.sort ?? 'dsc', pageSize: size } as const;
    await printListing<Stored>(
      {
        what: 'notifications',
        fetchPage: async (pageNumber) =>
          numbered(await client.listNotifications({ ...query, pageNumber }, context.signal)),
        identify: ({ key }) => key,
        rawOf: ({ notification }) => notification.raw,
        render: (found) => renderNotifications(found, context.width),
      },
      { json: options.json === true, limit },
      context,
    );
    return EXIT.done;
  });
};
