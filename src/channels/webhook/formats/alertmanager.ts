/**
 * Alerts of Prometheus Alertmanager's API v2. Alertmanager knows an alert by its labels, so they are the same in a
 * follow-up, which ends it. Source: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
import { type Alert, type Destination, isAnnouncement, isSample } from '../../../alert.ts';
import { cleanLine, shorten } from '../../../text.ts';
import { iso, parseTime } from '../../../time.ts';
import type { ComposeContext, Format } from '../../channel.ts';
import { type EventKey, eventChangeOf } from './event.ts';
import { bodyOf, composeEach, type FormatModule } from './format.ts';
import { type Outline, outlineAndWords, type Words } from './outline.ts';

/** Without an end Alertmanager takes an alert for resolved after five minutes (`resolve_timeout`): ours come once. */
const FIRING_MS = 24 * 3_600_000;
/** News and tests resolve by themselves. */
const NEWS_MS = 5 * 60_000;
/** By so much its clock may be behind ours: an end in its future would not end the alert. */
const CLOCKS_MS = 60_000;
const LABEL_LIMIT = 250;
const DESCRIPTION_LIMIT = 10_000;

const nameOf = (alert: Alert): string => {
  if (isSample(alert)) return 'TocsinTest';
  if (isAnnouncement(alert)) return 'TocsinAnnouncement';
  return alert.source === 'notifications' ? 'TocsinNotification' : 'TocsinInspection';
};

const filled = (values: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])));

/** Nothing that may be another in a follow-up. */
const labelsOf = (alert: Alert, { key, severity }: EventKey): Record<string, string> => {
  const label = (value: string) => shorten(cleanLine(value), LABEL_LIMIT);
  return filled({
    alertname: nameOf(alert),
    severity,
    service: label(alert.service),
    protocol: label(alert.protocol),
    alert_key: key,
  });
};

const annotationsOf = (alert: Alert, outline: Outline, words: Words, format: Format): Record<string, string> => {
  const { links, chain, detectors, summary } = outline;
  const details = words.details.map(([label, value]) => `${label}: ${value}`);
  return filled({
    summary,
    type: shorten(cleanLine(alert.type), LABEL_LIMIT),
    ...(format === 'rich'
      ? {
          description: shorten([words.text, ...details].join('\n'), DESCRIPTION_LIMIT),
          detectors: shorten(cleanLine(detectors.join(', ')), LABEL_LIMIT),
          chain: chain?.name ?? chain?.id,
          transaction: links.transaction,
          origin: links.origin,
          contract: links.contracts?.[0],
        }
      : {}),
  });
};

const alertsOf = (alert: Alert, destination: Destination, context: ComposeContext): object[] => {
  const { raises, clears } = eventChangeOf(alert, destination);
  const { outline, words } = outlineAndWords(alert, context);
  const annotations = annotationsOf(alert, outline, words, context.format);
  const now = parseTime(context.sentAt);
  const written = parseTime(alert.at);
  const one = (event: EventKey, endsAt: number): object => ({
    labels: labelsOf(alert, event),
    annotations,
    startsAt: iso(Math.min(Number.isNaN(written) ? now : written, endsAt)),
    endsAt: iso(endsAt),
    ...(outline.links.transaction === undefined ? {} : { generatorURL: outline.links.transaction }),
  });
  return [
    ...(raises === undefined ? [] : [one(raises, now + (raises.severity === 'info' ? NEWS_MS : FIRING_MS))]),
    ...(clears === undefined ? [] : [one(clears, now - CLOCKS_MS)]),
  ];
};

export const alertmanager: FormatModule = {
  contentType: 'application/json',
  isSigned: false,
  compose: (parcel, context) =>
    composeEach(parcel, (alert) => bodyOf('alertmanager', alertsOf(alert, parcel.destination, context))),
};
