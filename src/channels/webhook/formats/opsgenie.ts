/**
 * Opsgenie's Alert API, which Jira Service Management has, too. Creating an alert under an open alias only counts it, so what
 * is new of it is written into the open one. Source: https://docs.opsgenie.com/docs/alert-api and .../docs/response
 */
import type { Alert } from '../../../alert.ts';
import { cleanLine, shorten } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import type { Verdict } from '../../failures.ts';
import type { EventSeverity } from './event.ts';
import { type FormatModule, idAt, requestOf, type WebhookBody, type WebhookRequest, withoutQuery } from './format.ts';
import { composeIncidents, type Incident } from './incident.ts';
import { detailsWithin, type Outline } from './outline.ts';

const MESSAGE_MAX = 130;
const DESCRIPTION_MAX = 15_000;
const ENTITY_MAX = 512;
const TAGS_MAX = 20;
const TAG_MAX = 50;
const DETAILS_MAX = 8000;
const NOTE_LIMIT = 2000;
const SOURCE = 'Tocsin';

const PRIORITIES: Record<EventSeverity, string> = { critical: 'P1', error: 'P2', warning: 'P3', info: 'P5' };

/** Opsgenie shows tags as HTML where it takes some for that. A bracket that a space follows begins none. */
const withoutTags = (text: string): string => text.replace(/<(?=[A-Za-z/!?])/g, '< ');

const tagsOf = (alert: Alert, { detectors }: Outline): string[] => {
  const tags = [alert.type, ...detectors].map((tag) => shorten(cleanLine(tag).replaceAll(',', ' '), TAG_MAX));
  return [...new Set(tags)].filter((tag) => tag !== '').slice(0, TAGS_MAX);
};

const messageOf = ({ summary }: Incident): string => shorten(withoutTags(summary), MESSAGE_MAX);

const textOf = ({ summary, words }: Incident, limit: number): string =>
  shorten(withoutTags(`${summary}\n\n${words.text}`), limit);

const createRequest = (incident: Incident, format: Format): WebhookRequest => {
  const { alert, key, severity, outline, words } = incident;
  return requestOf({
    message: messageOf(incident),
    alias: key,
    description: format === 'minimal' ? undefined : textOf(incident, DESCRIPTION_MAX),
    tags: format === 'rich' ? tagsOf(alert, outline) : undefined,
    details: format === 'rich' ? detailsWithin(words.details, DETAILS_MAX) : undefined,
    entity: shorten(cleanLine(alert.protocol), ENTITY_MAX) || undefined,
    source: SOURCE,
    priority: PRIORITIES[severity],
  });
};

/** To the open alert; where there is none, nothing happens. */
const toOpen = ({ key }: Incident, action: string, content: object): WebhookRequest => ({
  path: `/${encodeURIComponent(key)}/${action}?identifierType=alias`,
  ...requestOf(content),
});

const changing = (incident: Incident): WebhookRequest[] => [
  { ...toOpen(incident, 'priority', { priority: PRIORITIES[incident.severity] }), method: 'PUT' },
  { ...toOpen(incident, 'message', { message: messageOf(incident) }), method: 'PUT' },
  toOpen(incident, 'notes', { source: SOURCE, note: textOf(incident, NOTE_LIMIT) }),
];

const noted = (incident: Incident, action: string, note: string): WebhookBody => [
  toOpen(incident, action, { source: SOURCE, note: shorten(withoutTags(note), NOTE_LIMIT) }),
];

const requestsOf = (incident: Incident, format: Format): WebhookBody => {
  const { act, others, alert, content, summary } = incident;
  if (act === 'clear') return noted(incident, 'close', summary);
  if (act === 'acknowledge') return noted(incident, 'acknowledge', content.happened);
  if (act === 'change') return changing(incident);
  const isMore = others.length > 0 || alert.followUp !== undefined;
  return [createRequest(incident, format), ...(isMore ? changing(incident) : [])];
};

/** Somebody may mend it while it is tried again. */
const KEY_REFUSED: Verdict = {
  reason: 'unknown',
  explanation: {
    is: 'does not take the API key, or its integration is off',
    todo: 'write the key of an API integration into apiKey, under channels.webhook.receivers',
  },
};

export const opsgenie: FormatModule = {
  contentType: 'application/json',
  reader: 'incidents',
  compose: composeIncidents((incident, { format }) => requestsOf(incident, format)),
  complete: ({ path }, { address, credentials: { apiKey } }) => ({
    url: withoutQuery(address, path),
    headers: apiKey === undefined ? {} : { authorization: `GenieKey ${apiKey.reveal()}` },
  }),
  idIn: idAt('requestId'),
  verdictOf: ({ status }) => (status === 401 ? KEY_REFUSED : undefined),
};
