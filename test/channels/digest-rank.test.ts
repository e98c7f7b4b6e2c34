import { describe, expect, test } from 'vitest';
import { ranked, type Traits } from '../../src/channels/digest-rank.ts';
import { atOnce } from '../../src/chunks.ts';

const traits = (changes: Partial<Traits> = {}): Traits => ({
  ...{ urgency: 0, protocols: ['Vault'], detectors: ['a'], contracts: ['0xc'], methods: ['m'], origins: ['0xo'] },
  ...{ percent: 0, at: 0 },
  ...changes,
});

const many = (count: number, changes: Partial<Traits> = {}): Traits[] =>
  Array.from({ length: count }, (_, at) => traits({ at, ...changes }));

const rankedOf = (all: readonly Traits[]) => atOnce(ranked(all.map((traits, index) => ({ traits, index }))));
const orderOf = (all: readonly Traits[]): number[] => rankedOf(all).map(({ of }) => of.index);

const reasonsOf = (all: readonly Traits[], of: number): string[] =>
  rankedOf(all).find((one) => one.of.index === of)?.reasons ?? [];

describe('the order of a digest', () => {
  test('is by severity before all else', () => {
    const minor = traits({ urgency: 1, isPrivileged: true, detectors: ['a', 'b', 'c'], contracts: ['0xd'] });
    expect(orderOf([minor, ...many(9)])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 0]);
  });

  test('has one of each kind before a second of any: what the same detectors found, by calls as privileged', () => {
    const all = [
      ...many(2, { isPrivileged: true, isByAdmin: true }),
      ...many(2, { detectors: ['b', 'a'] }),
      ...many(2, { detectors: ['a', 'b'] }),
      ...many(2),
    ];
    expect(orderOf(all)).toEqual([0, 2, 6, 1, 4, 7, 3, 5]);
  });

  test.each<[string, Partial<Traits>, string]>([
    ['detectors', { detectors: ['b', 'c'] }, 'only 1 of 41 with these detectors'],
    ['a detector', { detectors: ['a', 'z'] }, 'only 1 of 41 with these detectors'],
    ['a contract', { contracts: ['0xc', '0xd'] }, 'only 1 of 41 on this contract'],
    ['a protocol', { protocols: ['Vault', 'Bridge'] }, 'only 1 of 41 in this protocol'],
    ['a method', { methods: ['sweep'] }, 'only 1 of 41 with this method'],
    ['an origin', { origins: ['0xp'] }, 'only 1 of 41 from this sender'],
  ])('has first what is rare by %s, and says so', (_what, changes, reason) => {
    const all = [...many(40, { percent: 100 }), traits({ at: 99, ...changes })];
    expect(orderOf(all)[0]).toBe(40);
    expect(reasonsOf(all, 40)).toContain(reason);
    expect(reasonsOf(all, 0)).toEqual([]);
  });

  test('takes nothing for rare where all differ, nor where something is missing', () => {
    const all = Array.from({ length: 40 }, (_, n) => traits({ origins: [`0x${n}`], contracts: [`0x${n}`], at: n }));
    expect(orderOf(all)).toEqual(all.map((_, n) => n));
    const { contracts: _contracts, ...nowhere } = traits({ at: 99 });
    expect(orderOf([...many(40), nowhere]).at(-1)).toBe(40);
    expect(reasonsOf([...many(40), nowhere], 40)).toEqual([]);
  });

  test('counts no fact that all have', () => {
    const all = [...many(40, { isPrivileged: true, isOriginNew: true }), traits({ at: 99, contracts: ['0xd'] })];
    expect(orderOf(all)[0]).toBe(40);
    expect(reasonsOf(all, 0)).toEqual(['privileged call', 'new sender']);
  });

  test('is by a percentage only where nothing else decides, and then by age', () => {
    const all = [traits({ at: 2 }), traits({ at: 1 }), traits({ at: 3, percent: 40 }), traits({ at: 4, percent: 90 })];
    expect(orderOf(all)).toEqual([3, 2, 1, 0]);
    const seldom = [...all, ...many(20, { at: 5 }), traits({ at: 9, isTriggered: true })];
    expect(orderOf(seldom)[0]).toBe(24);
  });

  test('has each once, of none none', () => {
    expect(orderOf([])).toEqual([]);
    expect(orderOf(many(300)).toSorted((a, b) => a - b)).toEqual(many(300).map((_, n) => n));
  });
});
