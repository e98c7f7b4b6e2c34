import { expect, test } from 'vitest';
import type { Condition, ConditionName } from '../../../src/condition.ts';
import { failUrlOf, reasonAgainst } from '../../../src/features/watchdog/heartbeat.ts';
import { createHealth } from '../../../src/ops/health.ts';

const UUID = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';
const condition = (name: ConditionName): Condition => ({ name, of: 'x', what: `${name} is wrong`, why: 'because' });

test('there is a heartbeat where everything was proven in the interval', () => {
  expect(reasonAgainst([], [])).toBeUndefined();
  expect(reasonAgainst([], ['channel:slack was not proven yet'])).toBe('channel:slack was not proven yet');
  const redis = { ...condition('redis'), what: 'Redis does not answer' };
  expect(reasonAgainst([condition('service'), redis], ['service:main was not proven yet'])).toBe(
    'Redis does not answer',
  );
});

test('a check has to be proven again and again, and a loop to turn', () => {
  let now = 1_000_000;
  const health = createHealth({ now: () => now });
  health.expect('channel:slack');
  health.watchLoop('poll', 60_000);
  expect(health.lacking(60_000)).toEqual(['channel:slack was not proven yet', 'the loop poll has not turned yet']);
  health.beat('poll', true);
  expect(health.lacking(60_000)).toHaveLength(2);
  health.prove('channel:slack');
  health.beat('poll');
  now += 60_000;
  expect(health.lacking(60_000)).toEqual([]);
  now += 1000;
  const both = ['channel:slack was not proven for 61 s', 'the loop poll has not turned for 61 s'];
  expect(health.lacking(60_000)).toEqual(both);
  expect(reasonAgainst([], both)).toBe(both.join('; '));
  // A loop may take its own time.
  expect(health.lacking(1000).length + health.lacking(90_000).length).toBe(2);
});

test('what stops alerts stops it, and no other trouble does', () => {
  for (const name of ['service', 'channel', 'queue'] as const) {
    expect(reasonAgainst([condition(name)], [])).toBe(`${name} is wrong: because`);
  }
  const others = (['dead', 'disk', 'clock', 'durability', 'destination', 'heartbeat'] as const).map(condition);
  expect(reasonAgainst(others, [])).toBeUndefined();
});

test.each([
  [`https://hc-ping.com/${UUID}`, `https://hc-ping.com/${UUID}/fail`],
  ['https://hc-ping.com/key/tocsin', 'https://hc-ping.com/key/tocsin/fail'],
  [`https://checks.example.com/ping/${UUID}?create=1`, `https://checks.example.com/ping/${UUID}/fail?create=1`],
  ['https://checks.example.com/ping/key/tocsin/', 'https://checks.example.com/ping/key/tocsin/fail'],
  ['https://kuma.example.com/api/push/AbC123?status=up&msg=OK', undefined],
  ['https://nosnch.in/c2354d53d2', undefined],
])('a failure of %s is told at %s', (url, fails) => {
  expect(failUrlOf(url)).toBe(fails);
});
