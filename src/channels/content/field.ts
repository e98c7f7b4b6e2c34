/** Single fields of an item as plain text. A value of another type is shown as JSON, a missing one as `unknown`. */
import type { JsonObject, JsonValue } from '../../alert.ts';
import { cleanLine } from '../../text.ts';

export const UNKNOWN = 'unknown';

export const text = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value)) || UNKNOWN;
};

export const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
