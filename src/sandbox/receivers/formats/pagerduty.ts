/**
 * PagerDuty's Events API v2. Source: https://developer.pagerduty.com/docs/send-alert-event (fields and lengths, what
 * `dedup_key` does) and https://developer.pagerduty.com/docs/events-api-v2-overview (answers, 512 kB)
 */
import type { JsonObject, JsonValue } from '../../json.ts';
import { anything, dateTime, list, map, object, objectIn, oneOf, type Rule, text, webUrl } from './rules.ts';
import {
  createVendorReceiver,
  type Vendor,
  type VendorOptions,
  type VendorReceiver,
  type VendorVerdict,
} from './vendor.ts';

interface PagerdutyReceiver extends VendorReceiver {
  /** Where events go. */
  start(): Promise<{ url: string; port: number }>;
  /** Of alerts that were triggered and not resolved since. */
  openKeys(): string[];
}

const LARGEST_BYTES = 512_000;

const PAYLOAD = object(
  { summary: text({ max: 1024 }), source: text(), severity: oneOf('critical', 'error', 'warning', 'info') },
  { timestamp: dateTime, component: text(), group: text(), class: text(), custom_details: map(anything) },
);

const EVENT: Rule = object(
  { routing_key: text(), event_action: oneOf('trigger', 'acknowledge', 'resolve') },
  {
    dedup_key: text({ max: 255 }),
    payload: PAYLOAD,
    links: list(object({ href: webUrl }, { text: text() })),
    images: list(object({ src: webUrl }, { href: webUrl, alt: text() })),
    client: text(),
    client_url: webUrl,
  },
);

const invalid = (errors: readonly string[]): VendorVerdict => ({
  problems: errors,
  answer: { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors: [...errors] } },
});

/** What the fields ask of each other. */
const together = ({ event_action: action, payload, dedup_key: key }: JsonObject): string[] => [
  ...(action === 'trigger' && payload === undefined ? ["'payload' is missing or blank"] : []),
  ...(action !== 'trigger' && key === undefined ? ["'dedup_key' is missing or blank"] : []),
];

const keyErrors = (key: JsonValue | undefined, routingKey: string): string[] => {
  if (typeof key !== 'string') return ["'routing_key' is missing or blank"];
  if (key.length !== 32) return ["Length of 'routing_key' is incorrect (should be 32 characters)"];
  return key === routingKey ? [] : ["'routing_key' is invalid"];
};

export const createPagerdutyReceiver = (options: VendorOptions & { routingKey?: string } = {}): PagerdutyReceiver => {
  const { routingKey = 'R'.padEnd(32, '0') } = options;
  const open = new Set<string>();

  const vendor: Vendor = {
    contentType: /^application\/json\b/i,
    admit: ({ path }) => (path === '/v2/enqueue' ? undefined : { status: 404 }),
    malformed: { status: 400, body: { status: 'invalid event', message: 'Event object is invalid', errors: ['JSON'] } },
    limited: () => ({
      status: 429,
      body: { status: 'throttle exceeded', message: 'Requests for this service are arriving too quickly.' },
    }),
    judge: ({ body }, bytes) => {
      const event = objectIn(body);
      const errors = [...keyErrors(event.routing_key, routingKey), ...EVENT(body, 'event'), ...together(event)];
      if (bytes > LARGEST_BYTES) errors.push('the event is larger than 512 kB');
      if (errors.length > 0) return invalid(errors);
      const key = String(event.dedup_key);
      if (event.event_action === 'trigger') open.add(key);
      if (event.event_action === 'resolve') open.delete(key);
      return {
        problems: [],
        answer: { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: key } },
      };
    },
  };

  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    openKeys: () => [...open],
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}/v2/enqueue` };
    },
  };
};
