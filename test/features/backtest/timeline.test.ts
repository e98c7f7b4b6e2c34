/** One clock for everything that a backtest simulates. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTimeline } from '../../../src/features/backtest/timeline.ts';

test('events happen in order of time, those of one moment in the order in which they were added', async () => {
  const moments = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(moments, async (times) => {
      const timeline = createTimeline();
      const happened: { at: number; index: number }[] = [];
      times.forEach((at, index) => {
        timeline.add(at, async () => void happened.push({ at: timeline.now(), index }));
      });
      await timeline.run();
      const expected = times.map((at, index) => ({ at, index })).toSorted((a, b) => a.at - b.at);
      expect(happened).toEqual(expected);
    }),
  );
});

test('an event may add others; the clock does not go back for what is late', async () => {
  const timeline = createTimeline();
  const happened: string[] = [];
  const note = (name: string) => async () => void happened.push(`${name} ${timeline.now()}`);
  timeline.add(5, async () => {
    timeline.add(9, note('later'));
    timeline.add(2, note('late'));
  });
  timeline.add(7, note('between'));
  await timeline.run();
  expect(happened).toEqual(['late 5', 'between 7', 'later 9']);
});

test('a job that comes back keeps its place among those of the same moment', async () => {
  const timeline = createTimeline();
  const happened: string[] = [];
  const order = timeline.nextOrder();
  timeline.add(2, async () => void happened.push('second'));
  timeline.add(1, async () => timeline.add(2, async () => void happened.push('first'), order), order);
  await timeline.run();
  expect(happened).toEqual(['first', 'second']);
});
