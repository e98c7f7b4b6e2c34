/** One YAML scalar to a value: variables replaced, and read as the type that the schema has for its place. */
import type { Scalar } from 'yaml';
import type { Interpolate, Interpolated } from './interpolate.ts';

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A variable is text; where the schema wants a number or a boolean, it is read as one. */
const typed = (text: string, types: readonly string[]): unknown => {
  if (types.includes('string')) return text;
  if ((types.includes('number') || types.includes('integer')) && NUMBER.test(text)) return Number(text);
  return types.includes('boolean') && /^(true|false)$/.test(text) ? text === 'true' : text;
};

/** A chat id may be written as a number; its digits must not pass through a double. */
const keepsDigits = (source: string, types: readonly string[]): boolean =>
  types.includes('string') && types.includes('integer') && /^[-+]?\d+$/.test(source);

export interface ScalarReading extends Pick<Interpolated, 'sources' | 'problems'> {
  /** Not to be used where there are problems. */
  value: unknown;
}

/** `types` are the JSON Schema types of the place. */
export const readScalar = (
  { value, source }: Scalar,
  types: readonly string[],
  interpolate: Interpolate,
): ScalarReading => {
  if (typeof value === 'string' && value.includes('$')) {
    const { text, sources, problems } = interpolate(value);
    return { value: sources.length === 0 ? text : typed(text, types), sources, problems };
  }
  const asWritten = typeof value === 'number' && source !== undefined && keepsDigits(source, types);
  return { value: asWritten ? source : value, sources: [], problems: [] };
};
