import { expect, test } from 'vitest';
import { createLaneOf } from '../../src/poll/stream.ts';

test('the oldest protocols have a lane of their own, and so have those after them', () => {
  const protocols = new Map(
    Array.from({ length: 1100 }, (_, n): [string, { owedSince?: number }] => [`p${n}`, { owedSince: 5000 - n }]),
  );
  protocols.set('first', {});
  const laneOf = createLaneOf(protocols);
  const lane = (...names: string[]) => laneOf({ service: 'main', source: 'notifications', protocols: names });
  expect([lane('first'), lane('p1099'), lane('p500'), lane('p0'), lane('unknown')]).toEqual([0, 0, 1, 2, 2]);
  // What is read together has the lane of the oldest.
  expect(lane('p0', 'first')).toBe(0);
});
