/** How deep a value of the service may be nested: what writes JSON recurses, and ends with an exception somewhere above 4,000. */
import type { JsonValue } from '../alert.ts';

const MOST_DEEP = 500;
export const TOO_DEEP = `nested more than ${MOST_DEEP} deep`;

const isDeeper = (value: JsonValue, left: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (left === 0 || Object.values(value).some((inner) => isDeeper(inner, left - 1)));

const cut = (value: JsonValue, left: number): JsonValue => {
  if (typeof value !== 'object' || value === null) return value;
  if (left === 0) return `(${TOO_DEEP})`;
  if (Array.isArray(value)) return value.map((inner) => cut(inner, left - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, left - 1)]));
};

export const isTooDeep = (value: JsonValue): boolean => isDeeper(value, MOST_DEEP);

/** The value itself, or where it is too deep a copy with a text for what lies too deep. */
export const cutDeep = (value: JsonValue): JsonValue => (isTooDeep(value) ? cut(value, MOST_DEEP) : value);
