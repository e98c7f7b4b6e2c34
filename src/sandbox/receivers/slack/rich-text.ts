/**
 * `rich_text` blocks: their shapes, and what a reader sees of them. Nothing in them is markup.
 * Source: https://docs.slack.dev/reference/block-kit/blocks/rich-text-block and the pages of its elements
 */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';
import {
  asObject,
  type Check,
  checkChoice,
  checkFields,
  checkLength,
  checkList,
  checkOptional,
  checkUrl,
  problem,
} from './check.ts';
import { checkDateFormat } from './dates.ts';

/** Undocumented. A single text beyond it would be beyond the limit of all blocks as well. */
const TEXT_MAX = 12_000;
const ELEMENTS_MAX = 500;
const INDENT_MAX = 8;

const STYLES = ['bold', 'italic', 'strike', 'code', 'underline', 'highlight', 'client_highlight', 'unlink'];

const checkStyle = (style: JsonValue | undefined, pointer: string): string[] => {
  if (style === undefined) return [];
  if (!isObject(style)) return [problem('must be an object', pointer)];
  const values = Object.entries(style).filter(([, value]) => typeof value !== 'boolean');
  return [
    ...checkFields(style, STYLES, pointer),
    ...values.map(([name]) => problem('must be a boolean', `${pointer}/${name}`)),
  ];
};

const checkId = (field: string): Check => {
  const check: Check = (value, pointer) => checkLength(value[field], 255, `${pointer}/${field}`);
  return check;
};

const checkDate: Check = ({ timestamp, format, url, fallback }, pointer) => [
  ...(Number.isSafeInteger(timestamp) ? [] : [problem('must be a whole number of seconds', `${pointer}/timestamp`)]),
  ...checkLength(format, TEXT_MAX, `${pointer}/format`),
  ...checkDateFormat(format, `${pointer}/format`),
  ...(url === undefined ? [] : checkUrl(url, `${pointer}/url`)),
  ...checkOptional(fallback, TEXT_MAX, `${pointer}/fallback`),
];

/** What a section, a quote or an item of a list is made of. */
const ELEMENTS: Readonly<Record<string, { fields: readonly string[]; check: Check }>> = {
  text: { fields: ['text'], check: ({ text }, pointer) => checkLength(text, TEXT_MAX, `${pointer}/text`) },
  link: {
    fields: ['url', 'text', 'unsafe'],
    check: ({ url, text }, pointer) => [
      ...checkUrl(url, `${pointer}/url`),
      ...checkOptional(text, TEXT_MAX, `${pointer}/text`),
    ],
  },
  date: { fields: ['timestamp', 'format', 'timezone', 'url', 'fallback'], check: checkDate },
  emoji: { fields: ['name', 'unicode', 'url', 'skin_tone'], check: checkId('name') },
  color: { fields: ['value'], check: checkId('value') },
  user: { fields: ['user_id'], check: checkId('user_id') },
  usergroup: { fields: ['usergroup_id'], check: checkId('usergroup_id') },
  channel: { fields: ['channel_id'], check: checkId('channel_id') },
  team: { fields: ['team_id'], check: checkId('team_id') },
  broadcast: {
    fields: ['range'],
    check: ({ range = '' }, pointer) => checkChoice(range, ['here', 'channel', 'everyone'], `${pointer}/range`),
  },
};

const checkElement =
  (allowed: readonly string[]) =>
  (value: JsonValue, pointer: string): string[] =>
    asObject(value, pointer, (element, at) => {
      const type = String(element.type);
      const known = allowed.includes(type) && Object.hasOwn(ELEMENTS, type) ? ELEMENTS[type] : undefined;
      if (!known) return [problem(`unsupported rich text element: ${type}`, at)];
      return [
        ...checkFields(element, ['type', 'style', ...known.fields], at),
        ...checkStyle(element.style, `${at}/style`),
        ...known.check(element, at),
      ];
    });

const ALL = Object.keys(ELEMENTS);
const BORDER = [0, 1];

const checkSection: Check = (part, pointer) => [
  ...checkFields(part, ['type', 'elements'], pointer),
  ...checkList(part.elements, ELEMENTS_MAX, `${pointer}/elements`, checkElement(ALL)),
];

const checkItem = (value: JsonValue, pointer: string): string[] =>
  isObject(value) && value.type === 'rich_text_section'
    ? checkSection(value, pointer)
    : [problem('unsupported rich text element', pointer)];

const PARTS: Readonly<Record<string, Check>> = {
  rich_text_section: checkSection,
  rich_text_quote: (part, pointer) => [
    ...checkFields(part, ['type', 'elements', 'border'], pointer),
    ...checkChoice(part.border, BORDER, `${pointer}/border`),
    ...checkList(part.elements, ELEMENTS_MAX, `${pointer}/elements`, checkElement(ALL)),
  ],
  rich_text_preformatted: (part, pointer) => [
    ...checkFields(part, ['type', 'elements', 'border', 'language'], pointer),
    ...checkChoice(part.border, BORDER, `${pointer}/border`),
    ...checkList(part.elements, ELEMENTS_MAX, `${pointer}/elements`, checkElement(['text', 'link'])),
  ],
  rich_text_list: (part, pointer) => [
    ...checkFields(part, ['type', 'elements', 'style', 'indent', 'offset', 'border'], pointer),
    ...checkChoice(part.style ?? '', ['bullet', 'ordered'], `${pointer}/style`),
    ...checkChoice(
      part.indent,
      Array.from({ length: INDENT_MAX + 1 }, (_, level) => level),
      `${pointer}/indent`,
    ),
    ...checkChoice(part.border, BORDER, `${pointer}/border`),
    ...checkList(part.elements, ELEMENTS_MAX, `${pointer}/elements`, checkItem),
  ],
};

const checkPart = (value: JsonValue, pointer: string): string[] => {
  const type = isObject(value) ? String(value.type) : '';
  const check = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
  return isObject(value) && check ? check(value, pointer) : [problem('unsupported rich text element', pointer)];
};

export const checkRichText: Check = (block, pointer) => [
  ...checkFields(block, ['type', 'block_id', 'elements'], pointer),
  ...checkList(block.elements, ELEMENTS_MAX, `${pointer}/elements`, checkPart),
];

const escaped = (value: JsonValue | undefined): string =>
  typeof value === 'string'
    ? value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    : String(value ?? '');

/** As Slack's markup would have it, so that mentions and links are found as elsewhere. */
const write = (element: JsonObject): string => {
  const { type, text, url, fallback, format, range } = element;
  switch (type) {
    case 'link':
      return `<${escaped(url)}|${escaped(text ?? url)}>`;
    case 'date':
      return escaped(fallback ?? format);
    case 'broadcast':
      return `<!${escaped(range)}>`;
    case 'user':
      return `<@${escaped(element.user_id)}>`;
    case 'usergroup':
      return `<!subteam^${escaped(element.usergroup_id)}>`;
    case 'channel':
      return `<#${escaped(element.channel_id)}>`;
    case 'emoji':
      return `:${escaped(element.name)}:`;
    default:
      return escaped(text ?? element.value);
  }
};

const elementsOf = ({ elements }: JsonObject): JsonObject[] =>
  Array.isArray(elements) ? elements.filter(isObject) : [];

/** A text for each section, quote, code block and item of a list. */
export const richTexts = (block: JsonObject): string[] =>
  elementsOf(block).flatMap((part) =>
    (part.type === 'rich_text_list' ? elementsOf(part) : [part]).map((each) => elementsOf(each).map(write).join('')),
  );
