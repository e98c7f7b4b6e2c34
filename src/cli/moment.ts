/** Moments as operators write them: a date-time, or a duration back from now. */

import { UsageError } from '../errors.ts';
import { parseDuration } from '../schema/fields.ts';

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
