/**
 * PagerDuty's Events API v2, with the incidents that come of it. Source: https://developer.pagerduty.com/docs/send-alert-event
 * (fields and lengths, what `dedup_key` and the actions do) and https://developer.pagerduty.com/docs/events-api-v2-overview
 * (answers, 512 kB). That the alert of an open incident takes the newer summary: PagerDuty/pdpyras#45.
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject, JsonValue } from '../../json.ts';
import { anything, dateTime, list, map, object, objectIn, oneOf, type Rule, text, webUrl } from './rules.ts';
import {
  createVendorReceiver,
  type Vendor,
  type VendorOptions,
  type VendorReceiver,
  type VendorVerdict,
} from './vendor.ts';

interface PagerdutyIncident {
  key: string;
  state: 'triggered' | 'acknowledged' | 'resolved';
  /** That of its first event: it never changes. */
  title: string;
  /** Of its alert, by the last event. */
  summary: string;
  severity: string;
  /** How many events were triggered under its key while it was open. */
  triggers: number;
}

interface PagerdutyReceiver extends VendorReceiver {
  /** Where events go. */
  start(): Promise<{ url: string; port: number }>;
  /** All of them, the oldest first; each one that begins calls somebody. */
  incidents(): PagerdutyIncident[];
  /** Of incidents that are not resolved. */
  openKeys(): string[];
  /** As a person resolves it there. */
  resolve(key: string): void;
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

/** What becomes of incidents by events that were taken, in their order. */
const createIncidents = () => {
  const all: PagerdutyIncident[] = [];
  const openOf = (key: string) => all.find((one) => one.key === key && one.state !== 'resolved');

  const trigger = (key: string, { summary, severity }: JsonObject): void => {
    const said = { summary: String(summary), severity: String(severity) };
    const open = openOf(key);
    if (open) Object.assign(open, said, { triggers: open.triggers + 1 });
    else all.push({ key, state: 'triggered', title: said.summary, ...said, triggers: 1 });
  };

  /** What is not open stays as it is: the event is dropped. */
  const move = (key: string, state: PagerdutyIncident['state']): void => {
    const open = openOf(key);
    if (open) open.state = state;
  };

  return {
    list: () => all.map((one) => ({ ...one })),
    move,
    take: ({ event_action: action, payload }: JsonObject, key: string): void => {
      if (action === 'trigger') trigger(key, objectIn(payload));
      else move(key, action === 'resolve' ? 'resolved' : 'acknowledged');
    },
  };
};

export const createPagerdutyReceiver = (options: VendorOptions & { routingKey?: string } = {}): PagerdutyReceiver => {
  const { routingKey = 'R'.padEnd(32, '0') } = options;
  const incidents = createIncidents();

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
      const key = typeof event.dedup_key === 'string' ? event.dedup_key : randomUUID();
      incidents.take(event, key);
      return {
        problems: [],
        answer: { status: 202, body: { status: 'success', message: 'Event processed', dedup_key: key } },
      };
    },
  };

  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    incidents: incidents.list,
    openKeys: () => incidents.list().flatMap(({ key, state }) => (state === 'resolved' ? [] : [key])),
    resolve: (key) => incidents.move(key, 'resolved'),
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}/v2/enqueue` };
    },
  };
};
