import { describe, expect, test } from 'vitest';
import { createLane } from '../../src/poll/bulkhead.ts';
import { createGate } from '../../src/poll/circuit-breaker.ts';

const setUp = (random = 0.999) => {
  const time = { now: 1_000_000 };
  const gate = createGate({ now: () => time.now, random: () => random, everyMs: 15_000 });
  /** Moments, since the last call, at which a poll is let through; `forMs` in steps of 100 ms. */
  const probes = (forMs: number): number[] => {
    const found: number[] = [];
    for (let passed = 0; passed < forMs; passed += 100) {
      time.now += 100;
      if (gate.admit('a') === 0) found.push(passed + 100);
    }
    return found;
  };
  const failAll = (subjects: readonly string[]) => {
    for (const subject of subjects) gate.failed(subject, 'unreachable');
  };
  return { time, gate, probes, failAll };
};

describe('a gate', () => {
  test('stays open while one subject fails, however often', () => {
    const { gate, failAll } = setUp();
    failAll(Array.from({ length: 50 }, () => 'a'));
    expect(gate.state()).toBe('open');
    expect(gate.admit('a')).toBe(0);
  });

  test('stays open while others work in between', () => {
    const { gate, failAll } = setUp();
    for (const subject of ['a', 'b', 'c', 'd', 'e', 'f']) {
      failAll([subject]);
      gate.worked('good');
    }
    expect(gate.state()).toBe('open');
  });

  test('closes when several that had worked fail in a row, and lets a few through, ever less often', () => {
    const { gate, failAll, probes } = setUp();
    for (const subject of ['a', 'b', 'c']) gate.worked(subject);
    failAll(['a', 'b', 'c']);
    expect(gate.state()).toBe('down');
    expect(gate.admit('a')).toBeGreaterThan(0);
    const at = probes(60_000);
    const pauses = at.map((moment, index) => moment - (at[index - 1] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5100);
    expect(pauses.slice(1, 4)).toEqual(pauses.slice(1, 4).toSorted((a, b) => a - b));
    expect(at.length).toBeLessThan(20);
  });

  test('opens at the first answer', () => {
    const { gate, failAll } = setUp();
    failAll(['a', 'b', 'c']);
    expect(gate.worked('a')).toBe(true);
    expect(gate.worked('a')).toBe(false);
    expect(gate.admit('a')).toBe(0);
  });

  test('does not count those that have been failing all along', () => {
    const { gate, failAll } = setUp();
    for (let rounds = 0; rounds < 5; rounds += 1) {
      failAll(['x', 'y']);
      gate.worked('good');
      failAll(['z']);
      gate.worked('good');
    }
    failAll(['x', 'y', 'z']);
    expect(gate.state()).toBe('open');
    failAll(['good', 'better', 'best']);
    expect(gate.state()).toBe('down');
  });

  test.each(['missing', 'rejected', 'aborted', 'held'] as const)(
    '%s is the own trouble of what was asked for',
    (reason) => {
      const { gate } = setUp();
      for (const subject of ['a', 'b', 'c', 'd']) gate.failed(subject, reason);
      expect(gate.state()).toBe('open');
    },
  );

  test('opens with an answer that refuses one subject: the service is there', () => {
    const { gate, failAll } = setUp();
    failAll(['a', 'b', 'c']);
    gate.failed('d', 'missing');
    expect(gate.state()).toBe('open');
  });

  test('lets nobody through twice in a row while others wait', () => {
    const { gate, failAll, time } = setUp();
    failAll(['a', 'b', 'c']);
    const through: string[] = [];
    for (let turns = 0; turns < 6; turns += 1) {
      time.now += 15_000;
      for (const subject of ['a', 'b', 'c']) if (gate.admit(subject) === 0) through.push(subject);
    }
    expect(through).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  test('stays open for failures that began before others were answered', () => {
    const { gate, failAll, time } = setUp();
    for (const subject of ['a', 'b', 'c', 'd']) expect(gate.admit(subject)).toBe(0);
    time.now += 50;
    gate.worked('d');
    time.now += 10_000;
    failAll(['a', 'b', 'c']);
    expect(gate.state()).toBe('open');
  });

  test('lets one find out that worked before besides those that fail by themselves', () => {
    const { gate, failAll, time } = setUp();
    failAll(['a', 'b', 'c']);
    expect(gate.state()).toBe('down');
    time.now += 15_000;
    expect(['a', 'b', 'c', 'good', 'better'].filter((subject) => gate.admit(subject) === 0)).toEqual(['a', 'good']);
    gate.worked('good');
    expect(gate.admit('better')).toBe(0);
  });

  test('closes at once when the service says that it is asked too often', () => {
    const { gate } = setUp();
    gate.failed('a', 'limited');
    expect(gate.state()).toBe('down');
  });

  test('lets one question through a turn while the key is refused, and says so once', () => {
    const { gate, probes } = setUp();
    expect(gate.refuse()).toBe(true);
    expect(gate.refuse()).toBe(false);
    expect(probes(60_000)).toEqual([15_000, 30_000, 45_000, 60_000]);
    gate.worked('listing');
    expect(gate.state()).toBe('open');
  });

  test('spreads the probes of several daemons', () => {
    const first = (random: number): number | undefined => {
      const { failAll, probes } = setUp(random);
      failAll(['a', 'b', 'c']);
      return probes(1000)[0];
    };
    expect(first(0)).toBeLessThan(first(0.999) ?? 0);
  });
});

describe('the lane of those that may hang', () => {
  test('has room for so many at once, and none of the others is counted', () => {
    const lane = createLane(2);
    for (const subject of ['a', 'b', 'c']) {
      expect(lane.enter(subject)).toBe(true);
      lane.leave(subject, false);
    }
    expect(['a', 'b', 'c', 'd', 'e', 'f'].map((subject) => lane.enter(subject))).toEqual([
      true,
      true,
      false,
      true,
      true,
      true,
    ]);
    lane.leave('a', false);
    expect(lane.enter('c')).toBe(true);
  });

  test('is left with the first answer, or when nobody is to blame any more', () => {
    const lane = createLane(1);
    for (const subject of ['a', 'b', 'c']) lane.leave(subject, false);
    expect(lane.enter('a')).toBe(true);
    expect(lane.enter('b')).toBe(false);
    lane.leave('a', true);
    expect(lane.enter('a')).toBe(true);
    expect(lane.enter('b')).toBe(true);
    expect(lane.enter('c')).toBe(false);
    lane.clear();
    expect(lane.enter('c')).toBe(true);
  });

  test('one that was not asked after all stays what it was', () => {
    const lane = createLane(1);
    lane.leave('a', false);
    lane.enter('a');
    lane.leave('a');
    lane.leave('b', false);
    expect(lane.enter('a')).toBe(true);
    expect(lane.enter('b')).toBe(false);
  });
});
