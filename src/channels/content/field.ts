/** Single fields of an item as plain text. A value of another type is shown as JSON, a missing one as `unknown`. */
import type { JsonObject, JsonValue } from '../../alert.ts';
import { cleanLine } from '../../text.ts';
import { clockText, elapsedText, parseTime } from '../../time.ts';

export const UNKNOWN = 'unknown';

export const text = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value)) || UNKNOWN;
};

export const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** `2026-11-20 10:07:31 UTC`; anything but an ISO 8601 date-time is shown as it came. */
export const timeText = (value: JsonValue | undefined): string => {
  const time = parseTime(value);
  return Number.isNaN(time) ? text(value) : clockText(time);
};

/** `19 s`; undefined if a time cannot be read, or `to` is before `from` (a clock is wrong). */
export const elapsed = (from: JsonValue | undefined, to: JsonValue | undefined): string | undefined => {
  const ms = parseTime(to) - parseTime(from);
  return ms >= 0 ? elapsedText(ms) : undefined;
};
