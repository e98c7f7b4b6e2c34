/**
 * An alert as a Slack message. Pure.
 * Values go in escaped, and where they hold characters that Slack would read as formatting, as `plain_text`.
 */
import type { HeaderBlock, KnownBlock, MrkdwnElement, PlainTextElement, SectionBlock } from '@slack/types';
import { type Alert, deliveryId, type Parcel } from '../../alert.ts';
import type { ComposeContext, Message } from '../channel.ts';
import { type Content, type Detection, describe, type Fact } from '../content.ts';
import { cleanLine, shorten } from '../text.ts';

export interface SlackBody {
  /** What a phone shows before Slack is opened; the whole message where there are no blocks. */
  text: string;
  blocks?: KnownBlock[];
  /** False: the text is shown as it stands. */
  mrkdwn?: false;
}

/** Sources: block and text object references at docs.slack.dev; the sum is undocumented, about 13,200 (slackapi/bolt-js#2509). */
const LIMITS = { header: 150, section: 3000, field: 2000, fields: 10, blocks: 50, all: 12_000 };
/** Slack cuts at 40,000 characters, and counts entities as they are written. */
const TEXT_LIMIT = 39_000;
const PUSH_LIMIT = 300;
/** Longer values are hard to read in two columns. */
const COLUMN_LIMIT = 60;

/** Source: docs.slack.dev/messaging/formatting-message-text, "Escaping text". It holds for every text object. */
export const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Bold, italic, strike, code, a quote at the start of a line, emoji names. */
const FORMATTING = /[*_~`]|^\s*>|:[a-z+][\w+'-]*:/im;

type Text = MrkdwnElement | PlainTextElement;

const plain = (text: string): PlainTextElement => ({ type: 'plain_text', text: escapeSlack(text), emoji: false });

/** `verbatim`: an address or a name in the text becomes no link and calls nobody. */
const formatted = (text: string): MrkdwnElement => ({ type: 'mrkdwn', text, verbatim: true });

const labelled = (label: string, value: string): Text => {
  if (FORMATTING.test(`${label}\n${value}`)) return plain(value === '' ? label : `${label}\n${value}`);
  const title = `*${escapeSlack(label)}*`;
  return formatted(value === '' ? title : `${title}\n${escapeSlack(value)}`);
};

/** The URL is ours and its label a hash or an address, so neither can break out of the link. */
const factText = ({ label, value, url }: Fact): Text =>
  url === undefined ? labelled(label, value) : formatted(`*${escapeSlack(label)}*\n<${url}|${escapeSlack(value)}>`);

const section = (text: Text): SectionBlock => ({ type: 'section', text });

const titleBlock = (title: string): HeaderBlock | SectionBlock => {
  const text = plain(title);
  return text.text.length <= LIMITS.header ? { type: 'header', text } : section(text);
};

const detectionBlock = ({ name, message }: Detection): SectionBlock => section(labelled(name, message));

/** Long facts (the transaction's hash is one) get the whole width, the others two columns. */
const factBlocks = (facts: readonly Fact[]): SectionBlock[] => {
  const wide = facts.filter(({ value }) => value.length > COLUMN_LIMIT).map((fact) => section(factText(fact)));
  const narrow = facts.filter(({ value }) => value.length <= COLUMN_LIMIT).map(factText);
  const rows = Array.from({ length: Math.ceil(narrow.length / LIMITS.fields) }, (_, row): SectionBlock => {
    return { type: 'section', fields: narrow.slice(row * LIMITS.fields, (row + 1) * LIMITS.fields) };
  });
  return [...wide, ...rows];
};

const blocksOf = ({ title, notice, detections, message, facts }: Content): KnownBlock[] => [
  titleBlock(title),
  ...(notice === undefined ? [] : [{ type: 'context' as const, elements: [plain(notice)] }]),
  ...detections.map(detectionBlock),
  ...(message === undefined ? [] : [section(plain(message))]),
  ...factBlocks(facts),
];

const textsOf = (block: KnownBlock): { text: string; limit: number }[] => {
  if (block.type === 'header') return [{ text: block.text.text, limit: LIMITS.header }];
  if (block.type !== 'section') return [];
  const texts = [...(block.text ? [{ text: block.text.text, limit: LIMITS.section }] : [])];
  return [...texts, ...(block.fields ?? []).map(({ text }) => ({ text, limit: LIMITS.field }))];
};

/** Slack refuses a message for one text that is too long, or empty. */
const fits = (blocks: readonly KnownBlock[]): boolean => {
  const texts = blocks.flatMap(textsOf);
  const sum = texts.reduce((length, { text }) => length + text.length, 0);
  return (
    blocks.length <= LIMITS.blocks &&
    sum <= LIMITS.all &&
    texts.every(({ text, limit }) => text !== '' && text.length <= limit)
  );
};

const NOTE_ROOM = 100;

/** Escapes; where that is too long, keeps the beginning and says how much is missing. */
const textWithin = (lines: readonly string[]): string => {
  const whole = lines.join('\n');
  const escaped = escapeSlack(whole);
  if (escaped.length <= TEXT_LIMIT) return escaped;
  let kept = '';
  let size = 0;
  for (const character of whole) {
    size += escapeSlack(character).length;
    if (size > TEXT_LIMIT - NOTE_ROOM) break;
    kept += character;
  }
  return `${escapeSlack(kept)}…\n(${whole.length - kept.length} characters left out)`;
};

const factLines = ({ label, value, url }: Fact): string[] => [
  `${label}: ${shorten(value, LIMITS.section)}`,
  ...(url === undefined ? [] : [url]),
];

/** What may be long comes last, so that a cut takes from that. */
const plainBody = ({ headline, notice, detections, message, facts }: Content): SlackBody => ({
  text: textWithin([
    shorten(headline, LIMITS.section),
    ...(notice === undefined ? [] : [notice]),
    ...facts.flatMap(factLines),
    ...detections.map(({ name, message: said }) => (said === '' ? name : `${name}: ${said}`)),
    ...(message === undefined ? [] : [message]),
  ]),
  mrkdwn: false,
});

/** The first fact is the transaction (or when it was stored), the last the item's id. */
const minimalBody = ({ headline, facts }: Content): SlackBody => ({
  text: textWithin([
    shorten(headline, PUSH_LIMIT),
    ...[...facts.slice(0, 1), ...facts.slice(-1)].map(({ label, value }) => `${label}: ${shorten(value, PUSH_LIMIT)}`),
    'Slack refused the full message. Look it up by this id at the monitoring service, or with: tocsin trace ID',
  ]),
  mrkdwn: false,
});

/** What a locked phone shows: the headline and what the first detector said. */
const pushText = ({ headline, detections }: Content): string => {
  const said = cleanLine(detections[0]?.message ?? '');
  return escapeSlack(shorten(said === '' ? headline : `${headline}: ${said}`, PUSH_LIMIT));
};

const richBody = (content: Content): SlackBody => {
  const blocks = blocksOf(content);
  return fits(blocks) ? { text: pushText(content), blocks } : plainBody(content);
};

const BODIES = { rich: richBody, plain: plainBody, minimal: minimalBody };

const bodyOf = (alert: Alert, { format, chains, sentAt }: ComposeContext): SlackBody =>
  BODIES[format](describe(alert, chains, sentAt));

/** One message an alert. */
export const composeSlack = ({ destination, alerts }: Parcel, context: ComposeContext): Message<SlackBody>[] =>
  alerts.map((alert) => ({
    destination,
    alerts: [alert],
    id: deliveryId(alert.id, destination.id),
    body: bodyOf(alert, context),
  }));
