/**
 * Attachments: blocks beside a bar of colour, or Slack's older texts.
 * Source: https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments
 */
import { isObject, type JsonValue } from '../../json.ts';
import { collectTexts, findBlockProblems } from './blocks.ts';
import { checkOptional, problem } from './check.ts';

const FOOTER_MAX = 300;
const COLOR = /^(?:good|warning|danger|#?[0-9a-f]{3}(?:[0-9a-f]{3})?)$/i;

export const findAttachmentProblems = (value: JsonValue, pointer: string): string[] => {
  if (!isObject(value)) return [problem('must be an object', pointer)];
  const { color, blocks, footer } = value;
  const colored = color === undefined || (typeof color === 'string' && COLOR.test(color));
  return [
    ...(colored ? [] : [problem('invalid color', `${pointer}/color`)]),
    ...checkOptional(footer, FOOTER_MAX, `${pointer}/footer`),
    ...(blocks === undefined ? [] : findListProblems(blocks, `${pointer}/blocks`)),
  ];
};

const findListProblems = (blocks: JsonValue, pointer: string): string[] =>
  Array.isArray(blocks) ? findBlockProblems(blocks, pointer) : [problem('must be an array', pointer)];

/** What is shown beside the bar, in reading order, in Slack's markup. `fallback` is not: it is for push messages. */
export const collectAttachment = (value: JsonValue): string[] =>
  isObject(value) ? [value.pretext, value.title, value.text, value.blocks, value.footer].flatMap(collectTexts) : [];
