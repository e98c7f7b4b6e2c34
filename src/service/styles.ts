/**
 * How the service wants a list of values in its query. That is not documented, and a wrong style causes no error: the
 * service may see only the first value, or none. So a style is proven only when an answer has shown items of two of the
 * values (or of the one, where only one is asked for). Until then a thorough read asks in every style.
 */
import type { ServiceError } from '../errors.ts';
import type { ArrayParams } from './address.ts';

/** What one answer in one style showed: items of this many of the values, or that it was refused with 4xx. */
export type StyleResult = { shown: number } | { refusal: ServiceError };

export interface ListStyles {
  /** The one to ask in when only one request is made. */
  current(): ArrayParams;
  isProven(values: readonly string[]): boolean;
  /**
   * Every style that could be right for these values, the current one first. A single value looks the same repeated and
   * with commas.
   */
  candidates(values: readonly string[]): ArrayParams[];
  /** Counts a failure of a style; gives how many there were in a row. */
  failed(style: ArrayParams): number;
  /** Learns from what a read of these values showed. */
  learn(values: readonly string[], results: ReadonlyMap<ArrayParams, StyleResult>): void;
}

const ALL: readonly ArrayParams[] = ['repeat', 'brackets', 'comma'];
/** Single values that must fail in one style and work in another before we change: one may be unknown to the service. */
const REFUSALS = 2;

const shownIn = (result: StyleResult | undefined): number => (result && 'shown' in result ? result.shown : 0);

/** `onChange` is called once for each change of the current style. */
export const createListStyles = (configured: ArrayParams, onChange: (style: ArrayParams) => void): ListStyles => {
  let current = configured;
  let proof = 0;
  const refusedAlone = new Set<string>();
  const failures = new Map<ArrayParams, number>();

  const isProven = (values: readonly string[]): boolean => proof >= Math.min(2, values.length);

  const change = (style: ArrayParams, shown: number): void => {
    proof = Math.max(style === current ? proof : 0, shown);
    if (style === current) return;
    refusedAlone.clear();
    current = style;
    onChange(style);
  };

  /** The current style fails for single values that work in another one. */
  const noteRefusal = (value: string, results: ReadonlyMap<ArrayParams, StyleResult>): void => {
    const other = ALL.find((style) => {
      const result = results.get(style);
      return result !== undefined && 'shown' in result;
    });
    const own = results.get(current);
    if (own && 'refusal' in own && other !== undefined) refusedAlone.add(value);
    else if (own) refusedAlone.clear();
    if (refusedAlone.size >= REFUSALS && other !== undefined) change(other, 0);
  };

  return {
    current: () => current,
    isProven,
    candidates: (values) => {
      if (values.length > 1) return [current, ...ALL.filter((style) => style !== current)];
      return current === 'brackets' ? [current, 'repeat'] : [current, 'brackets'];
    },
    failed: (style) => {
      const times = (failures.get(style) ?? 0) + 1;
      failures.set(style, times);
      return times;
    },
    learn: (values, results) => {
      for (const [style, result] of results) if ('shown' in result) failures.delete(style);
      const [best = current] = [...results.keys()].toSorted(
        (a, b) => shownIn(results.get(b)) - shownIn(results.get(a)),
      );
      if (shownIn(results.get(best)) > shownIn(results.get(current))) change(best, shownIn(results.get(best)));
      else change(current, shownIn(results.get(current)));
      const [value] = values;
      if (values.length === 1 && value !== undefined && !isProven(values)) noteRefusal(value, results);
    },
  };
};
