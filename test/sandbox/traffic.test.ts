/** Traffic is the same for the same seed, has the shares it is given, and hostile texts among the rest. */
import { describe, expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../../src/sandbox/hostile.ts';
import type { InspectionSeed, NotificationSeed } from '../../src/sandbox/service/model.ts';
import { createTraffic, type TrafficItem, type TrafficMix } from '../../src/sandbox/traffic.ts';
import { createChannels, createWorld } from '../../src/sandbox/world.ts';

const NOW = Date.UTC(2026, 0, 1);

const draw = (seed: number, steps: number, mix?: Partial<TrafficMix>): TrafficItem[] => {
  const traffic = createTraffic({ seed, protocols: createWorld(seed), now: () => NOW });
  return Array.from({ length: steps }, () => traffic.next(mix)).flat();
};

const inspectionsOf = (items: readonly TrafficItem[]): InspectionSeed[] =>
  items.flatMap((item) => (item.source === 'inspections' ? [item.seed] : []));
const notificationsOf = (items: readonly TrafficItem[]): NotificationSeed[] =>
  items.flatMap((item) => (item.source === 'notifications' ? [item.seed] : []));
const criticalsOf = (items: readonly TrafficItem[]): InspectionSeed[] =>
  inspectionsOf(items).filter(({ assessment }) => assessment === 'critical');

test('the same seed gives the same world and traffic, another seed another', () => {
  expect(createWorld(7)).toEqual(createWorld(7));
  expect(createWorld(7)).not.toEqual(createWorld(8));
  expect(draw(7, 300)).toEqual(draw(7, 300));
  expect(draw(7, 300)).not.toEqual(draw(8, 300));
});

describe('traffic', () => {
  const items = draw(1, 3000);
  const inspections = inspectionsOf(items);

  test('is mostly harmless', () => {
    const share = (assessment: string): number =>
      inspections.filter((item) => item.assessment === assessment).length / inspections.length;
    expect(inspections).toHaveLength(3000);
    expect(share('critical')).toBeGreaterThan(0.02);
    expect(share('critical')).toBeLessThan(0.06);
    expect(share('suspecious')).toBeGreaterThan(0.07);
    expect(share('suspecious')).toBeLessThan(0.13);
    expect(share('ok') + share('suspecious') + share('critical')).toBeCloseTo(1);
  });

  test('names the detectors that fired only where something was found', () => {
    for (const { assessment, detections = {} } of inspections) {
      const fired = Object.values(detections).filter(({ status }) => status !== 'notDetected');
      expect(Object.keys(detections)).toHaveLength(7);
      expect(fired.length > 0).toBe(assessment !== 'ok');
      expect(fired.every(({ message }) => message !== '')).toBe(true);
    }
  });

  test('has ids and hashes of the right shape, each once', () => {
    expect(inspections.every(({ _id = '' }) => /^[0-9a-f]{24}$/.test(_id))).toBe(true);
    expect(inspections.every(({ txHash = '' }) => /^0x[0-9a-f]{64}$/.test(txHash))).toBe(true);
    expect(new Set(inspections.map(({ _id }) => _id)).size).toBe(inspections.length);
    expect(new Set(inspections.map(({ txHash }) => txHash)).size).toBe(inspections.length);
    expect(inspections.every(({ txTimestamp = 0 }) => txTimestamp < NOW && txTimestamp > NOW - 15_000)).toBe(true);
  });

  test('covers every protocol, several chains and one that nobody knows', () => {
    expect(new Set(inspections.map(({ protocol }) => protocol)).size).toBe(createWorld(1).length);
    const chains = new Set(inspections.map(({ chainId }) => chainId));
    expect(chains.size).toBeGreaterThan(2);
    expect([...chains].every((chain) => [1, 10, 8453, 42161, 987654321].includes(chain ?? 0))).toBe(true);
  });

  test('stores some criticals as notifications that name their transaction, and announces other things', () => {
    const hashes = new Set(criticalsOf(items).map(({ txHash }) => txHash));
    const named = notificationsOf(items).flatMap(({ message = '' }) => message.match(/0x[0-9a-f]{64}/g) ?? []);
    expect(named.length).toBeGreaterThan(hashes.size * 0.3);
    expect(named.length).toBeLessThan(hashes.size * 0.7);
    expect(named.every((hash) => hashes.has(hash))).toBe(true);
    expect(notificationsOf(items).length).toBeGreaterThan(named.length);
  });

  test('has hostile texts now and then', () => {
    const text = JSON.stringify(items);
    const seen = HOSTILE_TEXTS.filter((hostile) => text.includes(JSON.stringify(hostile).slice(1, -1)));
    expect(seen.length).toBeGreaterThan(HOSTILE_TEXTS.length / 2);
  });

  test('follows the mix it is given', () => {
    const all = draw(1, 50, { critical: 1, notified: 1, announced: 0, hostile: 1 });
    expect(criticalsOf(all)).toHaveLength(50);
    expect(notificationsOf(all)).toHaveLength(50);
    expect(HOSTILE_TEXTS).toContain(inspectionsOf(all)[0]?.invokedMethodName);
    const none = draw(1, 50, { critical: 0, suspecious: 0, announced: 0, hostile: 0 });
    expect(inspectionsOf(none).every(({ assessment }) => assessment === 'ok')).toBe(true);
    expect(notificationsOf(none)).toEqual([]);
  });

  test('needs a protocol', () => {
    expect(createTraffic({ protocols: [] }).next()).toEqual([]);
  });
});

test('hostile texts cover markup, line breaks, controls, directions, invisible characters and length', () => {
  const all = HOSTILE_TEXTS.join('\n');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the purpose
  for (const pattern of [/<!channel>/, /<script>/, /\r\n/, /\u0000/, /\u202e/, /\u200b/, /🧨/u, /\u202c/])
    expect(all).toMatch(pattern);
  expect(HOSTILE_TEXTS.some((text) => text.length >= 10_000)).toBe(true);
});

test('every protocol has a destination of each kind that no other has', () => {
  const contacts = createWorld(1).flatMap(({ name }, index) =>
    createChannels(name, index, 'http://127.0.0.1:1').map((channel) => channel.url ?? channel.contacts?.join()),
  );
  expect(contacts).toHaveLength(20);
  expect(new Set(contacts).size).toBe(20);
});
