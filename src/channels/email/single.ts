/** One incident as the parts of a mail: a text that is complete by itself, and the same as HTML. */

import { counted, shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import type { Content, Detection, Fact } from '../content.ts';
import type { MailParts } from './body.ts';
import { LEADING, renderHtml } from './html.ts';

/** Far longer than what a person writes: it keeps a runaway text from filling mailboxes. */
const TEXT_LIMIT = 100_000;
const NAME_LIMIT = 300;
const VALUE_LIMIT = 4000;

/** Shortens a text, and says by how much. */
const bound = (text: string, limit: number): string =>
  text.length <= limit
    ? text
    : `${shorten(text, limit)} [${(text.length - limit).toLocaleString('en')} characters left out]`;

/** There are about ten detectors. A mail names all that fired, and shows the messages of at most this many. */
const DETECTIONS_MAX = 100;

const boundDetections = (detections: readonly Detection[]): Detection[] => {
  const shown = detections
    .slice(0, DETECTIONS_MAX)
    .map(({ name, message }) => ({ name: bound(name, NAME_LIMIT), message: bound(message, VALUE_LIMIT) }));
  const rest = detections.slice(DETECTIONS_MAX).map(({ name }) => name);
  return rest.length === 0
    ? shown
    : [...shown, { name: counted(rest.length, 'more detector'), message: bound(rest.join(', '), VALUE_LIMIT) }];
};

/** A list that is too long becomes one shortened text. */
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

export const paragraphs = (...parts: string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`;

const plainText = ({ title, notice = '', detections, message = '', facts }: Content, footer: string): string => {
  const leading = facts.filter(({ label }) => LEADING.has(label));
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

/** The parts of a mail about one incident. */
export const singleParts = (whole: Content, subject: string, footer: string, format: Format): MailParts => {
  const content = bounded(whole);
  switch (format) {
    case 'rich':
      return { text: plainText(content, footer), html: renderHtml(content, subject, footer) };
    case 'plain':
      return { text: plainText(content, footer) };
    case 'minimal':
      return { text: minimalText(content, footer) };
  }
};
