/** Options as operators write them: one of a few words, and moments. */

import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { didYouMean } from '../config/problems.ts';
import { UsageError } from '../errors.ts';
import { parseDuration } from '../schema/fields.ts';

// An option that takes one of a few words.

/** The word that was given. Throws a `UsageError` that names them all, and the one that is nearest to a mistyped one. */
export const oneOf = <T extends string>(option: string, given: string, known: readonly T[]): T => {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw new UsageError(`${option} must be one of ${known.join(', ')} (got '${given}')${didYouMean(given, known)}`);
};

// A channel kind as an operator types it.

/** Throws a `UsageError` that names the kinds. */
export const kindOf = (word: string): ChannelKind => oneOf('--channel', word, CHANNEL_KINDS);

// Moments as operators write them: a date-time, or a duration back from now.

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Date.parse reads the 31st of February as the 3rd of March. */
const isRealDay = (text: string): boolean => {
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(midnight) && new Date(midnight).toISOString().startsWith(day);
};

/**
 * `2026-01-31T08:00:00Z`, `2026-01-31` (midnight UTC), or `24h` back from `now`, as epoch milliseconds. A date-time has
 * to name its zone. Throws a `UsageError` that names `option`.
 */
export const parseMoment = (text: string, option: string, now: number): number => {
  const backMs = parseDuration(text);
  if (backMs !== undefined && backMs <= now) return now - backMs;
  const at = DATE.test(text) || DATE_TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at) && isRealDay(text)) return at;
  throw new UsageError(
    `${option} must be a date-time like 2026-01-31T08:00:00Z, a date, or a duration back like 24h (got '${text}')`,
  );
};

/** `--since` and `--until`; until now where nothing else is said. Throws a `UsageError`. */
export const parsePeriod = (
  given: { since: string; until?: string },
  now: number,
): { since: number; until: number } => {
  const since = parseMoment(given.since, '--since', now);
  const until = given.until === undefined ? now : parseMoment(given.until, '--until', now);
  if (since >= until) throw new UsageError('--since has to lie before --until, and before now');
  return { since, until };
};
