/** The section `mutes` of the configuration, and its rules that span several keys. */
import { z } from 'zod';
import { durationOr, formatDuration, globs, parseDuration } from '../schema/fields.ts';
import { isTimeZone } from './presentation-section.ts';
import { type Breach, listOf, mapOf, type Values } from './problems.ts';

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
const DEFAULT_MAX_LENGTH = '24h';

const CLOCK = /^([01]\d|2[0-3]):[0-5]\d$/;
/** 24:00 is an end, never a beginning. */
const END_CLOCK = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/;
const CLOCK_RULE = 'must be a time of day like 22:00 or 06:30';
const ZONE_RULE = 'must be a time zone of the IANA list, like Europe/Berlin or UTC';

/** `22:30` -> 1350 minutes; undefined where the text is no time of day. */
const parseClock = (text: string): number | undefined => {
  if (!END_CLOCK.test(text)) return undefined;
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
};

const timeOfDay = (clock: RegExp, description: string) =>
  z
    .string({ error: CLOCK_RULE })
    .regex(clock, { error: CLOCK_RULE })
    .meta({ description })
    .transform((text) => parseClock(text) ?? 0);

/** An offset like +02:00 is no zone: it has no summer time. */
const isZone = (name: string): boolean => /^[A-Za-z]/.test(name) && isTimeZone(name);

const windowSection = z.strictObject({
  protocols: globs(
    'Globs on the protocol\'s name; empty means all. At least one of protocols, detectors and destinations must not be empty. To mute everything, put ["*"] here.',
  ),
  detectors: globs(
    'Globs on detectors: an inspection is muted only if every detector that fired matches one. Stored notifications have no detectors, so a window with detectors never mutes them.',
  ),
  destinations: z
    .array(z.string().min(1, { error: 'must not be empty' }))
    .prefault([])
    .describe('Destinations, by id or label as `tocsin destinations list` shows them; empty means all.'),
  days: z
    .array(z.enum(DAYS))
    .min(1, { error: 'must name at least one' })
    .prefault([...DAYS])
    .describe('Days on which the window begins: mon, tue, wed, thu, fri, sat, sun.'),
  from: timeOfDay(CLOCK, 'When the window begins, in timeZone.'),
  to: timeOfDay(
    END_CLOCK,
    'When the window ends; on the next day if this is not later than from. 24:00 is the end of the day.',
  ),
  timeZone: z
    .string({ error: ZONE_RULE })
    .refine(isZone, { error: ZONE_RULE })
    .default('UTC')
    .describe('IANA name of the time zone. Tocsin follows its summer and winter time.'),
  reason: z
    .string()
    .regex(/\S/, { error: 'must not be empty' })
    .describe('Why. People who missed something because of the mute can read it.'),
});

export const mutesSection = z.strictObject({
  maxLength: durationOr(DEFAULT_MAX_LENGTH).describe('The longest that a mute may last, added by hand or by a window.'),
  never: globs('Globs on detectors. An alert in which one of them fired is never muted.'),
  windows: z.array(windowSection).prefault([]).describe('Mutes that repeat by the clock.'),
});

const isFilled = (value: unknown): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0);

const NARROWS = ['protocols', 'detectors', 'destinations'];

const lengthBreaches = (path: Breach['path'], { from, to }: Values, maxMs: number): Breach[] => {
  const [opens, shuts] = [parseClock(String(from)), parseClock(String(to))];
  if (opens === undefined || shuts === undefined) return [];
  if (opens === shuts)
    return [{ path: [...path, 'to'], rule: 'must not be the same as from; a whole day is 00:00 to 24:00' }];
  const lengthMs = (shuts > opens ? shuts - opens : shuts - opens + 1440) * 60_000;
  const rule = `lasts ${formatDuration(lengthMs)}, and mutes.maxLength is ${formatDuration(maxMs)}`;
  return lengthMs > maxMs ? [{ path, rule }] : [];
};

/** A window has to say what it mutes, and may not be too long. */
export const muteBreaches = (config: Values): Breach[] => {
  const { windows, maxLength = DEFAULT_MAX_LENGTH } = mapOf(config.mutes);
  const maxMs = parseDuration(String(maxLength)) ?? Number.POSITIVE_INFINITY;
  return listOf(windows).flatMap((window, index) => {
    const path = ['mutes', 'windows', index];
    const values = mapOf(window);
    const isNarrow = NARROWS.some((key) => isFilled(values[key]));
    const rule = 'must name protocols, detectors or destinations; ["*"] as protocols is everything';
    return [...(isNarrow ? [] : [{ path, rule }]), ...lengthBreaches(path, values, maxMs)];
  });
};
