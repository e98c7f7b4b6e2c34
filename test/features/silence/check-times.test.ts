import { expect, test } from 'vitest';
import { LIMITS } from '../../../src/app/context.ts';
import { createProbeTimes } from '../../../src/features/silence/check.ts';

const HOUR = 3_600_000;

const setUp = ({ requestsPerSecond = 4, expected = {} as Record<string, number> } = {}) => {
  const world = { now: 0 };
  const times = createProbeTimes({
    requestsPerSecond,
    leastMs: LIMITS.silenceProbeMs,
    expectEvery: (protocol) => expected[protocol],
    monotonic: () => world.now,
  });
  /** Rounds of 15 seconds for so long; gives how many requests each protocol took, of as many as `each` says. */
  const run = (
    ms: number,
    names: readonly string[],
    each: (name: string) => { isBehind: boolean; requests: number },
  ) => {
    const asked = new Map<string, number>();
    for (const end = world.now + ms; world.now < end; world.now += 15_000) {
      for (const name of times.due('main', names).slice(0, 10)) {
        const { isBehind, requests } = each(name);
        times.asked('main', name, { isBehind, requests });
        asked.set(name, (asked.get(name) ?? 0) + requests);
      }
    }
    return asked;
  };
  return { run };
};

const named = (count: number): string[] => Array.from({ length: count }, (_, n) => `p${n}`);
const sum = (asked: ReadonlyMap<string, number>): number => [...asked.values()].reduce((a, b) => a + b, 0);

test('a protocol is asked for every ten minutes', () => {
  const asked = setUp().run(10 * HOUR, named(5), () => ({ isBehind: false, requests: 1 }));
  expect([...asked.values()].every((count) => count >= 57 && count <= 61)).toBe(true);
});

test('many are asked for in turn, within a twentieth of the budget, also while all of them learn', () => {
  const many = setUp().run(10 * HOUR, named(1000), () => ({ isBehind: false, requests: 1 }));
  expect(many.size).toBe(1000);
  expect(sum(many)).toBeLessThanOrEqual(0.2 * 36_000 + 20);
  const learning = setUp({ requestsPerSecond: 2 }).run(10 * HOUR, named(200), () => ({ isBehind: true, requests: 6 }));
  expect(sum(learning)).toBeLessThanOrEqual(0.1 * 36_000 + 60);
});

test('what the operator expects is looked at several times within its time, whatever others learn', () => {
  const { run } = setUp({ expected: { Vault: HOUR / 5 } });
  const asked = run(10 * HOUR, ['Vault', ...named(100)], (name) => ({ isBehind: name !== 'Vault', requests: 6 }));
  expect((asked.get('Vault') ?? 0) / 6).toBeGreaterThan(150);
});
