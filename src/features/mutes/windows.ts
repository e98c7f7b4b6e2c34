/** The windows of the config: mutes that repeat by the clock of a time zone. Pure. */
import type { Mute } from '../../alert.ts';
import { createBoundedMap, getOrCreate } from '../../bounded-map.ts';
import { contentId } from '../../item.ts';
import { DAY_MS, iso, MINUTE_MS } from '../../time.ts';

export interface MuteWindow {
  /** As of a `Mute`. */
  protocols: readonly string[];
  detectors: readonly string[];
  destinations: readonly string[];
  /** Days on which it begins: `mon` to `sun`. */
  days: readonly string[];
  /** Minutes of the day by the clock on the wall, 0 to 1440. Not after `from`: of the next day. */
  from: number;
  to: number;
  /** IANA name. */
  timeZone: string;
  reason: string;
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const clocks = new Map<string, Intl.DateTimeFormat>();

const clockOf = (timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });

/** What a wall clock of the zone shows at a moment, written as if it were UTC; epoch milliseconds, whole seconds. */
export const wallOf = (at: number, timeZone: string): number => {
  const parts = getOrCreate(clocks, timeZone, () => clockOf(timeZone)).formatToParts(at);
  const shown = Object.fromEntries(parts.map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

/**
 * When a wall clock of the zone shows `wall`. Of a time that comes twice, the first; a time that is skipped moves on by
 * the length of the gap.
 */
export const momentOf = (wall: number, timeZone: string): number => {
  // No zone changes its clock twice within two days.
  const [before, after] = [wall - DAY_MS, wall + DAY_MS].map((at) => wall - (wallOf(at, timeZone) - at));
  const shows = (at: number | undefined): at is number => at !== undefined && wallOf(at, timeZone) === wall;
  return [before, after].find(shows) ?? before ?? wall;
};

/** Every dispatch asks for the same few moments, and a time zone is slow to ask. */
const moments = createBoundedMap<string, number>(1000);

const knownMomentOf = (wall: number, timeZone: string): number =>
  getOrCreate(moments, `${wall} ${timeZone}`, () => momentOf(wall, timeZone));

const lengthOf = ({ from, to }: MuteWindow): number => (to > from ? to - from : to - from + 1440);

/** Same window, same occurrence, same id, in every daemon. */
const idOf = (window: MuteWindow, from: number): string =>
  `window-${contentId(JSON.stringify(window), String(from)).slice(0, 8)}`;

/** The mute of a window that is open at `now` (epoch milliseconds); undefined while it is closed. */
export const muteOfWindow = (window: MuteWindow, now: number): Mute | undefined => {
  const { protocols, detectors, destinations, days, timeZone, reason } = window;
  const today = Math.floor(wallOf(now, timeZone) / DAY_MS) * DAY_MS;
  for (const day of [today, today - DAY_MS]) {
    if (!days.includes(DAYS[new Date(day).getUTCDay()] ?? '')) continue;
    const opens = day + window.from * MINUTE_MS;
    const from = knownMomentOf(opens, timeZone);
    const until = knownMomentOf(opens + lengthOf(window) * MINUTE_MS, timeZone);
    if (from > now || now >= until) continue;
    const times = { from: iso(from), until: iso(until) };
    return { id: idOf(window, from), protocols, detectors, destinations, reason, ...times };
  }
  return undefined;
};
