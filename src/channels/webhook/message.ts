/** An alert as a webhook's JSON. Pure. */
import { type Alert, type Destination, deliveryId, type JsonObject, type JsonValue, type Parcel } from '../../alert.ts';
import type { Chains } from '../chains.ts';
import type { ComposeContext, Format, Message } from '../channel.ts';
import { alertLink } from '../content.ts';
import { shorten } from '../text.ts';

const PARTIAL_LIMIT = 500;

const isScalar = (value: JsonValue): boolean => typeof value !== 'object' || value === null;

/** What tells an item apart, for a receiver that refused the whole: its own fields without lists and objects, none long. */
const partialItem = (item: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([, value]) => isScalar(value))
      .map(([key, value]) => [key, typeof value === 'string' ? shorten(value, PARTIAL_LIMIT) : value]),
  );

/** `of` is the `webhook-id` that the first alert came under. */
const followUpOf = ({ followUp }: Alert, destination: Destination): JsonObject =>
  followUp === undefined ? {} : { followUp: { ...followUp, of: deliveryId(followUp.of, destination.id) } };

const payloadOf = (alert: Alert, destination: Destination, format: Format, chains: Chains): JsonObject => {
  const whole = format === 'rich';
  const transaction = alertLink(alert, chains);
  return {
    type: alert.type,
    timestamp: alert.at,
    data: {
      service: alert.service,
      protocol: alert.protocol,
      [alert.source === 'notifications' ? 'notification' : 'inspection']: whole ? alert.item : partialItem(alert.item),
      links: transaction === undefined ? {} : { transaction },
      replay: alert.replay,
      ...followUpOf(alert, destination),
      ...(whole ? {} : { partial: true }),
    },
  };
};

/** One message an alert; the body is the exact text that is signed and sent. */
export const composeWebhook = (
  { destination, alerts }: Parcel,
  { format, chains }: ComposeContext,
): Message<string>[] =>
  alerts.map((alert) => ({
    destination,
    alerts: [alert],
    id: deliveryId(alert.id, destination.id),
    body: JSON.stringify(payloadOf(alert, destination, format, chains)),
  }));
