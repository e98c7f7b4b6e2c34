/**
 * Times and durations: how we store them and how people read them. Clock times are always in UTC. Pure.
 *
 * There are two clocks, and a part takes as a function the one that it needs. `now` is the wall clock, in epoch
 * milliseconds: for times that are stored, shown, or compared with those of others. It may be set, back as well as forward.
 * `monotonic` counts milliseconds from any point, and is never set: for how long something took, or may still take, within
 * this process.
 */

/** Everywhere a number is epoch milliseconds, and a text is ISO 8601 in UTC (`...Z`), which is how we store times. */
export type Moment = number | string;

/** How we store times: ISO 8601 in UTC with milliseconds. */
export const iso = (at: number): string => new Date(at).toISOString();

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Epoch milliseconds of an ISO 8601 date-time from outside; NaN for anything else. */
export const parseTime = (value: unknown): number =>
  typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number.NaN;

const AS_PEOPLE_WRITE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Date.parse reads the 31st of February as the 3rd of March. */
const isRealDay = (text: string): boolean => {
  const day = text.slice(0, 10);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(midnight) && iso(midnight).startsWith(day);
};

/** `2026-01-31` (midnight UTC), or `2026-01-31T08:00:00Z`: a date-time has to name its zone. In epoch milliseconds. */
export const parseDateTime = (text: string): number | undefined => {
  const at = AS_PEOPLE_WRITE.test(text) && isRealDay(text) ? Date.parse(text) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
};

const LENGTHS = { minutes: 16, seconds: 19, milliseconds: 23 };

type Precision = keyof typeof LENGTHS;

/** `2026-11-21 10:07:31`, for a column whose head says that it is UTC. */
export const clock = (at: Moment, precision: Precision = 'seconds'): string =>
  (typeof at === 'number' ? iso(at) : at).replace(/Z$/, '').slice(0, LENGTHS[precision]).replace('T', ' ');

/** `2026-11-21 10:07:31 UTC` */
export const clockText = (at: Moment, precision: Precision = 'seconds'): string => `${clock(at, precision)} UTC`;

/** `2026-11-20 10:07:12 to 10:12:31 UTC`, from two texts of `clockText`. */
export const spanText = (from: string, to: string): string => {
  if (from === to) return from;
  const sameDay = from.slice(0, 10) === to.slice(0, 10);
  return sameDay ? `${from.replace(/ UTC$/, '')} to ${to.slice(11)}` : `${from} to ${to}`;
};

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The clocks of several daemons differ a little. A moment that is further ahead was noted before a clock was set back. */
export const CLOCKS_DIFFER_MS = 5000;

/** The same moment by both clocks. */
interface BothClocks {
  wall: number;
  monotonic: number;
}

/**
 * Milliseconds from `now` until `runAt`, which was computed after `begun`. If the clock was set back meanwhile, `runAt` may
 * be a moment of the old clock: the shorter wait counts, as a job that comes too early only asks again.
 */
export const delayUntil = (runAt: number, begun: BothClocks, now: BothClocks): number => {
  const unchanged = begun.wall + now.monotonic - begun.monotonic;
  return Math.max(0, Math.min(runAt - now.wall, runAt - unchanged));
};

const UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [SECOND_MS, 's'],
] as const;

/** A limit or a deadline, exactly: `1 s`, `60 s`, `2 min`, `1500 ms`. At least two of a unit, so that `60 s` stays. */
export const durationText = (ms: number): string => {
  const [size, unit] = UNITS.slice(1).find(([each]) => ms % each === 0 && (ms > each || each === SECOND_MS)) ?? [
    1,
    'ms',
  ];
  return `${ms / size} ${unit}`;
};

/** An age, rounded to at least two of its unit: `12 s`, `90 s`, `4 min`, `3 h`, `2 d`. */
export const ageText = (ms: number): string => {
  const [size, unit] = UNITS.find(([each]) => ms >= 2 * each) ?? [SECOND_MS, 's'];
  return `${Math.round(ms / size)} ${unit}`;
};

/** The whole units that have passed between two events: `19 s`, `1 min`, `3 h`. */
export const elapsedText = (ms: number): string => {
  const [size, unit] = UNITS.find(([each]) => ms >= each) ?? [SECOND_MS, 's'];
  return `${Math.floor(ms / size)} ${unit}`;
};

const epochOf = (at: Moment): number => (typeof at === 'number' ? at : Date.parse(at));

/** `4 min ago`; `never` for what has never happened. */
export const ago = (at: Moment | undefined, now: Moment): string =>
  at === undefined ? 'never' : `${ageText(Math.max(0, epochOf(now) - epochOf(at)))} ago`;
