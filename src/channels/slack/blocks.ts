/**
 * What a Slack message is made of: its body, and text for its blocks. Values are escaped; a value with characters that Slack
 * would read as formatting becomes `plain_text`. Lengths are counted after escaping.
 */
import type {
  ContextBlock,
  KnownBlock,
  MessageAttachment,
  MrkdwnElement,
  PlainTextElement,
  RichTextBlock,
  RichTextElement,
  RichTextQuote,
  RichTextSection,
  SectionBlock,
} from '@slack/types';
import { chunksOf } from '../../chunks.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { Content, Detection, Fact, Line, Piece } from '../content/content.ts';
import type { Tone } from '../content/severity.ts';
import type { DigestFile } from '../digest-content.ts';

/** What a message says in full, where it has no room for it. */
export interface RestFile extends DigestFile {
  isRest: true;
}

export interface SlackBody {
  /** The text of the push notification; without blocks, the whole message. */
  text: string;
  blocks?: KnownBlock[];
  /** Shown below the blocks, beside a bar of colour. */
  attachments?: MessageAttachment[];
  /** False: Slack shows the text without formatting it. */
  mrkdwn?: false;
  /** Goes into the message's thread. Only a bot can send one. */
  file?: DigestFile | RestFile;
}

/** Sources: block and text object references at docs.slack.dev; the sum is undocumented, about 13,200 (slackapi/bolt-js#2509). */
export const LIMITS = {
  ...{ header: 150, section: 3000, context: 2000, button: 75, url: 3000, blocks: 50, all: 12_000 },
  /** Of a message without blocks, which Slack cuts at 40,000 characters. */
  text: 39_000,
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

/** The same, cut as `shorten` cuts. */
export const fitted = (text: string, limit: number): string =>
  escapeSlack(text).length <= limit ? text : shorten(text, beginning(text, limit - 1).length + 1);

const NOTE_ROOM = 60;

/** The same, and how much is missing; `leftOut`: before. */
export const within = (text: string, room: number, leftOut = 0): string => {
  if (leftOut === 0 && escapeSlack(text).length <= room) return text;
  const kept = beginning(text, Math.max(0, room - NOTE_ROOM));
  return `${kept}… (${leftOut + text.length - kept.length} characters left out)`;
};

type Text = MrkdwnElement | PlainTextElement;

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

const toText = (text: Text | string): Text => (typeof text === 'string' ? plain(text) : text);

export const section = (text: Text | string): SectionBlock => ({ type: 'section', text: toText(text) });

export const context = (text: Text | string): ContextBlock => ({ type: 'context', elements: [toText(text)] });

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

/** Of the blocks that we make. */
const textsOf = (block: KnownBlock): Measured[] => {
  switch (block.type) {
    case 'header':
      return [{ text: block.text.text, limit: LIMITS.header }];
    case 'context':
      return block.elements.flatMap((one) => ('text' in one ? [{ text: one.text, limit: LIMITS.context }] : []));
    case 'section':
      return block.text ? [{ text: block.text.text, limit: LIMITS.section }] : [];
    case 'rich_text':
      return block.elements.flatMap((part) => (part.type === 'rich_text_list' ? [] : part.elements.flatMap(richTexts)));
    case 'actions':
      return block.elements.flatMap((one) => {
        if (one.type !== 'button') return [];
        const label = { text: one.text.text, limit: LIMITS.button };
        return one.url === undefined ? [label] : [label, { text: one.url, limit: LIMITS.url }];
      });
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

// `rich_text` blocks: nothing in their texts is markup, a link or a mention, so text from outside stands in them as it is.
// Source: docs.slack.dev/reference/block-kit/blocks/rich-text-block

/** As the reader's clock and calendar have it. Source: docs.slack.dev/messaging/formatting-message-text#date-formatting */
const FORMATS = { date: '{date_short_pretty} {time_secs}', time: '{time_secs}' } as const;

/** With the date where our own text for a moment has one: where it is another day than that of the message. */
const dateFormat = (text: string): string => (/^\d{4}-/.test(text) ? FORMATS.date : FORMATS.time);

export const words = (text: string): RichTextElement => ({ type: 'text', text });
export const bold = (text: string): RichTextElement => ({ type: 'text', text, style: { bold: true } });
export const codeWords = (text: string): RichTextElement => ({ type: 'text', text, style: { code: true } });
const BREAK = words('\n');

const secondsOf = (epochMs: number): number => Math.floor(epochMs / 1000);

/** A piece in a text with markup. */
export const timeText = ({ text, at }: Piece): string =>
  at === undefined ? escapeSlack(text) : `<!date^${secondsOf(at)}^${dateFormat(text)}|${escapeSlack(text)}>`;

/** A piece of a line as Slack shows it: a link, a time by the reader's clock, code, or words. */
export const elementOf = ({ text, code, url, at }: Piece): RichTextElement => {
  if (url !== undefined) return { type: 'link', url, text };
  if (at !== undefined) return { type: 'date', timestamp: secondsOf(at), format: dateFormat(text), fallback: text };
  return code ? codeWords(text) : words(text);
};

export const joinLines = (all: readonly RichTextElement[][]): RichTextElement[] =>
  all.flatMap((line, index) => (index === 0 ? line : [BREAK, ...line]));

export const textSection = (elements: RichTextElement[]): RichTextSection => ({ type: 'rich_text_section', elements });

export const richText = (...elements: RichTextBlock['elements']): RichTextBlock => ({ type: 'rich_text', elements });

/** One block of these parts; nothing where there are none. */
const richTextOf = (parts: RichTextBlock['elements']): RichTextBlock[] =>
  parts.length === 0 ? [] : [richText(...parts)];

/** Slack refuses an empty text. */
const lineElements = (line: Line): RichTextElement[] => line.filter(({ text }) => text !== '').map(elementOf);

/** Lines of ours, with names and values from outside in them. */
export const linesBlock = (lines: readonly Line[]): RichTextBlock[] => {
  const shown = lines.map(lineElements).filter((line) => line.length > 0);
  return richTextOf(shown.length === 0 ? [] : [textSection(joinLines(shown))]);
};

/** `Flash loan – 12,400 ETH borrowed`, on one line: a text of its own lines could pass for several detectors. */
const detectionElements = ({ name, message, between = ' – ' }: Detection): RichTextElement[] => {
  const said = cleanLine(message);
  return [bold(name), ...(said === '' ? [] : [words(`${between}${said}`)])];
};

const quote = (elements: RichTextElement[]): RichTextQuote => ({ type: 'rich_text_quote', elements });

/** An announcement: commands as code, transactions linked. */
const ownSection = (message: string, lines: readonly Line[] = []): RichTextSection => {
  const elements = joinLines(lines.map(lineElements));
  return textSection(elements.length === 0 ? [words(message)] : elements);
};

/** What happened. Text from outside stands in a quote, so that it cannot pass for ours. */
export const happenedParts = ({
  detections,
  message,
  messageLines,
  isOurs,
}: Pick<Content, 'detections' | 'message' | 'messageLines' | 'isOurs'>): (RichTextQuote | RichTextSection)[] => [
  ...(detections.length === 0 ? [] : [quote(joinLines(detections.map(detectionElements)))]),
  ...(message === undefined ? [] : [isOurs ? ownSection(message, messageLines) : quote([words(message)])]),
];

/** `more`: a line of ours below the quote. */
export const happenedBlocks = (content: Content, more: string): RichTextBlock[] =>
  richTextOf([...happenedParts(content), ...(more === '' ? [] : [textSection([words(more)])])]);

// The folded part of a message, beside a bar in the colour of the severity: in an attachment, which Slack shows below the
// message and folds when it is long. Values stand alone in code, so that they can be copied as they are.

/** Slack's own names of colours are grey beside blocks (slackapi/python-slack-sdk#1330). */
const COLORS: Readonly<Record<Tone, string>> = {
  critical: '#d92d20',
  suspicious: '#f79009',
  calm: '#12b76a',
  news: '#2e90fa',
  trouble: '#f79009',
  test: '#7a5af8',
};

/** Somebody is on it. */
export const GREY = '#98a2b3';

export const colored = (tone: Tone, blocks: KnownBlock[]): MessageAttachment[] =>
  blocks.length === 0 ? [] : [{ color: COLORS[tone], blocks }];

/** A section takes 500 elements, and a fact has four with its line break. */
const FACTS_IN_ONE = 100;

const valueElement = ({ value, code, isHeading }: Fact): RichTextElement => {
  if (isHeading) return bold(value);
  return code ? codeWords(value) : words(value);
};

const factElements = (fact: Fact): RichTextElement[] => [
  words(`${fact.label}: `),
  valueElement(fact),
  ...(fact.note === undefined ? [] : [words(` (${fact.note})`)]),
];

export const factBlocks = (facts: readonly Fact[]): RichTextBlock[] =>
  richTextOf(chunksOf(facts, FACTS_IN_ONE).map((some) => textSection(joinLines(some.map(factElements)))));

const wholeElements = ({ name, message }: Detection): RichTextElement[] =>
  message === '' ? [bold(name)] : [bold(name), words(`, in full:\n${message}`)];

/** What detectors say that is not, or not in full, above: each in a quote of its own. */
export const wholeBlocks = (whole: readonly Detection[]): RichTextBlock[] =>
  richTextOf(whole.map((detection) => quote(wholeElements(detection))));
