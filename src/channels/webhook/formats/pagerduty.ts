/**
 * PagerDuty's Events API v2: an alert triggers an incident, and a follow-up that says it was none resolves it. Source:
 * https://developer.pagerduty.com/docs/send-alert-event and .../docs/events-api-v2-overview
 */
import { cleanLine, shorten } from '../../../text.ts';
import { iso, parseTime } from '../../../time.ts';
import type { Format } from '../../channel.ts';
import { dead } from '../../failures.ts';
import { type FormatModule, idAt, requestOf, withoutQuery } from './format.ts';
import { type Briefing, composeEvents, detailsWithin, type Outline } from './outline.ts';

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
    ...(origin === undefined ? [] : [{ href: origin, text: 'Origin' }]),
    ...contracts.map((href) => ({ href, text: 'Contract' })),
  ].slice(0, LINKS_MAX);

const payloadOf = ({ alert, severity, words, outline: { summary, detectors } }: Briefing, format: Format): object => {
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

const eventOf = (briefing: Briefing, format: Format): object => ({
  event_action: briefing.isRaised ? 'trigger' : 'resolve',
  dedup_key: briefing.key,
  payload: payloadOf(briefing, format),
  ...(format === 'rich' ? { links: linksOf(briefing.outline) } : {}),
  client: 'Tocsin',
});

/** A payload that is smaller does not help against a key that PagerDuty does not take. */
const KEY_REFUSED = dead(
  'does not take the routing key',
  'write the integration key of the Events API v2 into routingKey, under channels.webhook.receivers',
);

export const pagerduty: FormatModule = {
  contentType: 'application/json',
  compose: composeEvents((briefing, { format }) => requestOf(eventOf(briefing, format))),
  complete: ({ text }, { address, credentials: { routingKey } }) => ({
    url: withoutQuery(address),
    text: JSON.stringify({ routing_key: routingKey?.reveal() ?? '', ...JSON.parse(text) }),
  }),
  idIn: idAt('dedup_key'),
  verdictOf: ({ status, text }) => (status === 400 && /routing[_ ]key/i.test(text) ? KEY_REFUSED : undefined),
};
