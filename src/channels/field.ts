/** Single fields of an item as plain text: what is no text is shown all the same, what is missing as `unknown`. */
import type { JsonObject, JsonValue } from '../alert.ts';
import { cleanLine } from './text.ts';

export const UNKNOWN = 'unknown';

export const text = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value)) || UNKNOWN;
};

export const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Milliseconds since 1970 of an ISO 8601 date-time, or NaN. */
const timeOf = (value: JsonValue | undefined): number =>
  typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number.NaN;

/** `2026-11-20 10:07:31 UTC`; what is no ISO 8601 date-time is shown as it came. */
export const timeText = (value: JsonValue | undefined): string => {
  const time = timeOf(value);
  return Number.isNaN(time) ? text(value) : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
};

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** `19 s`; undefined where a time cannot be read, or a clock is behind. */
export const elapsed = (from: JsonValue | undefined, to: JsonValue | undefined): string | undefined => {
  const seconds = Math.floor((timeOf(to) - timeOf(from)) / 1000);
  const [size, unit] = UNITS.find(([atLeast]) => seconds >= atLeast) ?? [1, 's'];
  return seconds >= 0 ? `${Math.floor(seconds / size)} ${unit}` : undefined;
};
