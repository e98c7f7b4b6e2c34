import { describe, expect, test } from 'vitest';
import { sharesRateWith } from '../../src/channels/registry.ts';
import { destinationOf } from '../support/alerts.ts';
import { OTHER, range, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { makeAlert } from '../support/numbered.ts';

describe('a sender', () => {
  test('has a pace of its own over all its destinations', async () => {
    const { add, run, sent } = setUp({ sender: { id: 'sender-slack', rate: { perSecond: 10 } } });
    for (const n of range(1, 20)) add([makeAlert(n)], destinationOf('slack', `C${n}`));
    await run();
    expect(sent).toHaveLength(20);
    expect(sent.map(({ at }) => at)).toEqual(range(0, 19).map((n) => n * 100));
  });
});

test('destinations that a platform counts as one share their slots', async () => {
  const { add, run, sent } = setUp({ rate: { perSecond: 1 }, shared: 'the chat' });
  add([makeAlert(1)]);
  add([makeAlert(2)], OTHER);
  await run();
  expect(sent.map(({ at, to }) => [at, to])).toEqual([
    [0, 'C1'],
    [1000, 'C2'],
  ]);
  expect(sharesRateWith({ kind: 'telegram', address: '-1001234567890/7' })).toBe('-1001234567890');
  expect(sharesRateWith({ kind: 'slack', address: 'C024BE91L' })).toBe('C024BE91L');
});
