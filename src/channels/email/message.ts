/** One alert as one mail: a text part that is complete by itself, and an HTML part beside it. */
import { type Alert, contentId, type Destination, deliveryId, type Parcel } from '../../alert.ts';
import type { ComposeContext, Format, Message } from '../channel.ts';
import { type Content, type Detection, describe, type Fact } from '../content.ts';
import { cleanLine, shorten } from '../text.ts';
import { renderHtml } from './html.ts';

/** Everything of a mail but its addresses, which the transport puts on. */
export interface MailBody {
  subject: string;
  text: string;
  /** Absent in the plainer formats. */
  html?: string;
  /** ISO 8601. */
  date: string;
  /** Mail programs put mails of one thread together. The same for a protocol at a destination. */
  threadId: string;
  /** Lets people sort by protocol: a label for a domain name, and the protocol's name. */
  list: { label: string; name: string };
}

/** Longer subjects are cut by most mail programs anyway. */
export const SUBJECT_LIMIT = 120;
/** Far above what a person writes; it keeps a runaway text from filling mailboxes. */
const TEXT_LIMIT = 100_000;
const NAME_LIMIT = 300;
const VALUE_LIMIT = 4000;

/** Cuts what no reader would miss, and says how much. */
const bound = (text: string, limit: number): string =>
  text.length <= limit
    ? text
    : `${shorten(text, limit)} [${(text.length - limit).toLocaleString('en')} characters left out]`;

/** There are about ten detectors; a mail names all that fired, and tells this many in full. */
const DETECTIONS_MAX = 100;

const boundDetections = (detections: readonly Detection[]): Detection[] => {
  const told = detections
    .slice(0, DETECTIONS_MAX)
    .map(({ name, message }) => ({ name: bound(name, NAME_LIMIT), message: bound(message, VALUE_LIMIT) }));
  const rest = detections.slice(DETECTIONS_MAX).map(({ name }) => name);
  return rest.length === 0
    ? told
    : [...told, { name: `${rest.length} more detectors`, message: bound(rest.join(', '), VALUE_LIMIT) }];
};

/** A list that is too long is shown as one text, cut. */
const boundFact = ({ items, ...fact }: Fact): Fact =>
  fact.value.length <= VALUE_LIMIT && items !== undefined
    ? { ...fact, items }
    : { ...fact, value: bound(fact.value, VALUE_LIMIT) };

const bounded = (content: Content): Content => ({
  ...content,
  protocol: bound(content.protocol, NAME_LIMIT),
  severity: bound(content.severity, NAME_LIMIT),
  ...(content.message === undefined ? {} : { message: bound(content.message, TEXT_LIMIT) }),
  detections: boundDetections(content.detections),
  facts: content.facts.map(boundFact),
});

const factText = ({ label, value, items, url }: Fact): string => {
  if (items !== undefined) return [`${label}:`, ...items.map((item) => `- ${item}`)].join('\n');
  return url === undefined ? `${label}: ${value}` : `${label}: ${value}\n${url}`;
};

const paragraphs = (...parts: string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`;

const plainText = ({ title, notice = '', detections, message = '', facts }: Content, footer: string): string => {
  const leading = facts.filter(({ label }) => label === 'Transaction' || label === 'Chain');
  const rest = facts.filter((fact) => !leading.includes(fact));
  return paragraphs(
    bound(title, VALUE_LIMIT),
    notice,
    leading.map(factText).join('\n'),
    detections.map(({ name, message: said }) => `${name}: ${said || 'fired, without a message'}`).join('\n\n'),
    message,
    rest.map(factText).join('\n'),
    footer,
  );
};

const MINIMAL = new Set(['Transaction', 'Sent', 'Inspection', 'Notification']);

const minimalText = ({ title, notice = '', facts }: Content, footer: string): string => {
  const named = facts.filter(({ label }) => MINIMAL.has(label));
  return paragraphs(
    bound(title, NAME_LIMIT),
    notice,
    named.map(({ label, value }) => `${label}: ${value}`).join('\n'),
    footer,
  );
};

const partsOf = (content: Content, subject: string, footer: string, format: Format) => {
  switch (format) {
    case 'rich':
      return { text: plainText(content, footer), html: renderHtml(content, subject, footer) };
    case 'plain':
      return { text: plainText(content, footer) };
    case 'minimal':
      return { text: minimalText(content, footer) };
  }
};

/** A protocol's name as one label of a domain name. */
const labelFor = (protocol: string): string =>
  protocol
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '') || 'protocol';

const footerOf = (alert: Alert, { label }: Destination): string =>
  `Sent by Tocsin to ${label}.\nWhere this alert went: tocsin trace ${alert.id}`;

const bodyOf = (alert: Alert, destination: Destination, { chains, sentAt, format }: ComposeContext): MailBody => {
  const content = bounded(describe(alert, chains, sentAt));
  const subject = shorten(cleanLine(content.headline), SUBJECT_LIMIT);
  return {
    subject,
    ...partsOf(content, subject, footerOf(alert, destination), format),
    date: sentAt,
    threadId: `thread_${contentId('thread', alert.service, alert.protocol, destination.id)}`,
    list: { label: labelFor(content.protocol), name: shorten(content.protocol, SUBJECT_LIMIT) },
  };
};

/** One mail for each alert, in the parcel's order. */
export const composeEmail = ({ destination, alerts }: Parcel, context: ComposeContext): Message<MailBody>[] =>
  alerts.map((alert) => ({
    destination,
    alerts: [alert],
    id: deliveryId(alert.id, destination.id),
    body: bodyOf(alert, destination, context),
  }));
