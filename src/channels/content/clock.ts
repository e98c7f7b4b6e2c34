/** Times as a reader's clock shows them. Pure. */
import { getOrCreate } from '../../bounded-map.ts';
import { clock, iso } from '../../time.ts';
import { type Line, lineText, type Piece } from './content.ts';

/** English locales differ in which zones they know by a short name; the first that knows this one is taken. */
const LOCALES = ['en-GB', 'en-US', 'en-AU', 'en-IN'];

/** One takes half a millisecond to make. */
const formatters = new Map<string, readonly Intl.DateTimeFormat[]>();

const formattersOf = (timeZone: string): readonly Intl.DateTimeFormat[] =>
  getOrCreate(formatters, timeZone, () => {
    const options: Intl.DateTimeFormatOptions = {
      timeZone,
      hourCycle: 'h23',
      ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' },
      timeZoneName: 'short',
    };
    return LOCALES.map((locale) => new Intl.DateTimeFormat(locale, options));
  });

interface ClockTime {
  /** `2026-11-22` */
  date: string;
  /** `02:40:47` */
  time: string;
  /** `UTC`, `CET`, `GMT+5:30` */
  zone: string;
}

const partsOf = (at: number, one: Intl.DateTimeFormat): ClockTime => {
  const parts = Object.fromEntries(one.formatToParts(at).map(({ type, value }) => [type, value]));
  const { year = '', month = '', day = '', hour = '', minute = '', second = '', timeZoneName = '' } = parts;
  return { date: `${year}-${month}-${day}`, time: `${hour}:${minute}:${second}`, zone: timeZoneName };
};

const inZone = (at: number, timeZone: string): ClockTime => {
  const [first, ...others] = formattersOf(timeZone);
  if (first === undefined) throw new Error('there is a locale');
  const parts = partsOf(at, first);
  if (!parts.zone.startsWith('GMT')) return parts;
  for (const other of others) {
    const named = partsOf(at, other);
    if (!named.zone.startsWith('GMT')) return named;
  }
  return parts;
};

/** The parts of a clock in a time zone. `at` in epoch milliseconds. */
const clockOf = (at: number, timeZone: string): ClockTime => {
  if (timeZone !== 'UTC') return inZone(at, timeZone);
  const [date = '', time = ''] = clock(at).split(' ');
  return { date, time, zone: 'UTC' };
};

/** `02:40:47 UTC`, and the date before it where that is another day than `today`. Epoch milliseconds. */
export const timeOfDay = (at: number, today: number, timeZone: string): string => {
  const { date, time, zone } = clockOf(at, timeZone);
  return `${date === clockOf(today, timeZone).date ? '' : `${date} `}${time} ${zone}`;
};

/** `2026-11-22 02:40:47 UTC`. Epoch milliseconds. */
export const dateAndTime = (at: number, timeZone: string): string => {
  const { date, time, zone } = clockOf(at, timeZone);
  return `${date} ${time} ${zone}`;
};

/**
 * `2026-11-20 10:07:12 to 10:12:31 UTC`, as pieces that a reader's own clock can show. What both have in common is said once:
 * a moment alone, where they are the same. Epoch milliseconds.
 */
export const spanLine = (from: number, until: number, timeZone: string): Line => {
  const [first, last] = [clockOf(from, timeZone), clockOf(until, timeZone)];
  const whole = { text: dateAndTime(until, timeZone), at: until };
  if (first.date === last.date && first.time === last.time && first.zone === last.zone) return [whole];
  if (first.date !== last.date || first.zone !== last.zone) {
    return [{ text: dateAndTime(from, timeZone), at: from }, { text: ' to ' }, whole];
  }
  return [
    { text: `${first.date} ${first.time}`, at: from },
    { text: ' to ' },
    { text: `${last.time} ${last.zone}`, at: until },
  ];
};

const DATE = String.raw`\d{4}-\d\d-\d\d`;
const TIME = String.raw`\d\d:\d\d(?::\d\d)?`;
/** `2026-11-20 10:07:31 UTC`, `2026-11-20 10:07:12 to 10:12:31 UTC`, `02:00 to 03:00 UTC`. */
const WRITTEN = new RegExp(String.raw`(?:(${DATE}) )?\b(${TIME})(?: to (?:(${DATE}) )?(${TIME}))? UTC\b`, 'g');

/** In which time zone, and on which day it is said, in epoch milliseconds: a time without a date is of that day, in UTC. */
interface Clock {
  timeZone: string;
  today: number;
}

const momentOf = (date: string, time: string): number => Date.parse(`${date}T${time}Z`);

/** As it was written: without seconds where it had none. */
const shownAs = (at: number, { timeZone, today }: Clock, written: string, isDated: boolean): string => {
  const text = isDated ? dateAndTime(at, timeZone) : timeOfDay(at, today, timeZone);
  return written.length > 'hh:mm'.length ? text : text.replace(/(\d\d:\d\d):\d\d/, '$1');
};

/** The first of two times says no zone where the second says the same. */
const timesIn = (match: RegExpExecArray, clock: Clock): Piece[] | undefined => {
  const { timeZone, today } = clock;
  const day = iso(today).slice(0, 10);
  const [, fromDate, fromTime = '', untilDate, untilTime] = match;
  const from = momentOf(fromDate ?? day, fromTime);
  const until = untilTime === undefined ? from : momentOf(untilDate ?? fromDate ?? day, untilTime);
  if (Number.isNaN(from) || Number.isNaN(until)) return undefined;
  const first = { text: shownAs(from, clock, fromTime, fromDate !== undefined), at: from };
  if (untilTime === undefined) return [first];
  const [begun, ended] = [clockOf(from, timeZone), clockOf(until, timeZone)];
  const isOneDay = begun.date === ended.date;
  const isDated = untilDate !== undefined || (fromDate !== undefined && !isOneDay);
  const last = { text: shownAs(until, isOneDay ? { timeZone, today: until } : clock, untilTime, isDated), at: until };
  const isOneZone = begun.zone === ended.zone;
  return [isOneZone ? { ...first, text: first.text.slice(0, -begun.zone.length - 1) } : first, { text: ' to ' }, last];
};

/** A line of ours: its times are kept in UTC, as programs and logs have them, and are shown by the clock of its reader. */
export const withOwnTimes = (text: string, clock: Clock): Line => {
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(WRITTEN)) {
    const times = timesIn(match, clock);
    if (times === undefined) continue;
    pieces.push({ text: text.slice(end, match.index) }, ...times);
    end = match.index + match[0].length;
  }
  pieces.push({ text: text.slice(end) });
  return pieces.filter((piece) => piece.text !== '');
};

/** The same as text, of one line or several. */
export const ownTimesText = (text: string, clock: Clock): string => lineText(withOwnTimes(text, clock));
