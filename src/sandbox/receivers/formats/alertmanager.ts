/**
 * Prometheus Alertmanager's API v2. Source: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml (the
 * body), .../api/v2/api.go (dates that are left out, answers) and .../alert/alert.go (how a repetition is merged)
 */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';
import { dateTime, list, map, object, type Rule, text, webUrl } from './rules.ts';
import { createVendorReceiver, secondsIn, type Vendor, type VendorOptions, type VendorReceiver } from './vendor.ts';

interface StoredAlert {
  labels: JsonObject;
  startsAt: number;
  endsAt: number;
}

interface AlertmanagerReceiver extends VendorReceiver {
  /** Labels of the alerts that fire at a time in epoch milliseconds. */
  firingAt(time: number): JsonObject[];
}

const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const LABELS: Rule = map(text({ min: 0 }), LABEL_NAME);

const ALERTS: Rule = list(
  object({ labels: LABELS }, { annotations: LABELS, startsAt: dateTime, endsAt: dateTime, generatorURL: webUrl }),
);

const RESOLVE_TIMEOUT_MS = 300_000;

const timeIn = (value: JsonValue | undefined): number | undefined =>
  typeof value === 'string' ? Date.parse(value) : undefined;

/** With the times that Alertmanager adds; labels without a value do not count. */
const readAlert = (alert: JsonObject, now: number): StoredAlert => {
  const [start, end] = [timeIn(alert.startsAt), timeIn(alert.endsAt)];
  const given = isObject(alert.labels) ? Object.entries(alert.labels) : [];
  const labels = Object.fromEntries(given.filter(([, value]) => value !== '').toSorted());
  return { labels, startsAt: start ?? end ?? now, endsAt: end ?? now + RESOLVE_TIMEOUT_MS };
};

const problemsOf = ({ labels, startsAt, endsAt }: StoredAlert): string[] => [
  ...(Object.keys(labels).length === 0 ? ['at least one label pair required'] : []),
  ...(endsAt < startsAt ? ['start time must be before end time'] : []),
];

/** Where their times overlap, an end that is still to come does not replace a later one. */
const merge = (before: StoredAlert | undefined, alert: StoredAlert, now: number): StoredAlert => {
  if (before === undefined) return alert;
  const overlaps =
    (alert.endsAt > before.startsAt && alert.endsAt < before.endsAt) ||
    (alert.startsAt > before.startsAt && alert.startsAt < before.endsAt);
  if (!overlaps) return alert;
  const startsAt = Math.min(before.startsAt, alert.startsAt);
  const isResolved = alert.endsAt <= now;
  return { ...alert, startsAt, endsAt: isResolved ? alert.endsAt : Math.max(alert.endsAt, before.endsAt) };
};

export const createAlertmanagerReceiver = (options: VendorOptions = {}): AlertmanagerReceiver => {
  const { now = Date.now } = options;
  const stored = new Map<string, StoredAlert>();

  const vendor: Vendor = {
    contentType: /^application\/json\b/i,
    admit: ({ path }) => (path === '/api/v2/alerts' ? undefined : { status: 404 }),
    malformed: { status: 400, body: { code: 400, message: 'parsing alerts body from "" failed' } },
    limited: (waitMs) => ({ status: 429, headers: { 'retry-after': secondsIn(waitMs) } }),
    judge: ({ body }) => {
      const shape = ALERTS(body, 'alerts');
      if (shape.length > 0)
        return { problems: shape, answer: { status: 422, body: { code: 602, message: shape.join('\n') } } };
      const alerts = (Array.isArray(body) ? body : []).filter(isObject).map((alert) => readAlert(alert, now()));
      const problems = alerts.flatMap(problemsOf);
      for (const alert of alerts.filter((one) => problemsOf(one).length === 0)) {
        const key = JSON.stringify(alert.labels);
        stored.set(key, merge(stored.get(key), alert, now()));
      }
      return { problems, answer: problems.length === 0 ? { status: 200 } : { status: 400, body: problems.join('; ') } };
    },
  };

  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    firingAt: (time) => [...stored.values()].filter(({ endsAt }) => endsAt > time).map(({ labels }) => labels),
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}/api/v2/alerts` };
    },
  };
};
