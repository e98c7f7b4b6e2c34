/** Reads for several values at once while it is not known how the service wants lists written. */

import { ServiceError } from '../errors.ts';
import type { Item } from '../item.ts';
import type { ArrayParams } from './address.ts';
import type { StretchPage } from './stretches.ts';
import type { ListStyles, StyleResult } from './styles.ts';

type Pages = AsyncIterable<StretchPage<Item>>;
type Results = ReadonlyMap<ArrayParams, StyleResult>;

/** A 4xx about what was asked: the style may be wrong, or one of the values. */
const isRefusal = (error: unknown): error is ServiceError =>
  error instanceof ServiceError &&
  (error.reason === 'rejected' || error.reason === 'missing') &&
  (error.status ?? 0) >= 400;

const isFailure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && (error.reason === 'failed' || error.reason === 'unreadable');

/** Names as they are compared: people and services write them in more than one way. */
const plain = (name: string): string => name.normalize('NFC').trim().toLowerCase();

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
  const names = new Set(values.map(plain));
  const shown = new Set<string>();
  try {
    for await (const page of pages) {
      for (const { protocol } of page.items) if (names.has(plain(protocol))) shown.add(plain(protocol));
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
