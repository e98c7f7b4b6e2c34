/** Values of JSON from outside, whose shape nobody promises. Pure. */

/** No object: one without fields. */
export const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};

/** The object that a JSON text is; without fields where it is another value, or no JSON. */
export const jsonObjectIn = (text: string): Record<string, unknown> => {
  try {
    return objectIn(JSON.parse(text));
  } catch {
    return {};
  }
};

/** Empty for anything but a text. Not cleaned. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The same of an id, which may be a number. */
export const idIn = (value: unknown): string => (typeof value === 'number' ? String(value) : textIn(value));
