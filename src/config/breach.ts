/** What a rule over several keys finds, and how such rules read values that may be wrong by themselves. */
import type { Path } from './display.ts';

export interface Breach {
  path: Path;
  rule: string;
}

export type Values = Readonly<Record<string, unknown>>;

/** Empty where it is no map. */
export const mapOf = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};

/** Empty where it is no list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A key whose variable is missing has no value, but it is there. */
export const has = (values: Values, key: string): boolean => Object.hasOwn(values, key);
