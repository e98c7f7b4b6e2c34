/** A mute that somebody asks for by hand, checked. Pure but for its random id. */
import { randomUUID } from 'node:crypto';
import type { Mute } from '../../alert.ts';
import { UsageError } from '../../errors.ts';
import { createGlobs, literalGlob } from '../../globs.ts';
import { formatDuration, parseDuration } from '../../schema/fields.ts';
import { cleanLine } from '../../text.ts';
import { iso } from '../../time.ts';

export interface WantedMute {
  /** Globs, and a destination's id or label; what is absent fits all. */
  protocol?: string;
  detector?: string;
  destination?: string;
  /** A protocol and detectors by their names, taken literally; instead of the globs. */
  names?: { protocol: string; detectors: readonly string[] };
  /** A duration, as the config writes them. */
  for: string;
  reason: string;
  author: string;
}

export interface MuteRules {
  maxLength: number;
  /** Globs of detectors. */
  never: readonly string[];
}

/** What somebody calls a field. */
type Named = (field: string) => string;

/** How long a mute is to last, in milliseconds. Throws a `UsageError`. */
export const lengthOf = (text: string, named: Named): number => {
  const lengthMs = parseDuration(text) ?? 0;
  if (lengthMs <= 0) throw new UsageError(`${named('for')} must be a duration like 30m or 2h (got '${text}')`);
  return lengthMs;
};

const given = (value: string | undefined): string[] => (value === undefined ? [] : [value]);

/** Throws a `UsageError`. */
export const newMute = (
  { protocol, detector, destination, names, reason, author, for: length }: WantedMute,
  { maxLength, never }: MuteRules,
  now: number,
  named: Named = (field) => field,
): Mute => {
  if ([protocol, detector, destination, names].every((value) => value === undefined)) {
    const fields = `${named('protocol')}, ${named('detector')} or ${named('destination')}`;
    throw new UsageError(`say what to mute: ${fields}; ${named('protocol')} '*' is everything`);
  }
  if ([protocol, detector, destination, reason].includes('')) throw new UsageError('an option is empty');
  if (!/\S/.test(reason)) throw new UsageError(`${named('reason')} must say something`);
  const lengthMs = lengthOf(length, named);
  if (lengthMs > maxLength) {
    const most = `at most ${formatDuration(maxLength)}, as mutes.maxLength says`;
    throw new UsageError(`${named('for')} must be ${most} (got '${length}')`);
  }
  const forbidden = [...given(detector), ...(names?.detectors ?? [])].find(createGlobs(never));
  if (forbidden !== undefined) {
    throw new UsageError(`${named('detector')}: mutes.never says that ${cleanLine(forbidden)} is never muted`);
  }
  return {
    id: `mute-${randomUUID().slice(0, 8)}`,
    protocols: names === undefined ? given(protocol) : [literalGlob(names.protocol)],
    detectors: names?.detectors.map(literalGlob) ?? given(detector),
    destinations: given(destination),
    reason,
    author,
    from: iso(now),
    until: iso(now + lengthMs),
  };
};
