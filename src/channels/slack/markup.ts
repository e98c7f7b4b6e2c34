/**
 * Text for Slack's blocks. Values are escaped; a value with characters that Slack would read as formatting becomes
 * `plain_text`. Lengths are counted after escaping.
 */

import type { ContextBlock, KnownBlock, MrkdwnElement, PlainTextElement, SectionBlock } from '@slack/types';
import { chunksOf } from '../../chunks.ts';

/** Sources: block and text object references at docs.slack.dev; the sum is undocumented, about 13,200 (slackapi/bolt-js#2509). */
export const LIMITS = { header: 150, section: 3000, field: 2000, fields: 10, context: 2000, blocks: 50, all: 12_000 };

/** Source: docs.slack.dev/messaging/formatting-message-text, "Escaping text". It holds for every text object. */
export const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The longest beginning, in whole characters, that is within `limit` after escaping. */
export const beginning = (text: string, limit: number): string => {
  if (escapeSlack(text).length <= limit) return text;
  let kept = '';
  let size = 0;
  for (const character of text) {
    size += escapeSlack(character).length;
    if (size > limit) break;
    kept += character;
  }
  return kept;
};

/** The same, with an ellipsis if something is missing. */
export const fitted = (text: string, limit: number): string =>
  escapeSlack(text).length <= limit ? text : `${beginning(text, limit - 1).trimEnd()}…`;

/** Bold, italic, strike, code, a quote at the start of a line, emoji names. */
const FORMATTING = /[*_~`]|^\s*>|:[a-z+][\w+'-]*:/im;

export type Text = MrkdwnElement | PlainTextElement;

export const plain = (text: string): PlainTextElement => ({
  type: 'plain_text',
  text: escapeSlack(text),
  emoji: false,
});

/** `verbatim`: Slack makes no links or mentions of addresses and names in the text. */
export const formatted = (text: string): MrkdwnElement => ({ type: 'mrkdwn', text, verbatim: true });

/** A bold label above its value; one of them may be empty. */
export const labelled = (label: string, value: string): Text => {
  if (FORMATTING.test(`${label}\n${value}`)) return plain(value === '' ? label : `${label}\n${value}`);
  const title = `*${escapeSlack(label)}*`;
  return formatted(value === '' ? title : `${title}\n${escapeSlack(value)}`);
};

/** For our own URLs and hashes or addresses as labels: neither can break out of the link. */
export const link = (url: string, label: string): string => `<${url}|${escapeSlack(label)}>`;

/** The same with a link as its value. */
export const labelledLink = (label: string, url: string, text: string): Text =>
  formatted(`*${escapeSlack(label)}*\n${link(url, text)}`);

/** A code block; Slack reads no formatting in it but a backtick. */
export const code = (text: string): Text =>
  text.includes('`') ? plain(text) : formatted(`\`\`\`\n${escapeSlack(text)}\n\`\`\``);

/** A string is shown as it is. */
const toText = (text: Text | string): Text => (typeof text === 'string' ? plain(text) : text);

export const section = (text: Text | string): SectionBlock => ({ type: 'section', text: toText(text) });

/** Small print. */
export const context = (...texts: (Text | string)[]): ContextBlock => ({
  type: 'context',
  elements: texts.map(toText),
});

/** Texts in two columns, in as many blocks as they need. */
export const columns = (texts: readonly Text[]): SectionBlock[] =>
  chunksOf(texts, LIMITS.fields).map((fields) => ({ type: 'section', fields }));

export const titleBlock = (title: string): KnownBlock => {
  const text = plain(title);
  return text.text.length <= LIMITS.header ? { type: 'header', text } : section(text);
};

const textsOf = (block: KnownBlock): { text: string; limit: number }[] => {
  switch (block.type) {
    case 'header':
      return [{ text: block.text.text, limit: LIMITS.header }];
    case 'context':
      return block.elements.flatMap((element) =>
        'text' in element ? [{ text: element.text, limit: LIMITS.context }] : [],
      );
    case 'section':
      return [
        ...(block.text ? [{ text: block.text.text, limit: LIMITS.section }] : []),
        ...(block.fields ?? []).map(({ text }) => ({ text, limit: LIMITS.field })),
      ];
    default:
      return [];
  }
};

const sizeOf = (blocks: readonly KnownBlock[]): number =>
  blocks.flatMap(textsOf).reduce((sum, { text }) => sum + text.length, 0);

/** One text that is too long or empty makes Slack refuse the whole message. */
export const fits = (blocks: readonly KnownBlock[]): boolean =>
  blocks.length <= LIMITS.blocks &&
  sizeOf(blocks) <= LIMITS.all &&
  blocks.flatMap(textsOf).every(({ text, limit }) => text !== '' && text.length <= limit);
