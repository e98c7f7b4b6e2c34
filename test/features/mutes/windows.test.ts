import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type MuteWindow, momentOf, muteOfWindow, wallOf } from '../../../src/features/mutes/windows.ts';

const EVERY_DAY = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const HOUR = 3_600_000;

const clock = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(':').map(Number);
  return hours * 60 + minutes;
};

const windowOf = (from: string, to: string, changes: Partial<MuteWindow> = {}): MuteWindow => ({
  protocols: ['*'],
  detectors: [],
  destinations: [],
  days: EVERY_DAY,
  from: clock(from),
  to: clock(to),
  timeZone: 'Europe/Berlin',
  reason: 'nightly jobs',
  ...changes,
});

const timesAt = (window: MuteWindow, at: string): string | undefined => {
  const mute = muteOfWindow(window, Date.parse(at));
  return mute && `${mute.from.slice(0, 16)} ${mute.until.slice(0, 16)}`;
};

describe('a window', () => {
  test.each([
    ['in winter', '2026-01-15T21:30:00Z', '2026-01-15T21:00 2026-01-16T05:00'],
    ['after midnight', '2026-01-16T04:59:59Z', '2026-01-15T21:00 2026-01-16T05:00'],
    ['at its end', '2026-01-16T05:00:00Z', undefined],
    ['before it', '2026-01-15T20:59:59Z', undefined],
    ['in summer', '2026-07-15T20:00:00Z', '2026-07-15T20:00 2026-07-16T04:00'],
    ['as the clock goes forward, an hour shorter', '2026-03-29T00:30:00Z', '2026-03-28T21:00 2026-03-29T04:00'],
    ['as the clock goes back, an hour longer', '2026-10-25T03:00:00Z', '2026-10-24T20:00 2026-10-25T05:00'],
  ])('over midnight, %s', (_when, at, times) => expect(timesAt(windowOf('22:00', '06:00'), at)).toBe(times));

  test('opens on its days only, also where it ends on another', () => {
    const friday = windowOf('22:00', '06:00', { days: ['fri'], timeZone: 'UTC' });
    expect(timesAt(friday, '2026-11-20T23:00:00Z')).toBe('2026-11-20T22:00 2026-11-21T06:00');
    expect(timesAt(friday, '2026-11-21T05:00:00Z')).toBe('2026-11-20T22:00 2026-11-21T06:00');
    expect(timesAt(friday, '2026-11-20T05:00:00Z')).toBeUndefined();
    expect(timesAt(friday, '2026-11-21T23:00:00Z')).toBeUndefined();
  });

  test('takes the days of its own zone', () => {
    const sunday = windowOf('08:00', '10:00', { days: ['sun'], timeZone: 'Pacific/Auckland' });
    expect(timesAt(sunday, '2026-11-21T19:30:00Z')).toBe('2026-11-21T19:00 2026-11-21T21:00');
  });

  test('of a whole day goes on into the next one', () => {
    const weekend = windowOf('00:00', '24:00', { days: ['sat', 'sun'], timeZone: 'UTC' });
    expect(timesAt(weekend, '2026-11-21T23:59:59Z')).toBe('2026-11-21T00:00 2026-11-22T00:00');
    expect(timesAt(weekend, '2026-11-22T00:00:00Z')).toBe('2026-11-22T00:00 2026-11-23T00:00');
    expect(timesAt(weekend, '2026-11-23T00:00:00Z')).toBeUndefined();
  });

  test('at a time that comes twice is open from the first, and to the first', () => {
    expect(timesAt(windowOf('02:15', '02:45'), '2026-10-25T00:30:00Z')).toBe('2026-10-25T00:15 2026-10-25T00:45');
    expect(timesAt(windowOf('02:15', '02:45'), '2026-10-25T01:30:00Z')).toBeUndefined();
  });

  test('at a time that is skipped moves on with the clock', () => {
    expect(timesAt(windowOf('02:15', '02:45'), '2026-03-29T01:30:00Z')).toBe('2026-03-29T01:15 2026-03-29T01:45');
  });

  test('is one mute an occurrence: the same in every daemon, another the next day', () => {
    const window = windowOf('22:00', '06:00');
    const idAt = (at: string) => muteOfWindow({ ...window }, Date.parse(at))?.id;
    expect(idAt('2026-01-15T21:30:00Z')).toMatch(/^window-[0-9a-f]{8}$/);
    expect(idAt('2026-01-15T21:30:00Z')).toBe(idAt('2026-01-16T03:00:00Z'));
    expect(idAt('2026-01-16T21:30:00Z')).not.toBe(idAt('2026-01-15T21:30:00Z'));
    expect(muteOfWindow({ ...window, reason: 'other' }, Date.parse('2026-01-15T21:30:00Z'))?.id).not.toBe(
      idAt('2026-01-15T21:30:00Z'),
    );
  });
});

/** Half hours, whole hours, both hemispheres, changes at midnight, and none at all. */
const ZONES = [
  ...['Europe/Berlin', 'America/New_York', 'America/Santiago', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'],
  ...['Africa/Cairo', 'Asia/Beirut', 'America/St_Johns', 'Pacific/Apia', 'Pacific/Kiritimati'],
];
const zone = fc.constantFrom(...ZONES);
const moment = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) }).map((at) => at - (at % 60_000));
const minutes = fc.integer({ min: 0, max: 1439 });

const offsetAt = (at: number, timeZone: string): number => wallOf(at, timeZone) - at;
/** No clock changes near this moment. */
const isCalm = (at: number, timeZone: string): boolean =>
  [-50, -25, 25, 50].every((hours) => offsetAt(at + hours * HOUR, timeZone) === offsetAt(at, timeZone));

/** Days on which the clock of a zone changes. */
const changesOf = (timeZone: string): number[] =>
  Array.from({ length: 15 * 366 }, (_, day) => Date.UTC(2020, 0) + day * 24 * HOUR).filter(
    (at) => offsetAt(at, timeZone) !== offsetAt(at + 24 * HOUR, timeZone),
  );
const CHANGES = ZONES.flatMap((timeZone) => changesOf(timeZone).map((at) => [timeZone, at] as const));

/** Moments around the changes of the clock: that is where mistakes live. */
const nearChange = fc
  .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -1440, max: 2880 }))
  .map(([[timeZone, at], shift]): [string, number] => [timeZone, at + shift * 60_000]);
const anywhere = fc.oneof(fc.tuple(zone, moment), nearChange);

describe('in any zone, at any time', () => {
  test('the clock shows at a moment what the moment was asked for, unless that was skipped', () => {
    fc.assert(
      fc.property(anywhere, ([timeZone, wall]) => {
        const at = momentOf(wall, timeZone);
        const shown = wallOf(at, timeZone);
        // Skipped: nothing within a day shows it, and the clock is ahead by what it jumped over.
        const isShown = Array.from({ length: 96 }, (_, n) => at + (n - 48) * 15 * 60_000).some(
          (other) => wallOf(other, timeZone) === wall,
        );
        if (isShown) expect(shown).toBe(wall);
        else expect(shown - wall).toBe(offsetAt(at, timeZone) - offsetAt(at - 24 * HOUR, timeZone));
        // Of two moments with the same clock the first.
        for (const earlier of [0.5, 1]) expect(wallOf(at - earlier * HOUR, timeZone)).not.toBe(wall);
      }),
      { numRuns: 1000 },
    );
  });

  test('a window is open exactly while the clock says so, away from changes', () => {
    fc.assert(
      fc.property(zone, moment, minutes, minutes, fc.subarray(EVERY_DAY), (timeZone, now, from, to, days) => {
        fc.pre(from !== to && isCalm(now, timeZone));
        const wall = wallOf(now, timeZone);
        const minute = (wall / 60_000) % 1440;
        const dayOf = (at: number): string =>
          new Date(at).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' }).toLowerCase();
        const today = days.includes(dayOf(wall));
        const yesterday = days.includes(dayOf(wall - 24 * HOUR));
        const isOpen =
          from < to ? today && minute >= from && minute < to : (today && minute >= from) || (yesterday && minute < to);
        const window = { ...windowOf('00:00', '00:00'), from, to, days, timeZone };
        expect(muteOfWindow(window, now) !== undefined).toBe(isOpen);
      }),
      { numRuns: 2000 },
    );
  });

  test('a window that is open says when it opened and shuts, and is open from then to then', () => {
    fc.assert(
      fc.property(anywhere, minutes, minutes, ([timeZone, now], from, to) => {
        fc.pre(from !== to);
        const window = { ...windowOf('00:00', '00:00'), from, to, timeZone };
        const mute = muteOfWindow(window, now);
        if (mute === undefined) return;
        const [opened, shuts] = [Date.parse(mute.from), Date.parse(mute.until)];
        expect(opened <= now && now < shuts).toBe(true);
        expect(muteOfWindow(window, opened)?.id).toBe(mute.id);
        // A skipped hour may open the next occurrence before this one shuts: then that one holds.
        const last = muteOfWindow(window, shuts - 1);
        expect(last?.id === mute.id || Date.parse(last?.from ?? '') > opened).toBe(true);
        expect(muteOfWindow(window, shuts)?.id).not.toBe(mute.id);
        expect(muteOfWindow(window, opened - 1)?.id).not.toBe(mute.id);
        const nominal = (to > from ? to - from : to - from + 1440) * 60_000;
        const change = offsetAt(opened - 24 * HOUR, timeZone) - offsetAt(shuts + 24 * HOUR, timeZone);
        expect([nominal, nominal + change]).toContain(shuts - opened);
      }),
      { numRuns: 2000 },
    );
  });
});
