import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { createCircuitBreaker } from '../../src/poll/admission.ts';
import { createFailureDetector } from '../../src/poll/failure-detector.ts';

const setUp = (random = 0.999) => {
  const time = { now: 1_000_000 };
  const now = () => time.now;
  const detector = createFailureDetector(now);
  const admit = createCircuitBreaker({ detector, monotonic: now, random: () => random, everyMs: 15_000 });
  /** Moments, since the last call, at which a poll is let through; `forMs` in steps of 100 ms. */
  const probes = (forMs: number): number[] => {
    const found: number[] = [];
    for (let passed = 0; passed < forMs; passed += 100) {
      time.now += 100;
      if (admit('a')) found.push(passed + 100);
    }
    return found;
  };
  const failAll = (subjects: readonly string[]) => {
    for (const subject of subjects) detector.failed(subject, new ServiceError('unreachable', 'no answer'));
  };
  return { time, detector, admit, probes, failAll };
};

describe('the circuit breaker of a service', () => {
  test('lets everybody through while one subject fails, however often', () => {
    const { admit, failAll } = setUp();
    failAll(Array.from({ length: 50 }, () => 'a'));
    expect(admit('a')).toBe(true);
    expect(admit('a')).toBe(true);
  });

  test('opens when several that had worked fail in a row, and lets a few through, ever less often', () => {
    const { detector, admit, failAll, probes } = setUp();
    for (const subject of ['a', 'b', 'c']) detector.worked(subject);
    failAll(['a', 'b', 'c']);
    expect(admit('a')).toBe(false);
    const at = probes(60_000);
    const pauses = at.map((moment, index) => moment - (at[index - 1] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(500);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5100);
    expect(pauses.slice(1, 4)).toEqual(pauses.slice(1, 4).toSorted((a, b) => a - b));
    expect(at.length).toBeLessThan(20);
  });

  test('counts the first pause from the failure, not from the first question after it', () => {
    const { time, admit, failAll, probes } = setUp();
    failAll(['a', 'b', 'c']);
    time.now += 499;
    expect(admit('a')).toBe(false);
    time.now += 1;
    expect(admit('a')).toBe(true);
    expect(probes(2000)).toEqual([1000]);
  });

  test('lets everybody through from the first answer on, and begins again with the next trouble', () => {
    const { detector, admit, failAll, probes } = setUp();
    failAll(['a', 'b', 'c']);
    probes(60_000);
    detector.worked('a');
    expect(admit('a')).toBe(true);
    for (const subject of ['b', 'c']) detector.worked(subject);
    failAll(['a', 'b', 'c']);
    expect(admit('a')).toBe(false);
    expect(probes(1000)[0]).toBeLessThanOrEqual(500);
  });

  test('lets nobody through twice in a row while others wait', () => {
    const { admit, failAll, time } = setUp();
    failAll(['a', 'b', 'c']);
    const through: string[] = [];
    for (let turns = 0; turns < 6; turns += 1) {
      time.now += 15_000;
      for (const subject of ['a', 'b', 'c']) if (admit(subject)) through.push(subject);
    }
    expect(through).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  });

  test('lets the same one through again where those that had waited do not come any more', () => {
    const { admit, failAll, probes, time } = setUp();
    failAll(['a', 'b', 'c']);
    time.now += 15_000;
    expect(['a', 'b'].filter(admit)).toEqual(['a']);
    expect(probes(15_000).length).toBeGreaterThan(1);
  });

  test('lets one probe that worked before besides those that fail by themselves', () => {
    const { detector, admit, failAll, time } = setUp();
    failAll(['a', 'b', 'c']);
    time.now += 15_000;
    expect(['a', 'b', 'c', 'good', 'better'].filter(admit)).toEqual(['a', 'good']);
    detector.worked('good');
    expect(admit('better')).toBe(true);
  });

  test('lets one question through a turn while the key is refused', () => {
    const { detector, admit, probes } = setUp();
    detector.refused();
    expect(probes(60_000)).toEqual([15_000, 30_000, 45_000, 60_000]);
    detector.worked('listing');
    expect(admit('a')).toBe(true);
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
