/** Words and measures of Slack's complaints about blocks, as in `response_metadata.messages`. */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';

export type Check = (value: JsonObject, pointer: string) => string[];

/** Of every address in a block. */
export const URL_MAX = 3000;

export const problem = (text: string, pointer: string): string => `${text} [json-pointer:${pointer}]`;

export const checkLength = (value: JsonValue | undefined, max: number, pointer: string): string[] => {
  if (typeof value !== 'string') return [problem('missing required field or not a string', pointer)];
  if (value.length === 0) return [problem('must be more than 0 characters', pointer)];
  return value.length > max ? [problem(`must be less than ${max + 1} characters`, pointer)] : [];
};

export const checkOptional = (value: JsonValue | undefined, max: number, pointer: string): string[] =>
  value === undefined ? [] : checkLength(value, max, pointer);

const SCHEMES = ['http:', 'https:', 'mailto:'];

/** Required, and an address that Slack opens. */
export const checkUrl = (value: JsonValue | undefined, pointer: string): string[] => {
  const problems = checkLength(value, URL_MAX, pointer);
  if (problems.length > 0) return problems;
  const scheme = URL.parse(String(value))?.protocol ?? '';
  return SCHEMES.includes(scheme) ? [] : [problem('must be a valid URL', pointer)];
};

export const checkList = (
  value: JsonValue | undefined,
  max: number,
  pointer: string,
  check: (element: JsonValue, pointer: string) => string[],
): string[] => {
  if (!Array.isArray(value) || value.length === 0) return [problem('must be an array with items', pointer)];
  const many = value.length > max ? [problem(`no more than ${max} items allowed`, pointer)] : [];
  return [...many, ...value.flatMap((element, index) => check(element, `${pointer}/${index}`))];
};

/** Slack refuses fields that it does not know. */
export const checkFields = (value: JsonObject, known: readonly string[], pointer: string): string[] =>
  Object.keys(value)
    .filter((field) => !known.includes(field))
    .map((field) => problem(`invalid additional property: ${field}`, pointer));

/** One of the values, where there is one. */
export const checkChoice = (value: JsonValue | undefined, choices: readonly JsonValue[], pointer: string): string[] =>
  value === undefined || choices.includes(value) ? [] : [problem(`must be one of ${choices.join(', ')}`, pointer)];

export const asObject = (value: JsonValue, pointer: string, check: Check): string[] =>
  isObject(value) ? check(value, pointer) : [problem('must be an object', pointer)];
