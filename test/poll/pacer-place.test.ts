import { expect, test } from 'vitest';
import { placeOf } from '../../src/poll/pacer.ts';
import { streamsOf } from '../../src/poll/stream.ts';

const INTERVAL = 15_000;
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `Protocol ${n}`);
const offsetsOf = (streams: ReturnType<typeof streamsOf>, everyMs = INTERVAL): number[] =>
  streams.map((stream) => placeOf(stream, everyMs, streams.length));

test('inspections are spread over two seconds, always at the same place', () => {
  const streams = streamsOf('main', names(200), ['inspections']);
  const offsets = offsetsOf(streams);
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...offsets)).toBeLessThan(2000);
  expect(new Set(offsets).size).toBeGreaterThan(150);
  expect(offsetsOf(streams.toReversed())).toEqual(offsets.toReversed());
});

test('thousands are spread wider, and never beyond their interval', () => {
  const streams = streamsOf('main', names(3000), ['inspections']);
  expect(Math.max(...offsetsOf(streams))).toBeGreaterThan(5000);
  expect(Math.max(...offsetsOf(streams))).toBeLessThan(6000);
  expect(Math.max(...offsetsOf(streams, 1000))).toBeLessThan(1000);
});

test('notifications come first', () => {
  expect(offsetsOf(streamsOf('main', names(200), ['notifications']))).toEqual([0, 0, 0, 0, 0]);
});
