/** Single fields of the service's answers, read leniently: what cannot be read is `undefined`, never an exception. */
import type { JsonObject, JsonValue } from '../alert.ts';

export const objectOf = (value: JsonValue | undefined): JsonObject | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;

/** Null or absent is an empty list; a single value may come without its list. */
export const listOf = (value: JsonValue | undefined): JsonValue[] => {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
};

/** Text with something in it, as it stands; a number becomes its digits. */
export const textOf = (value: JsonValue | undefined): string | undefined => {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
};

/** A count or a page number, given as a number or as its digits; never negative. */
export const countOf = (value: JsonValue | undefined): number | undefined => {
  const number = typeof value === 'string' && /^\s*\d+\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
};

/** Numbers below this are seconds: as milliseconds it is March 1973, as seconds the year 5138. */
const SECONDS_BELOW = 1e11;
/** Numbers from here on are no milliseconds of any year that matters. */
const MS_BELOW = 1e14;

const numberMs = (value: number): number | undefined => {
  const ms = Math.round(value < SECONDS_BELOW ? value * 1000 : value);
  return ms > 0 && ms < MS_BELOW ? ms : undefined;
};

const DATE_TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) ?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** `Z` or `+hh:mm`. Without a zone a time is UTC: the runtime would take this machine's zone. */
const zoneOf = (zone = 'Z'): string => {
  if (zone.toUpperCase() === 'Z') return 'Z';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
};

/** Dates before 1970 stand for none, and so does NaN. */
const positive = (ms: number): number | undefined => (ms > 0 ? ms : undefined);

/** Exactly what the runtime writes; three dates an item make the general pattern the slowest part of decoding. */
const CANONICAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const textMs = (text: string): number | undefined => {
  if (CANONICAL.test(text)) return positive(Date.parse(text));
  if (/^\d+(\.\d+)?$/.test(text)) return numberMs(Number(text));
  const [, day, time, zone] = DATE_TIME.exec(text) ?? [];
  if (day === undefined) return undefined;
  return positive(Date.parse(time === undefined ? day : `${day}T${time.replace(',', '.')}${zoneOf(zone)}`));
};

/** Epoch milliseconds of an ISO 8601 date-time, or of seconds or milliseconds as a number or its digits. */
export const dateMs = (value: JsonValue | undefined): number | undefined => {
  if (typeof value === 'number') return numberMs(value);
  return typeof value === 'string' ? textMs(value.trim()) : undefined;
};

/** `{ name: value }`, or nothing where there is no value. */
export const optional = <K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } => {
  const fields: { [P in K]?: V } = {};
  if (value !== undefined) fields[name] = value;
  return fields;
};

/** So deep a value may be nested: what writes JSON recurses, and ends with an exception somewhere above 4,000. */
const MOST_DEEP = 500;
export const TOO_DEEP = `nested more than ${MOST_DEEP} deep`;

/** Asked of every value that the service gives: it makes no lists. */
const isDeeper = (value: JsonValue | undefined, left: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (left === 0) return true;
  if (Array.isArray(value)) return value.some((inner) => isDeeper(inner, left - 1));
  for (const key in value) if (isDeeper(value[key], left - 1)) return true;
  return false;
};

const cut = (value: JsonValue, left: number): JsonValue => {
  if (typeof value !== 'object' || value === null) return value;
  if (left === 0) return `(${TOO_DEEP})`;
  if (Array.isArray(value)) return value.map((inner) => cut(inner, left - 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, left - 1)]));
};

export const isTooDeep = (value: JsonValue): boolean => isDeeper(value, MOST_DEEP);

/** The value itself, or where it is too deep a copy with a text for what lies too deep. */
export const cutDeep = (value: JsonValue): JsonValue => (isTooDeep(value) ? cut(value, MOST_DEEP) : value);
