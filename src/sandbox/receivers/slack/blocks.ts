/**
 * Block Kit as far as messages use it: shapes and lengths, worded like Slack's `response_metadata.messages`.
 * Source: https://docs.slack.dev/reference/block-kit/blocks
 */
import { isObject, type JsonValue } from '../../json.ts';
import {
  type Check,
  checkChoice,
  checkFields,
  checkLength,
  checkList,
  checkOptional,
  checkUrl,
  problem,
  URL_MAX,
} from './check.ts';
import { checkDates } from './dates.ts';
import { checkRichText, richTexts } from './rich-text.ts';

const BLOCKS_MAX = 50;
const TEXT_MAX = 3000;
const FIELDS_MAX = 10;
const FIELD_MAX = 2000;
const HEADER_MAX = 150;
const BLOCK_ID_MAX = 255;
const CONTEXT_ELEMENTS_MAX = 10;
const ACTIONS_ELEMENTS_MAX = 25;
const MARKDOWN_MAX = 12_000;
const BUTTON_TEXT_MAX = 75;
const BUTTON_VALUE_MAX = 2000;
const ACTION_ID_MAX = 255;

const checkText = (value: JsonValue | undefined, max: number, pointer: string, types: readonly string[]): string[] => {
  if (!isObject(value)) return [problem('must be an object', pointer)];
  const { type, text } = value;
  const typed =
    typeof type === 'string' && types.includes(type) ? [] : [problem('unsupported type', `${pointer}/type`)];
  const dates = type === 'mrkdwn' && typeof text === 'string' ? checkDates(text, `${pointer}/text`) : [];
  return [...typed, ...checkLength(text, max, `${pointer}/text`), ...dates];
};

const ANY_TEXT = ['mrkdwn', 'plain_text'];

const BUTTON = ['type', 'text', 'action_id', 'url', 'value', 'style', 'confirm', 'accessibility_label'];

/** Source: https://docs.slack.dev/reference/block-kit/block-elements/button-element */
const checkButton = (value: JsonValue, pointer: string): string[] => {
  if (!isObject(value) || value.type !== 'button') return [problem('unsupported type', pointer)];
  return [
    ...checkFields(value, BUTTON, pointer),
    ...checkText(value.text, BUTTON_TEXT_MAX, `${pointer}/text`, ['plain_text']),
    ...checkOptional(value.action_id, ACTION_ID_MAX, `${pointer}/action_id`),
    ...checkOptional(value.value, BUTTON_VALUE_MAX, `${pointer}/value`),
    ...(value.url === undefined ? [] : checkUrl(value.url, `${pointer}/url`)),
    ...checkChoice(value.style, ['primary', 'danger'], `${pointer}/style`),
    ...checkOptional(value.accessibility_label, BUTTON_TEXT_MAX, `${pointer}/accessibility_label`),
  ];
};

const checkActions: Check = ({ elements }, pointer) => {
  const ids = Array.isArray(elements)
    ? elements.filter(isObject).flatMap(({ action_id: id }) => (typeof id === 'string' ? [id] : []))
    : [];
  const repeated = new Set(ids).size < ids.length ? [problem('action_id must be unique', `${pointer}/elements`)] : [];
  return [...checkList(elements, ACTIONS_ELEMENTS_MAX, `${pointer}/elements`, checkButton), ...repeated];
};

const checkSection: Check = ({ text, fields, accessory }, pointer) => {
  if (text === undefined && fields === undefined) return [problem('missing required field: text', pointer)];
  return [
    ...(text === undefined ? [] : checkText(text, TEXT_MAX, `${pointer}/text`, ANY_TEXT)),
    ...(fields === undefined
      ? []
      : checkList(fields, FIELDS_MAX, `${pointer}/fields`, (field, at) => checkText(field, FIELD_MAX, at, ANY_TEXT))),
    ...(accessory === undefined ? [] : checkAccessory(accessory, `${pointer}/accessory`)),
  ];
};

const checkImage: Check = ({ image_url: url, alt_text: alt }, pointer) => [
  ...checkLength(url, URL_MAX, `${pointer}/image_url`),
  ...checkLength(alt, FIELD_MAX, `${pointer}/alt_text`),
];

const checkAccessory = (value: JsonValue, pointer: string): string[] =>
  isObject(value) && value.type === 'image' ? checkImage(value, pointer) : checkButton(value, pointer);

const checkContextElement = (value: JsonValue, pointer: string): string[] =>
  isObject(value) && value.type === 'image'
    ? checkImage(value, pointer)
    : checkText(value, TEXT_MAX, pointer, ANY_TEXT);

const CHECKS: Readonly<Record<string, Check>> = {
  section: checkSection,
  header: ({ text }, pointer) => checkText(text, HEADER_MAX, `${pointer}/text`, ['plain_text']),
  divider: () => [],
  context: ({ elements }, pointer) =>
    checkList(elements, CONTEXT_ELEMENTS_MAX, `${pointer}/elements`, checkContextElement),
  actions: checkActions,
  image: checkImage,
  markdown: ({ text }, pointer) => checkLength(text, MARKDOWN_MAX, `${pointer}/text`),
  rich_text: checkRichText,
};

const checkBlock = (value: JsonValue, pointer: string): string[] => {
  if (!isObject(value)) return [problem('must be an object', pointer)];
  const check = typeof value.type === 'string' && Object.hasOwn(CHECKS, value.type) ? CHECKS[value.type] : undefined;
  if (!check) return [problem(`unsupported type: ${String(value.type)}`, pointer)];
  return [...checkOptional(value.block_id, BLOCK_ID_MAX, `${pointer}/block_id`), ...check(value, pointer)];
};

const findRepeatedIds = (blocks: readonly JsonValue[], pointer: string): string[] => {
  const ids = blocks.filter(isObject).flatMap(({ block_id: id }) => (typeof id === 'string' ? [id] : []));
  return new Set(ids).size === ids.length ? [] : [problem('block_id must be unique', pointer)];
};

/** What Slack would refuse, one sentence each; empty where it would take the blocks. */
export const findBlockProblems = (blocks: readonly JsonValue[], pointer = '/blocks'): string[] => [
  ...(blocks.length > BLOCKS_MAX ? [problem(`no more than ${BLOCKS_MAX} items allowed`, pointer)] : []),
  ...findRepeatedIds(blocks, pointer),
  ...blocks.flatMap((block, index) => checkBlock(block, `${pointer}/${index}`)),
];

const SHOWN = ['text', 'fields', 'elements', 'accessory', 'url', 'alt_text', 'title'];

/** Every text in the blocks, in reading order, in Slack's markup. */
export const collectTexts = (value: JsonValue | undefined): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  if (!isObject(value)) return [];
  if (value.type === 'rich_text') return richTexts(value);
  return SHOWN.flatMap((field) => collectTexts(value[field]));
};
