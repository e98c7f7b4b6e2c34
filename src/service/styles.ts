/**
 * How the service wants a list of values in its query. That is not documented, and a wrong style causes no error: the
 * service may see only the first value, or none. So a style is proven only when an answer has shown items of two of the
 * values (or of the one, where only one is asked for). Until then a thorough read asks in every style.
 */
import { ServiceError } from '../errors.ts';
import type { Item } from '../item.ts';
import { plainName } from '../text.ts';
import { isRefusal } from './page-size.ts';
import type { ArrayParams } from './queries.ts';
import type { StretchPage } from './stretches.ts';

/** What one answer in one style showed: items of this many of the values, or that it was refused with 4xx. */
type StyleResult = { shown: number } | { refusal: ServiceError };
type Results = ReadonlyMap<ArrayParams, StyleResult>;

const ALL: readonly ArrayParams[] = ['repeat', 'brackets', 'comma'];
/** Single values that must fail in one style and work in another before we change: one may be unknown to the service. */
const REFUSALS = 2;

const shownIn = (result: StyleResult | undefined): number => (result && 'shown' in result ? result.shown : 0);

/** `onChange` is called once for each change of the current style. */
export const createListStyles = (configured: ArrayParams, onChange: (style: ArrayParams) => void) => {
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
  const noteRefusal = (value: string, results: Results): void => {
    const other = ALL.find((style) => 'shown' in (results.get(style) ?? {}));
    const own = results.get(current);
    if (own && 'refusal' in own && other !== undefined) refusedAlone.add(value);
    else if (own) refusedAlone.clear();
    if (refusedAlone.size >= REFUSALS && other !== undefined) change(other, 0);
  };

  return {
    /** The one to ask in when only one request is made. */
    current: (): ArrayParams => current,
    isProven,
    /**
     * Every style that could be right for these values, the current one first. A single value looks the same repeated and
     * with commas.
     */
    candidates: (values: readonly string[]): ArrayParams[] => {
      if (values.length > 1) return [current, ...ALL.filter((style) => style !== current)];
      return current === 'brackets' ? [current, 'repeat'] : [current, 'brackets'];
    },
    /** Counts a failure of a style; gives how many there were in a row. */
    failed: (style: ArrayParams): number => {
      const times = (failures.get(style) ?? 0) + 1;
      failures.set(style, times);
      return times;
    },
    /** Learns from what a read of these values showed. */
    learn: (values: readonly string[], results: Results): void => {
      for (const [style, result] of results) if ('shown' in result) failures.delete(style);
      const shownBy = (style: ArrayParams): number => shownIn(results.get(style));
      const [best = current] = [...results.keys()].toSorted((a, b) => shownBy(b) - shownBy(a));
      const better = shownBy(best) > shownBy(current) ? best : current;
      change(better, shownBy(better));
      const [value] = values;
      if (values.length === 1 && value !== undefined && !isProven(values)) noteRefusal(value, results);
    },
  };
};

export type ListStyles = ReturnType<typeof createListStyles>;

type Pages = AsyncIterable<StretchPage<Item>>;

const isFailure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.reason === 'failed' || error.reason === 'unreadable');

/** Some services answer an unknown style with a failure. This many in a row count as a refusal. */
const FAILURES = 4;

/**
 * Yields the pages of one style, but nothing of how far they settle a stretch: another style may show more. `mayFail`
 * says whether a failure may count as a refusal.
 */
async function* tryStyle(
  pages: Pages,
  values: readonly string[],
  mayFail: () => boolean,
): AsyncGenerator<StretchPage<Item>, StyleResult> {
  const names = new Set(values.map(plainName));
  const shown = new Set<string>();
  try {
    for await (const page of pages) {
      for (const { protocol } of page.items) if (names.has(plainName(protocol))) shown.add(plainName(protocol));
      if (page.settledBefore === undefined) yield page;
    }
  } catch (error) {
    if (shown.size === 0 && (isRefusal(error) || (isFailure(error) && mayFail()))) return { refusal: error };
    throw error;
  }
  return { shown: shown.size };
}

/**
 * The refusal of the current style, unless another style worked instead. With several values, one of them may be at
 * fault: then the reader asks for fewer. For a single value it is enough that some style was accepted.
 */
const refusalOf = (current: ArrayParams, values: readonly string[], results: Results): ServiceError | undefined => {
  const own = results.get(current);
  if (own === undefined || 'shown' in own) return undefined;
  const others = [...results.values()].filter((result) => 'shown' in result);
  const isMadeUpFor = others.some(({ shown }) => shown > 0 || values.length === 1);
  return isMadeUpFor ? undefined : own.refusal;
};

/**
 * Yields the pages of the current style. While that is not proven, it also reads in the other styles if the read is
 * thorough or the current style is refused. Throws the refusal where no other style worked.
 */
export async function* readInStyles(
  styles: ListStyles,
  values: readonly string[],
  thorough: boolean,
  read: (style: ArrayParams) => Pages,
): AsyncGenerator<StretchPage<Item>, void, undefined> {
  const results = new Map<ArrayParams, StyleResult>();
  if (styles.isProven(values)) {
    yield* read(styles.current());
    return;
  }
  const current = styles.current();
  for (const style of styles.candidates(values)) {
    const mayFail = () => style !== current && styles.failed(style) >= FAILURES;
    results.set(style, yield* tryStyle(read(style), values, mayFail));
    if (!thorough && refusalOf(current, values, results) === undefined) break;
  }
  styles.learn(values, results);
  const refusal = refusalOf(current, values, results);
  if (refusal) throw refusal;
}
