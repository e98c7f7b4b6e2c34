/**
 * The folded part of a message, beside a bar in the colour of the severity: in an attachment, which Slack shows below the
 * message and folds when it is long. Values stand alone in code, so that they can be copied, whatever is in them.
 */
import type { KnownBlock, MessageAttachment, RichTextBlock, RichTextElement } from '@slack/types';
import { chunksOf } from '../../chunks.ts';
import type { Detection, Fact } from '../content/content.ts';
import type { Tone } from '../content/severity.ts';
import { bold, codeWords, joinLines, quote, richText, textSection, words } from './rich-text.ts';

/** Slack's own names of colours are grey beside blocks (slackapi/python-slack-sdk#1330). */
const COLORS: Readonly<Record<Tone, string>> = {
  critical: '#d92d20',
  suspicious: '#f79009',
  calm: '#12b76a',
  news: '#2e90fa',
  trouble: '#f79009',
  test: '#7a5af8',
};

/** Blocks beside a bar of colour. */
export const colored = (tone: Tone, blocks: KnownBlock[]): MessageAttachment[] =>
  blocks.length === 0 ? [] : [{ color: COLORS[tone], blocks }];

/** A section takes 500 elements, and a fact has four with its line break. */
const FACTS_IN_ONE = 100;

const factElements = ({ label, value, code, note }: Fact): RichTextElement[] => [
  words(`${label}: `),
  code ? codeWords(value) : words(value),
  ...(note === undefined ? [] : [words(` (${note})`)]),
];

export const factBlocks = (facts: readonly Fact[]): RichTextBlock[] =>
  facts.length === 0
    ? []
    : [richText(...chunksOf(facts, FACTS_IN_ONE).map((some) => textSection(joinLines(some.map(factElements)))))];

const wholeElements = ({ name, message }: Detection): RichTextElement[] =>
  message === '' ? [bold(name)] : [bold(name), words(`, in full:\n${message}`)];

/** What detectors say that is not, or not in full, above: each in a quote of its own. */
export const wholeBlocks = (whole: readonly Detection[]): RichTextBlock[] =>
  whole.length === 0 ? [] : [richText(...whole.map((detection) => quote(wholeElements(detection))))];
