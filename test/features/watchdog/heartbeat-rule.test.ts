import { expect, test } from 'vitest';
import type { Condition, ConditionName } from '../../../src/condition.ts';
import { failUrlOf, reasonAgainst } from '../../../src/features/watchdog/heartbeat.ts';

const UUID = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278';
const proven = (agoMs: number | undefined) => ({ lacking: 'slack was not proven to work', agoMs });
const condition = (name: ConditionName): Condition => ({ name, of: 'x', what: `${name} is wrong`, why: 'because' });

const reason = (changes: Partial<Parameters<typeof reasonAgainst>[0]>) =>
  reasonAgainst({ conditions: [], proofs: [proven(1000)], withinMs: 60_000, ...changes });

test('there is a heartbeat where everything was proven in the interval', () => {
  expect(reason({})).toBeUndefined();
  expect(reason({ proofs: [proven(60_000)] })).toBeUndefined();
  expect(reason({ proofs: [proven(0), proven(61_000)] })).toBe('slack was not proven to work for 61 s');
  expect(reason({ proofs: [proven(undefined)] })).toBe('slack was not proven to work yet');
  const redis = { ...condition('redis'), what: 'Redis does not answer' };
  expect(reason({ conditions: [condition('service'), redis] })).toBe('Redis does not answer');
});

test('what stops alerts stops it, and no other trouble does', () => {
  for (const name of ['service', 'channel', 'queue'] as const) {
    expect(reason({ conditions: [condition(name)] })).toBe(`${name} is wrong: because`);
  }
  const others = (['dead', 'disk', 'clock', 'durability', 'destination', 'heartbeat'] as const).map(condition);
  expect(reason({ conditions: others })).toBeUndefined();
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
