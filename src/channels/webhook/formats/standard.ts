/** The format of Tocsin's own: an alert as JSON, signed by Standard Webhooks. Pure. */
import { type Alert, type Destination, isAnnouncement, type JsonObject } from '../../../alert.ts';
import { chunksOf, mapSliced } from '../../../chunks.ts';
import { deliveryId, isScalar } from '../../../item.ts';
import { shorten } from '../../../text.ts';
import type { ComposeContext } from '../../channel.ts';
import { toMessage } from '../../incidents.ts';
import { type FormatModule, requestOf } from './format.ts';
import { outlineOf, shortOutline } from './outline.ts';

const PARTIAL_LIMIT = 500;

/** The short fields of an item, for a receiver that refused all of it: no lists, no objects, no long texts. */
const partialItem = (item: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(item)
      .filter(([, value]) => isScalar(value))
      .map(([key, value]) => [key, typeof value === 'string' ? shorten(value, PARTIAL_LIMIT) : value]),
  );

const itemName = (alert: Alert): string => {
  if (isAnnouncement(alert)) return 'announcement';
  return alert.source === 'notifications' ? 'notification' : 'inspection';
};

/** An alert as it is sent alone; `whole`: with everything that there is. What is undefined is not in the JSON. */
export const payloadOf = (
  alert: Alert,
  destination: Destination,
  whole: boolean,
  context: ComposeContext,
): { type: string; timestamp: string; data: object } => {
  const { outline } = outlineOf(alert, context);
  const { followUp, truncatedFrom } = alert;
  return {
    type: alert.type,
    timestamp: alert.at,
    data: {
      service: alert.service,
      protocol: alert.protocol,
      ...(whole ? outline : shortOutline(outline)),
      [itemName(alert)]: whole ? alert.item : partialItem(alert.item),
      replay: alert.replay,
      // The `webhook-id` of the first alert.
      followUp: followUp && { ...followUp, of: deliveryId(followUp.of, destination.id) },
      context: whole ? alert.context : undefined,
      notice: alert.notice,
      truncated: truncatedFrom === undefined ? undefined : { bytes: truncatedFrom },
      partial: whole ? undefined : true,
    },
  };
};

const latest = (alerts: readonly Alert[]): string =>
  alerts
    .map(({ at }) => at)
    .toSorted()
    .at(-1) ?? '';

/** The payload of one alert, or a batch of several. */
const contentOf = (
  alerts: readonly Alert[],
  destination: Destination,
  whole: boolean,
  context: ComposeContext,
): object => {
  const [first = {}, ...others] = alerts.map((alert) => payloadOf(alert, destination, whole, context));
  if (others.length === 0) return first;
  return { type: 'batch', timestamp: latest(alerts), data: { items: [first, ...others] } };
};

/**
 * One message for each alert, or a batch of up to `batch`. After a refusal the next format is smaller: the alerts of a
 * batch one by one, a single alert without lists and objects.
 */
export const standard: FormatModule = {
  contentType: 'application/json',
  isSigned: true,
  compose: ({ destination, alerts }, context, { batch }) => {
    const { format } = context;
    const whole = format === 'rich' || (format === 'plain' && batch > 1 && alerts.length > 1);
    return mapSliced(chunksOf(alerts, format === 'rich' ? batch : 1), (some) =>
      toMessage(destination, some, [requestOf(contentOf(some, destination, whole, context))], false),
    );
  },
};
