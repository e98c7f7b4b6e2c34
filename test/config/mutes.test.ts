import { describe, expect, it } from 'vitest';
import { problemsOf, read, SMALL } from './samples.ts';

const WINDOW = '{ protocols: [Vault], from: "22:00", to: "06:00", reason: nightly }';
const windows = (...all: string[]): string => `${SMALL}mutes: { windows: [${all.join(', ')}] }`;
const changed = (from: string, to: string): string => windows(WINDOW.replace(from, to));

describe('mutes', () => {
  it('are bounded, and have no floor and no windows, unless it is said', () => {
    expect(read(SMALL).mutes).toEqual({ maxLength: 86_400_000, never: [], windows: [] });
  });

  it('read windows with their defaults, times as minutes of the day', () => {
    expect(read(windows(WINDOW)).mutes.windows).toEqual([
      {
        protocols: ['Vault'],
        detectors: [],
        destinations: [],
        days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
        from: 1320,
        to: 360,
        timeZone: 'UTC',
        reason: 'nightly',
      },
    ]);
    expect(read(changed('"06:00"', '"24:00"')).mutes.windows[0]?.to).toBe(1440);
  });

  it.each([
    ['protocols: [Vault], ', '', ': must name protocols, detectors or destinations; ["*"] as protocols is everything'],
    ['[Vault]', '[]', ': must name protocols, detectors or destinations; ["*"] as protocols is everything'],
    ['[Vault]', '[""]', '.protocols.0: must not be empty (got "")'],
    ['"22:00"', '"24:00"', '.from: must be a time of day like 22:00 or 06:30 (got "24:00")'],
    ['"06:00"', '"6:00"', '.to: must be a time of day like 22:00 or 06:30 (got "6:00")'],
    ['"06:00"', '"22:00"', '.to: must not be the same as from; a whole day is 00:00 to 24:00 (got "22:00")'],
    ['reason: nightly', 'reason: " "', '.reason: must not be empty (got "")'],
    [', reason: nightly', '', '.reason: is required'],
    ['reason:', 'days: [], reason:', '.days: must name at least one'],
    ['reason:', 'days: [monday], reason:', '.days.0: must be one of mon, tue, wed, thu, fri, sat, sun (got "monday")'],
    [
      'reason:',
      'timeZone: Europe/Atlantis, reason:',
      '.timeZone: must be a time zone of the IANA list, like Europe/Berlin or UTC (got "Europe/Atlantis")',
    ],
    ['reason:', 'timeZone: "+02:00", reason:', '.timeZone: must be a time zone of the IANA list'],
  ])('%s -> %s is a problem of the window, with its place', (from, to, problem) => {
    expect(problemsOf(changed(from, to))).toEqual([
      expect.stringMatching(
        new RegExp(`^c\\.yaml:3:\\d+: mutes\\.windows\\.0${problem.replace(/[.*+?()[\]]/g, '\\$&')}`),
      ),
    ]);
  });

  it('that are longer than maxLength are a problem, over midnight too', () => {
    const longest = (text: string, maxLength: string) => text.replace('windows:', `maxLength: ${maxLength}, windows:`);
    expect(problemsOf(longest(windows(WINDOW), '8h'))).toEqual([]);
    expect(problemsOf(longest(windows(WINDOW), '7h'))).toEqual([
      expect.stringContaining('mutes.windows.0: lasts 8h, and mutes.maxLength is 7h'),
    ]);
    const day = WINDOW.replace('"22:00"', '"00:00"').replace('"06:00"', '"24:00"');
    expect(problemsOf(windows(WINDOW, day))).toEqual([]);
    expect(problemsOf(longest(windows(WINDOW, day), '12h'))).toEqual([
      expect.stringContaining('mutes.windows.1: lasts 1d, and mutes.maxLength is 12h'),
    ]);
  });

  it('take every zone that the clock of the system knows', () => {
    for (const zone of ['Europe/Berlin', 'UTC', 'Etc/GMT+3', 'America/Argentina/Ushuaia']) {
      expect(read(changed('reason:', `timeZone: ${zone}, reason:`)).mutes.windows[0]?.timeZone).toBe(zone);
    }
  });
});

describe('destinations', () => {
  it('need no approval unless the gate is on', () => {
    expect(read(SMALL).destinations).toEqual({ gate: false, allow: [] });
  });

  it.each(['slack:C024*', 'email:*@example.com', 'webhook:http://hooks.example.com:8080/*'])('allow %s', (entry) => {
    expect(read(`${SMALL}destinations: { gate: true, allow: ["${entry}"] }`).destinations.allow).toEqual([entry]);
  });

  it.each(['C024*', 'pager:1', 'slack:', 'slack: C1'])('do not allow "%s"', (entry) => {
    expect(problemsOf(`${SMALL}destinations: { allow: ["${entry}"] }`)).toEqual([
      expect.stringContaining(
        'c.yaml:3:25: destinations.allow.0: must be KIND:GLOB with one of email, telegram, slack, webhook, like slack:C024*',
      ),
    ]);
  });
});
