/**
 * Alerts of Prometheus Alertmanager's API v2. Alertmanager knows an alert by its labels, so they are the same in a
 * follow-up, which ends it. Source: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
 */
import { type Alert, isAnnouncement, isSample } from '../../../alert.ts';
import { cleanLine, shorten } from '../../../text.ts';
import { iso, parseTime } from '../../../time.ts';
import type { ComposeContext, Format } from '../../channel.ts';
import { type EventKey, eventChangeOf } from './event.ts';
import { composeEach, type FormatModule, requestOf } from './format.ts';
import { type Briefing, briefingOf } from './outline.ts';

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

const label = (value: string): string => shorten(cleanLine(value), LABEL_LIMIT);

/** Nothing that may be another in a follow-up. */
const labelsOf = (alert: Alert, { key, severity }: EventKey): Record<string, string> =>
  filled({
    alertname: nameOf(alert),
    severity,
    service: label(alert.service),
    protocol: label(alert.protocol),
    alert_key: key,
  });

const annotationsOf = ({ alert, outline, words }: Briefing, format: Format): Record<string, string> => {
  const { links, chain, detectors, summary } = outline;
  const details = words.details.map(([label, value]) => `${label}: ${value}`);
  return filled({
    summary,
    type: label(alert.type),
    ...(format === 'rich' && {
      description: shorten([words.text, ...details].join('\n'), DESCRIPTION_LIMIT),
      detectors: label(detectors.join(', ')),
      chain: chain?.name ?? chain?.id,
      transaction: links.transaction,
      origin: links.origin,
      contract: links.contracts?.[0],
    }),
  });
};

const alertOf = (event: EventKey, isRaised: boolean, briefing: Briefing, context: ComposeContext): object => {
  const { alert, outline } = briefing;
  const { format, sentAt } = context;
  const now = parseTime(sentAt);
  const written = parseTime(alert.at);
  const firingMs = event.severity === 'info' ? NEWS_MS : FIRING_MS;
  const endsAt = now + (isRaised ? firingMs : -CLOCKS_MS);
  return {
    labels: labelsOf(alert, event),
    annotations: annotationsOf(briefing, format),
    startsAt: iso(Math.min(Number.isNaN(written) ? now : written, endsAt)),
    endsAt: iso(endsAt),
    generatorURL: outline.links.transaction,
  };
};

export const alertmanager: FormatModule = {
  contentType: 'application/json',
  compose: composeEach((alert, destination, context) => {
    const briefing = briefingOf(alert, context);
    const { raises, clears } = eventChangeOf(alert, destination);
    return [
      requestOf([
        ...(raises === undefined ? [] : [alertOf(raises, true, briefing, context)]),
        ...(clears === undefined ? [] : [alertOf(clears, false, briefing, context)]),
      ]),
    ];
  }),
};
