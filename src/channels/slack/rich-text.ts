/**
 * `rich_text` blocks: nothing in their texts is markup, a link or a mention, so text from outside stands in them as it is.
 * Source: docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
import type { RichTextBlock, RichTextElement, RichTextQuote, RichTextSection } from '@slack/types';
import { cleanLine } from '../../text.ts';
import type { Content, Detection, Line, Piece } from '../content/content.ts';

/** As the reader's clock and calendar have it. Source: docs.slack.dev/messaging/formatting-message-text#date-formatting */
const FORMATS = { date: '{date_short_pretty} {time_secs}', time: '{time_secs}' } as const;

/** With the date where our own text for a moment has one: where it is another day than that of the message. */
export const dateFormat = (text: string): string => (/^\d{4}-/.test(text) ? FORMATS.date : FORMATS.time);

export const words = (text: string): RichTextElement => ({ type: 'text', text });
export const bold = (text: string): RichTextElement => ({ type: 'text', text, style: { bold: true } });
export const codeWords = (text: string): RichTextElement => ({ type: 'text', text, style: { code: true } });
const BREAK = words('\n');

export const secondsOf = (epochMs: number): number => Math.floor(epochMs / 1000);

/** A piece of a line as Slack shows it: a link, a time by the reader's clock, code, or words. */
export const elementOf = ({ text, code, url, at }: Piece): RichTextElement => {
  if (url !== undefined) return { type: 'link', url, text };
  if (at !== undefined) return { type: 'date', timestamp: secondsOf(at), format: dateFormat(text), fallback: text };
  return code ? codeWords(text) : words(text);
};

/** Slack refuses an empty text. */
const isShown = ({ text }: Piece): boolean => text !== '';

/** Each line as elements. */
export const joinLines = (all: readonly RichTextElement[][]): RichTextElement[] =>
  all.flatMap((line, index) => (index === 0 ? line : [BREAK, ...line]));

export const textSection = (elements: RichTextElement[]): RichTextSection => ({ type: 'rich_text_section', elements });

export const richText = (...elements: RichTextBlock['elements']): RichTextBlock => ({ type: 'rich_text', elements });

const lineElements = (line: Line): RichTextElement[] => line.filter(isShown).map(elementOf);

/** Lines of ours, with names and values from outside in them. */
export const linesBlock = (lines: readonly Line[]): RichTextBlock[] => {
  const shown = lines.map(lineElements).filter((line) => line.length > 0);
  return shown.length === 0 ? [] : [richText(textSection(joinLines(shown)))];
};

/** `Flash loan – 12,400 ETH borrowed`, on one line: a text of its own lines could pass for several detectors. */
const detectionElements = ({ name, message }: Detection): RichTextElement[] => {
  const said = cleanLine(message);
  return [bold(name), ...(said === '' ? [] : [words(` – ${said}`)])];
};

export const quote = (elements: RichTextElement[]): RichTextQuote => ({ type: 'rich_text_quote', elements });

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
export const happenedBlocks = (content: Content, more = ''): RichTextBlock[] => {
  const parts = [...happenedParts(content), ...(more === '' ? [] : [textSection([words(more)])])];
  return parts.length === 0 ? [] : [richText(...parts)];
};
