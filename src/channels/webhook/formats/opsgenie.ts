/**
 * Opsgenie's Alert API, which Jira Service Management has, too: an alert is created, and closed by a follow-up that says it
 * was none. Source: https://docs.opsgenie.com/docs/alert-api and .../docs/response
 */
import type { Alert } from '../../../alert.ts';
import { cleanLine, shorten } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import type { Verdict } from '../../failures.ts';
import type { EventSeverity } from './event.ts';
import { type FormatModule, idAt, requestOf, type WebhookRequest, withoutQuery } from './format.ts';
import { type Briefing, composeEvents, detailsWithin, type Outline } from './outline.ts';

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

const alertOf = ({ alert, key, severity, outline, words }: Briefing, format: Format): object => {
  const description = shorten(withoutTags(`${outline.summary}\n\n${words.text}`), DESCRIPTION_MAX);
  return {
    message: shorten(withoutTags(outline.summary), MESSAGE_MAX),
    alias: key,
    description: format === 'minimal' ? undefined : description,
    tags: format === 'rich' ? tagsOf(alert, outline) : undefined,
    details: format === 'rich' ? detailsWithin(words.details, DETAILS_MAX) : undefined,
    entity: shorten(cleanLine(alert.protocol), ENTITY_MAX) || undefined,
    source: SOURCE,
    priority: PRIORITIES[severity],
  };
};

const closing = ({ key, outline }: Briefing): WebhookRequest => ({
  path: `/${encodeURIComponent(key)}/close?identifierType=alias`,
  ...requestOf({ source: SOURCE, note: shorten(withoutTags(outline.summary), NOTE_LIMIT) }),
});

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
  compose: composeEvents((briefing, { format }) =>
    briefing.isRaised ? requestOf(alertOf(briefing, format)) : closing(briefing),
  ),
  complete: ({ path }, { address, credentials: { apiKey } }) => ({
    url: withoutQuery(address, path),
    headers: apiKey === undefined ? {} : { authorization: `GenieKey ${apiKey.reveal()}` },
  }),
  idIn: idAt('requestId'),
  verdictOf: ({ status }) => (status === 401 ? KEY_REFUSED : undefined),
};
