/**
 * PagerDuty's Events API v2. A trigger under an open key goes to the open incident: its alert then has the newer summary and
 * severity, and nobody is called again. Where somebody has resolved it, a trigger opens another. Source:
 * https://developer.pagerduty.com/docs/send-alert-event and .../docs/events-api-v2-overview
 */
import { cleanLine, shorten } from '../../../text.ts';
import { iso, parseTime } from '../../../time.ts';
import type { Format } from '../../channel.ts';
import { dead } from '../../failures.ts';
import { type FormatModule, idAt, requestOf, type WebhookBody, withoutQuery } from './format.ts';
import { composeIncidents, type Incident } from './incident.ts';
import { detailsWithin, type Outline } from './outline.ts';

const SUMMARY_MAX = 1024;
/** The documents name no limit for these; a payload may have 512 kB. */
const NAME_LIMIT = 250;
const LINKS_MAX = 10;
const TEXT_LIMIT = 20_000;
const DETAILS_LIMIT = 40_000;

/** In what an outline has of links, with what to call them. */
const linksOf = ({ links: { transaction, origin, contracts = [] } }: Outline): object[] =>
  [
    ...(transaction === undefined ? [] : [{ href: transaction, text: 'Transaction' }]),
    ...(origin === undefined ? [] : [{ href: origin, text: 'Sender' }]),
    ...contracts.map((href) => ({ href, text: 'Contract' })),
  ].slice(0, LINKS_MAX);

const payloadOf = ({ alert, severity, words, summary, outline: { detectors } }: Incident, format: Format): object => {
  const { text, details } = words;
  const time = parseTime(alert.at);
  const name = (value: string) => shorten(cleanLine(value), NAME_LIMIT) || undefined;
  return {
    summary: shorten(summary, SUMMARY_MAX),
    source: name(alert.protocol) ?? 'Tocsin',
    severity,
    timestamp: Number.isNaN(time) ? undefined : iso(time),
    component: name(detectors.join(', ')),
    group: name(alert.service),
    class: name(alert.type) ?? '',
    ...(format === 'rich' && {
      custom_details: { 'What happened': shorten(text, TEXT_LIMIT), ...detailsWithin(details, DETAILS_LIMIT) },
    }),
  };
};

const ACTIONS = { raise: 'trigger', change: 'trigger', acknowledge: 'acknowledge', clear: 'resolve' } as const;

/**
 * A downgrade that leaves the incident as severe as it is, because something else of the transaction is, would only add to
 * its log, and call people for good news where they have resolved it.
 */
const isWorthIt = ({ act, before, severity }: Incident): boolean => act !== 'change' || before !== severity;

const eventsOf = (incident: Incident, format: Format): WebhookBody => {
  const { act, key } = incident;
  if (!isWorthIt(incident)) return [];
  const isAcknowledged = act === 'acknowledge';
  return [
    requestOf({
      event_action: ACTIONS[act],
      dedup_key: key,
      ...(isAcknowledged ? {} : { payload: payloadOf(incident, format) }),
      ...(format === 'rich' && !isAcknowledged ? { links: linksOf(incident.outline) } : {}),
      client: 'Tocsin',
    }),
  ];
};

/** A payload that is smaller does not help against a key that PagerDuty does not take. */
const KEY_REFUSED = dead(
  'does not take the routing key',
  'write the integration key of the Events API v2 into routingKey, under channels.webhook.receivers',
);

export const pagerduty: FormatModule = {
  contentType: 'application/json',
  reader: 'incidents',
  compose: composeIncidents((incident, { format }) => eventsOf(incident, format)),
  complete: ({ text }, { address, credentials: { routingKey } }) => ({
    url: withoutQuery(address),
    text: JSON.stringify({ routing_key: routingKey?.reveal() ?? '', ...JSON.parse(text) }),
  }),
  idIn: idAt('dedup_key'),
  verdictOf: ({ status, text }) => (status === 400 && /routing[_ ]key/i.test(text) ? KEY_REFUSED : undefined),
};
