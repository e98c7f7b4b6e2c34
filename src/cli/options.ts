/** Options as operators write them: one of a few words, durations and moments. Each throws a `UsageError` that names the option. */

import { hostname, userInfo } from 'node:os';
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { didYouMean } from '../config/problems.ts';
import { orUndefined, UsageError } from '../errors.ts';
import { parseDuration } from '../schema/fields.ts';
import { cleanLine, shorten } from '../text.ts';
import { parseDateTime } from '../time.ts';

/** The word that was given. The error names them all, and the one that is nearest to a mistyped one. */
export const oneOf = <T extends string>(option: string, given: string, known: readonly T[]): T => {
  const found = known.find((one) => one === given);
  if (found !== undefined) return found;
  throw new UsageError(`${option} must be one of ${known.join(', ')} (got '${given}')${didYouMean(given, known)}`);
};

export const kindOf = (word: string): ChannelKind => oneOf('--channel', word, CHANNEL_KINDS);

/** What somebody calls a field on the command line. */
export const optionOf = (field: string): string => `--${field}`;

const LONGEST_AUTHOR = 100;

/** In a container the user need not have a name. */
const userName = (): string => orUndefined(() => userInfo().username) ?? `uid-${process.getuid?.()}`;

/** Who does it: by default the user and host of the command. Throws a `UsageError`. */
export const authorOf = ({ author = `${userName()}@${hostname()}` }: { author?: string }): string => {
  const name = cleanLine(author).trim();
  if (name === '') throw new UsageError('--author must say something');
  return shorten(name, LONGEST_AUTHOR);
};

/** In milliseconds. `like`: an example. */
export const durationOf = (text: string, option: string, like: string): number => {
  const durationMs = parseDuration(text);
  if (durationMs !== undefined) return durationMs;
  throw new UsageError(`${option} must be a duration like ${like} (got '${text}')`);
};

/**
 * `2026-01-31T08:00:00Z`, `2026-01-31` (midnight UTC), or `24h` back from `now`, as epoch milliseconds. A date-time has
 * to name its zone.
 */
export const parseMoment = (text: string, option: string, now: number): number => {
  const backMs = parseDuration(text);
  if (backMs !== undefined && backMs <= now) return now - backMs;
  const at = parseDateTime(text);
  if (at !== undefined) return at;
  throw new UsageError(
    `${option} must be a date-time like 2026-01-31T08:00:00Z, a date, or a duration back like 24h (got '${text}')`,
  );
};

/** `--since` and `--until`; until now where nothing else is said. */
export const parsePeriod = (
  given: { since: string; until?: string },
  now: number,
): { since: number; until: number } => {
  const since = parseMoment(given.since, '--since', now);
  const until = given.until === undefined ? now : parseMoment(given.until, '--until', now);
  if (since >= until) throw new UsageError('--since has to lie before --until, and before now');
  return { since, until };
};
