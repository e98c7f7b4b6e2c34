/** Rules about JSON that vendors publish, as functions that find what breaks them: one sentence each, with its place. */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';

/** What is wrong with a value that stands at `at`. */
export type Rule = (value: JsonValue, at: string) => string[];

interface TextBounds {
  min?: number;
  max?: number;
  pattern?: RegExp;
}

/** Lengths in UTF-16 units: no vendor counts more. */
export const text =
  ({ min = 1, max = Number.POSITIVE_INFINITY, pattern }: TextBounds = {}): Rule =>
  (value, at) => {
    if (typeof value !== 'string') return [`${at} must be a string`];
    if (value.length < min) return [`${at} is too short`];
    if (value.length > max) return [`${at} is too long: ${value.length} of ${max}`];
    return pattern === undefined || pattern.test(value) ? [] : [`${at} is malformed`];
  };

export const oneOf =
  (...words: readonly JsonValue[]): Rule =>
  (value, at) =>
    words.includes(value) ? [] : [`${at} must be one of ${words.join(', ')}`];

export const flag: Rule = (value, at) => (typeof value === 'boolean' ? [] : [`${at} must be true or false`]);

export const whole =
  (min: number, max: number): Rule =>
  (value, at) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? []
      : [`${at} must be a whole number from ${min} to ${max}`];

export const anything: Rule = () => [];

export const list =
  (each: Rule, { min = 0, max = Number.POSITIVE_INFINITY } = {}): Rule =>
  (value, at) => {
    if (!Array.isArray(value)) return [`${at} must be a list`];
    if (value.length < min || value.length > max) return [`${at} must have ${min} to ${max} entries`];
    return value.flatMap((one, index) => each(one, `${at}[${index}]`));
  };

/** Every value by one rule, every key by a pattern. */
export const map =
  (each: Rule, key = /./s): Rule =>
  (value, at) => {
    if (!isObject(value)) return [`${at} must be an object`];
    return Object.entries(value).flatMap(([name, one]) => [
      ...(key.test(name) ? [] : [`${at}.${name} has a name that is not allowed`]),
      ...each(one, `${at}.${name}`),
    ]);
  };

/** Known keys only: a vendor ignores the others, and so would their reader. */
export const object =
  (required: Readonly<Record<string, Rule>>, optional: Readonly<Record<string, Rule>> = {}): Rule =>
  (value, at) => {
    if (!isObject(value)) return [`${at} must be an object`];
    const rules: Readonly<Record<string, Rule>> = { ...required, ...optional };
    const missing = Object.keys(required).filter((name) => !Object.hasOwn(value, name));
    return [
      ...missing.map((name) => `${at}.${name} is required`),
      ...Object.entries(value).flatMap(([name, one]) => {
        const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
        return rule === undefined ? [`${at}.${name} is not documented`] : rule(one, `${at}.${name}`);
      }),
    ];
  };

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** RFC 3339. */
export const dateTime: Rule = (value, at) =>
  typeof value === 'string' && DATE_TIME.test(value) && !Number.isNaN(Date.parse(value))
    ? []
    : [`${at} must be a date-time by RFC 3339`];

export const webUrl: Rule = (value, at) =>
  typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? '') ? [] : [`${at} must be a URL`];

/** Every string in a value, in its order. */
export const stringsIn = (value: JsonValue): string[] => {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isObject(value) ? Object.values(value).flatMap(stringsIn) : [];
};

export const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});
