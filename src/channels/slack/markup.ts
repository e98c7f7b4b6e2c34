/**
 * Text for Slack's blocks. Values are escaped; a value with characters that Slack would read as formatting becomes
 * `plain_text`. Lengths are counted after escaping.
 */

import type {
  ContextBlock,
  KnownBlock,
  MessageAttachment,
  MrkdwnElement,
  PlainTextElement,
  RichTextElement,
  SectionBlock,
} from '@slack/types';

/** Sources: block and text object references at docs.slack.dev; the sum is undocumented, about 13,200 (slackapi/bolt-js#2509). */
export const LIMITS = {
  ...{ header: 150, section: 3000, field: 2000, fields: 10, context: 2000, button: 75, url: 3000 },
  ...{ blocks: 50, all: 12_000 },
};

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

export type Text = MrkdwnElement | PlainTextElement;

export const plain = (text: string): PlainTextElement => ({
  type: 'plain_text',
  text: escapeSlack(text),
  emoji: false,
});

/** `verbatim`: Slack makes no links or mentions of addresses and names in the text. */
export const formatted = (text: string): MrkdwnElement => ({ type: 'mrkdwn', text, verbatim: true });

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

export const titleBlock = (title: string): KnownBlock => {
  const text = plain(title);
  return text.text.length <= LIMITS.header ? { type: 'header', text } : section(text);
};

interface Measured {
  /** Escaped. */
  text: string;
  limit: number;
}

/** Nothing in it is escaped, but Slack may count it so; a link counts with its URL. */
const richTexts = (element: RichTextElement): Measured[] => {
  const measured = (text: string, limit = LIMITS.all): Measured => ({ text: escapeSlack(text), limit });
  if (element.type === 'text') return [measured(element.text)];
  if (element.type === 'link') return [measured(element.url, LIMITS.url), measured(element.text ?? element.url)];
  return element.type === 'date' ? [measured(`${element.format}${element.fallback ?? ''}`)] : [];
};

const textsOf = (block: KnownBlock): Measured[] => {
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
    case 'rich_text':
      return block.elements.flatMap((part) =>
        part.type === 'rich_text_list'
          ? part.elements.flatMap(({ elements }) => elements.flatMap(richTexts))
          : part.elements.flatMap(richTexts),
      );
    case 'actions':
      return block.elements.flatMap((element) =>
        element.type === 'button'
          ? [
              { text: element.text.text, limit: LIMITS.button },
              ...(element.url === undefined ? [] : [{ text: element.url, limit: LIMITS.url }]),
            ]
          : [],
      );
    default:
      return [];
  }
};

const isKnown = (block: object): block is KnownBlock => 'type' in block;

/** One text that is too long or empty makes Slack refuse the whole message. */
export const fits = (blocks: readonly KnownBlock[], attachments: readonly MessageAttachment[] = []): boolean => {
  const all = [...blocks, ...attachments.flatMap(({ blocks: more = [] }) => more.filter(isKnown))];
  const texts = all.flatMap(textsOf);
  return (
    all.length <= LIMITS.blocks &&
    texts.reduce((sum, { text }) => sum + text.length, 0) <= LIMITS.all &&
    texts.every(({ text, limit }) => text !== '' && text.length <= limit)
  );
};
