/** Bodies of messages as they go over the wire: read as JSON, whatever their kind calls them. */
import type { JsonObject, JsonValue } from '../../alert.ts';

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectsIn = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** What is left of a body when it is sent. */
export const bodyAsJson = (body: unknown): JsonObject => {
  const value = JSON.parse(JSON.stringify(body)) as JsonValue;
  return isObject(value) ? value : {};
};
