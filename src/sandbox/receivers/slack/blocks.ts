/**
 * Block Kit as far as messages use it: shapes and lengths, worded like Slack's `response_metadata.messages`.
 * Source: https://docs.slack.dev/reference/block-kit/blocks
 */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';

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
const URL_MAX = 3000;

type Check = (value: JsonObject, pointer: string) => string[];

const problem = (text: string, pointer: string): string => `${text} [json-pointer:${pointer}]`;

const checkLength = (value: JsonValue | undefined, max: number, pointer: string): string[] => {
  if (typeof value !== 'string') return [problem('missing required field or not a string', pointer)];
  if (value.length === 0) return [problem('must be more than 0 characters', pointer)];
  return value.length > max ? [problem(`must be less than ${max + 1} characters`, pointer)] : [];
};

const checkOptional = (value: JsonValue | undefined, max: number, pointer: string): string[] =>
  value === undefined ? [] : checkLength(value, max, pointer);

const checkText = (value: JsonValue | undefined, max: number, pointer: string, types: readonly string[]): string[] => {
  if (!isObject(value)) return [problem('must be an object', pointer)];
  const { type, text } = value;
  const typed =
    typeof type === 'string' && types.includes(type) ? [] : [problem('unsupported type', `${pointer}/type`)];
  return [...typed, ...checkLength(text, max, `${pointer}/text`)];
};

const ANY_TEXT = ['mrkdwn', 'plain_text'];

const checkList = (
  value: JsonValue | undefined,
  max: number,
  pointer: string,
  check: (element: JsonValue, pointer: string) => string[],
): string[] => {
  if (!Array.isArray(value) || value.length === 0) return [problem('must be an array with items', pointer)];
  const many = value.length > max ? [problem(`no more than ${max} items allowed`, pointer)] : [];
  return [...many, ...value.flatMap((element, index) => check(element, `${pointer}/${index}`))];
};

const checkButton = (value: JsonValue, pointer: string): string[] => {
  if (!isObject(value) || value.type !== 'button') return [problem('unsupported type', pointer)];
  return [
    ...checkText(value.text, BUTTON_TEXT_MAX, `${pointer}/text`, ['plain_text']),
    ...checkOptional(value.value, BUTTON_VALUE_MAX, `${pointer}/value`),
    ...checkOptional(value.url, URL_MAX, `${pointer}/url`),
  ];
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

const RICH_TEXT_PARTS = ['rich_text_section', 'rich_text_list', 'rich_text_preformatted', 'rich_text_quote'];

const checkRichTextPart = (value: JsonValue, pointer: string): string[] =>
  isObject(value) && RICH_TEXT_PARTS.includes(String(value.type)) && Array.isArray(value.elements)
    ? []
    : [problem('unsupported rich text element', pointer)];

const CHECKS: Readonly<Record<string, Check>> = {
  section: checkSection,
  header: ({ text }, pointer) => checkText(text, HEADER_MAX, `${pointer}/text`, ['plain_text']),
  divider: () => [],
  context: ({ elements }, pointer) =>
    checkList(elements, CONTEXT_ELEMENTS_MAX, `${pointer}/elements`, checkContextElement),
  actions: ({ elements }, pointer) => checkList(elements, ACTIONS_ELEMENTS_MAX, `${pointer}/elements`, checkButton),
  image: checkImage,
  markdown: ({ text }, pointer) => checkLength(text, MARKDOWN_MAX, `${pointer}/text`),
  rich_text: ({ elements }, pointer) => checkList(elements, BLOCKS_MAX, `${pointer}/elements`, checkRichTextPart),
};

const checkBlock = (value: JsonValue, pointer: string): string[] => {
  if (!isObject(value)) return [problem('must be an object', pointer)];
  const check = typeof value.type === 'string' && Object.hasOwn(CHECKS, value.type) ? CHECKS[value.type] : undefined;
  if (!check) return [problem(`unsupported type: ${String(value.type)}`, pointer)];
  return [...checkOptional(value.block_id, BLOCK_ID_MAX, `${pointer}/block_id`), ...check(value, pointer)];
};

const findRepeatedIds = (blocks: readonly JsonValue[]): string[] => {
  const ids = blocks.filter(isObject).flatMap(({ block_id: id }) => (typeof id === 'string' ? [id] : []));
  return new Set(ids).size === ids.length ? [] : [problem('block_id must be unique', '/blocks')];
};

/** What Slack would refuse, one sentence each; empty where it would take the blocks. */
export const findBlockProblems = (blocks: readonly JsonValue[]): string[] => [
  ...(blocks.length > BLOCKS_MAX ? [problem(`no more than ${BLOCKS_MAX} items allowed`, '/blocks')] : []),
  ...findRepeatedIds(blocks),
  ...blocks.flatMap((block, index) => checkBlock(block, `/blocks/${index}`)),
];

const SHOWN = ['text', 'fields', 'elements', 'accessory', 'url', 'alt_text', 'title'];

/** Every text in the blocks, in reading order, still in Slack's markup. */
export const collectTexts = (value: JsonValue | undefined): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectTexts);
  if (!isObject(value)) return [];
  return SHOWN.flatMap((field) => collectTexts(value[field]));
};
