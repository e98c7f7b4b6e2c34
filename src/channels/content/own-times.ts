/**
 * Times in our own announcements. They are kept in UTC, as programs and logs have them; people read them by their clock.
 * Pure.
 */
import { iso } from '../../time.ts';
import { clockOf, dateAndTime, timeOfDay } from './clock.ts';
import { type Line, lineText, type Piece } from './content.ts';

const DATE = String.raw`\d{4}-\d\d-\d\d`;
const TIME = String.raw`\d\d:\d\d(?::\d\d)?`;
/** `2026-11-20 10:07:31 UTC`, `2026-11-20 10:07:12 to 10:12:31 UTC`, `02:00 to 03:00 UTC`. */
const WRITTEN = new RegExp(String.raw`(?:(${DATE}) )?\b(${TIME})(?: to (?:(${DATE}) )?(${TIME}))? UTC\b`, 'g');

/** In which time zone, and on which day it is said, in epoch milliseconds: a time without a date is of that day, in UTC. */
export interface Clock {
  timeZone: string;
  today: number;
}

const momentOf = (date: string, time: string): number => Date.parse(`${date}T${time}Z`);

/** As it was written: without seconds where it had none. */
const withoutSeconds = (text: string, written: string): string =>
  written.length > 'hh:mm'.length ? text : text.replace(/(\d\d:\d\d):\d\d/, '$1');

const shownAs = (at: number, { timeZone, today }: Clock, written: string, isDated: boolean): string =>
  withoutSeconds(isDated ? dateAndTime(at, timeZone) : timeOfDay(at, today, timeZone), written);

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

/** A line of ours, its times by the clock of its reader. */
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
