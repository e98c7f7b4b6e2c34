import { describe, expect, test } from 'vitest';
import { type Condition, type ConditionName, conditionKey, rowOf, TROUBLES } from '../../../src/condition.ts';
import { changesOf } from '../../../src/features/watchdog/watchdog.ts';

const AFTER = 60_000;

const listed = (name: ConditionName, of = ''): Condition => ({ name, of, what: `${name} ${of}` });
const announced = (name: ConditionName, of = ''): string => conditionKey({ name, of });

/** Seconds, by trouble. */
const changes = (
  current: readonly Condition[],
  before: readonly string[],
  seconds: Readonly<Record<string, number>>,
) => {
  const forMs = (key: string): number => (seconds[key] ?? 0) * 1000;
  const { begun, ended } = changesOf({
    current,
    announced: before,
    seenForMs: forMs,
    goneForMs: forMs,
    afterMs: AFTER,
  });
  return { begun: begun.map(conditionKey), ended };
};

describe('what is announced', () => {
  /** What the watchdog announces. */
  const OWN = TROUBLES.filter((name) => rowOf(name).announced === 'lasting');

  test.each(OWN)('%s, when it has lasted, once, and its end when that has lasted', (name) => {
    const key = name;
    expect(changes([listed(name)], [], { [key]: 59 })).toEqual({ begun: [], ended: [] });
    expect(changes([listed(name)], [], { [key]: 60 })).toEqual({ begun: [key], ended: [] });
    expect(changes([listed(name)], [announced(name)], { [key]: 900 })).toEqual({ begun: [], ended: [] });
    expect(changes([], [announced(name)], { [key]: 59 })).toEqual({ begun: [], ended: [] });
    expect(changes([], [announced(name)], { [key]: 60 })).toEqual({ begun: [], ended: [key] });
  });

  test('together what has begun together, without what may be gone in a moment', () => {
    const current = [listed('disk', 'a'), listed('clock', 'a redis'), listed('loop', 'a')];
    expect(changes(current, [], { 'disk a': 60, 'clock a redis': 40, 'loop a': 5 }).begun).toEqual([
      'disk a',
      'clock a redis',
    ]);
    const before = [announced('disk', 'a'), announced('clock', 'a redis')];
    expect(changes([], before, { 'disk a': 60, 'clock a redis': 45 }).ended).toEqual(['disk a', 'clock a redis']);
  });

  test('nothing that others announce, not even beside something of ours', () => {
    const service = listed('service', 'main');
    expect(changes([service], [], { 'service main': 900 }).begun).toEqual([]);
    expect(changes([service, listed('dead')], [], { 'service main': 900, dead: 60 }).begun).toEqual(['dead']);
  });

  test('no end of what others have taken over meanwhile', () => {
    const outage = { ...listed('channel', 'slack'), announcedTo: [] };
    expect(changes([outage], [announced('channel', 'slack')], { 'channel slack': 900 }).ended).toEqual([]);
  });
});
