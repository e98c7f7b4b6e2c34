import { expect, test } from 'vitest';
import type { CatalogEntry } from '../../src/poll/catalog.ts';
import { streamsOf } from '../../src/poll/streams.ts';
import { planTurns, pollTurns } from '../../src/poll/turns.ts';

const INTERVAL = 15_000;
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `Protocol ${n}`);
const offsetsOf = (streams: ReturnType<typeof streamsOf>, everyMs = INTERVAL): number[] =>
  pollTurns(streams, everyMs).map(({ offsetMs = 0 }) => offsetMs);

test('inspections are spread over two seconds, always at the same place', () => {
  const streams = streamsOf('main', names(200), ['inspections']);
  const offsets = offsetsOf(streams);
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(1);
  expect(Math.max(...offsets)).toBeLessThanOrEqual(2000);
  expect(new Set(offsets).size).toBeGreaterThan(150);
  expect(offsetsOf(streams.toReversed())).toEqual(offsets.toReversed());
});

test('thousands are spread wider, and never beyond their interval', () => {
  const streams = streamsOf('main', names(3000), ['inspections']);
  expect(Math.max(...offsetsOf(streams))).toBeGreaterThan(5000);
  expect(Math.max(...offsetsOf(streams))).toBeLessThanOrEqual(6000);
  expect(Math.max(...offsetsOf(streams, 1000))).toBeLessThanOrEqual(1000);
});

test('notifications come first', () => {
  expect(offsetsOf(streamsOf('main', names(200), ['notifications']))).toEqual([1, 1, 1, 1, 1]);
});

test('the plan has one listing a service, and a poll for each stream of its protocols', async () => {
  const listed: Record<string, string[]> = { main: ['Vault', 'Bridge'], other: [] };
  const plan = await planTurns(
    {
      services: ['main', 'other'],
      sources: ['inspections', 'notifications'],
      interval: INTERVAL,
      catalogEvery: 60_000,
    },
    { protocols: async (service) => new Map((listed[service] ?? []).map((name) => [name, {} as CatalogEntry])) },
  );
  expect(plan.map(({ data, everyMs }) => [everyMs, data])).toEqual([
    [60_000, { kind: 'catalog', service: 'main' }],
    [INTERVAL, { kind: 'poll', stream: { service: 'main', source: 'inspections', protocols: ['Vault'] } }],
    [INTERVAL, { kind: 'poll', stream: { service: 'main', source: 'inspections', protocols: ['Bridge'] } }],
    [INTERVAL, { kind: 'poll', stream: { service: 'main', source: 'notifications', protocols: ['Bridge', 'Vault'] } }],
    [60_000, { kind: 'catalog', service: 'other' }],
  ]);
  expect(new Set(plan.map(({ id }) => id)).size).toBe(5);
});
