import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/features/tripwire/changes.ts';
import {
  audienceOf,
  groupsOf,
  hasLostPeople,
  isOnlyHeld,
  readersAmong,
} from '../../../src/features/tripwire/notifier.ts';
import type { Aspect } from '../../../src/features/tripwire/watched.ts';
import { destinationOf } from '../../support/alerts.ts';

const A = destinationOf('email', 'a@example.com');
const B = destinationOf('slack', 'C012345678');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/1');
const ONCALL = destinationOf('email', 'oncall@example.com');

const changeOf = (before: string[], after: string[], aspects: Aspect[] = ['channels']): Change => {
  const settings = (names: string[]) => ({ channels: names.map((name) => ({ name, contacts: ['x'] })), triggers: {} });
  return { kind: 'changed', protocol: 'Vault', before: settings(before), after: settings(after), aspects };
};

describe('the last person', () => {
  test('is gone where nobody reads its alerts any more', () => {
    expect(hasLostPeople(changeOf(['email'], ['webhook']), { before: [A], after: [HOOK] })).toBe(true);
    expect(hasLostPeople(changeOf(['email'], []), { before: [A], after: [] })).toBe(true);
    // What is left is of a kind that the config does not set up.
    expect(hasLostPeople(changeOf(['email', 'telegram'], ['telegram']), { before: [A], after: [] })).toBe(true);
    expect(hasLostPeople(changeOf(['telegram'], ['webhook']), { before: [], after: [HOOK] })).toBe(true);
  });

  test('is there where another one is, also one of the config, and where there was none', () => {
    expect(hasLostPeople(changeOf(['email', 'slack'], ['slack']), { before: [A, B], after: [B] })).toBe(false);
    expect(hasLostPeople(changeOf(['email'], []), { before: [A, ONCALL], after: [ONCALL] })).toBe(false);
    expect(hasLostPeople(changeOf(['webhook'], []), { before: [HOOK], after: [] })).toBe(false);
  });
});

describe('the audience', () => {
  const input = { before: [A, HOOK], after: [HOOK, B], fallback: [ONCALL], isCritical: false, isNew: false };
  const all = { isOpen: () => true, isWell: () => true };

  test('is the old and the new destinations, each once', () => {
    expect(audienceOf({ ...input, ...all })).toEqual([A, HOOK, B]);
  });

  test('is the fallback, too, where it is critical or no person can be reached', () => {
    expect(audienceOf({ ...input, ...all, isCritical: true })).toEqual([A, HOOK, B, ONCALL]);
    expect(audienceOf({ ...input, ...all, before: [HOOK], after: [] })).toEqual([HOOK, ONCALL]);
    expect(audienceOf({ ...input, ...all, isWell: ({ kind }) => kind === 'webhook' })).toContain(ONCALL);
    expect(audienceOf({ ...input, ...all, isOpen: (one) => one === HOOK })).toEqual([HOOK, ONCALL]);
  });

  test('is the fallback, too, where the only person who can be reached came with the change', () => {
    expect(audienceOf({ ...input, ...all, before: [], after: [B] })).toEqual([B, ONCALL]);
    expect(audienceOf({ ...input, ...all, before: [HOOK], after: [HOOK, B] })).toEqual([HOOK, B, ONCALL]);
    expect(audienceOf({ ...input, ...all, isWell: (one) => one !== A })).toEqual([A, HOOK, B, ONCALL]);
    expect(audienceOf({ ...input, ...all, isOpen: (one) => one !== A })).toEqual([HOOK, B, ONCALL]);
    // Of what is new nobody could hear before.
    expect(audienceOf({ ...input, ...all, before: [], after: [B], isNew: true })).toEqual([B]);
  });
});

describe('who has to hear that a reader was taken away', () => {
  const [TEAM, EVIL] = [A, B];
  const taken = { before: [TEAM, HOOK], after: [EVIL, HOOK] };

  test('is who read it before, no program and nobody who came with it', () => {
    expect(readersAmong([TEAM, HOOK, EVIL], [taken])).toEqual([TEAM.id]);
  });

  test('is nobody at destinations that lost nothing, or where all readers stay', () => {
    expect(readersAmong([EVIL], [taken])).toBeUndefined();
    expect(readersAmong([TEAM, EVIL], [{ before: [TEAM], after: [TEAM, EVIL] }])).toBeUndefined();
    expect(readersAmong([HOOK], [{ before: [HOOK], after: [] }])).toBeUndefined();
  });

  test('is not who read only a decoy that is changed at the same time', () => {
    const decoy = { before: [TEAM, EVIL, ONCALL], after: [TEAM, EVIL] };
    expect(readersAmong([TEAM, EVIL], [taken, decoy])).toEqual([TEAM.id]);
    expect(readersAmong([TEAM, EVIL], [taken, { before: [EVIL], after: [TEAM] }])).toEqual([]);
  });
});

test('a change that only adds what waits for approval is told by the approval', () => {
  const isOpen = (one: typeof A): boolean => one !== B;
  const change = changeOf(['email'], ['email', 'slack']);
  expect(isOnlyHeld(change, { before: [A], after: [A, B] }, isOpen)).toBe(true);
  expect(isOnlyHeld(change, { before: [A], after: [B] }, isOpen)).toBe(false);
  expect(isOnlyHeld(change, { before: [A], after: [A, B, HOOK] }, isOpen)).toBe(false);
  expect(isOnlyHeld(changeOf([], [], ['channels', 'tracking']), { before: [A], after: [A, B] }, isOpen)).toBe(false);
  expect(isOnlyHeld(change, { before: [A], after: [A] }, isOpen)).toBe(false);
});

test('each destination hears of its own changes, all in one', () => {
  const groups = groupsOf([
    { change: 'vault', audience: [A, B] },
    { change: 'bridge', audience: [B, HOOK] },
    { change: 'farm', audience: [A, B] },
  ]);
  expect(groups).toEqual([
    { destinations: [A], changes: ['vault', 'farm'] },
    { destinations: [B], changes: ['vault', 'bridge', 'farm'] },
    { destinations: [HOOK], changes: ['bridge'] },
  ]);
});
