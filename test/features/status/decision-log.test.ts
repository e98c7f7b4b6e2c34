/** What commands decide is logged by a running daemon, once. */
import { expect, test } from 'vitest';
import { createApprovalStore } from '../../../src/features/approval/store.ts';
import { createMutes } from '../../../src/features/mutes/store.ts';
import { createDecisionLog } from '../../../src/features/status/decision-log.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/secret', 'hooks.example.com/…3f1c');

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const now = () => time.now;
  const mutes = createMutes(redis, prefix, now);
  const held = createApprovalStore(redis, prefix, now);
  const lines: object[] = [];
  const log = { info: (line: object, msg: string) => void lines.push({ ...line, msg }) };
  const look = createDecisionLog({ mutes, held }, log as Parameters<typeof createDecisionLog>[1]);
  /** What is logged by one more look. */
  const logged = async (): Promise<object[]> => {
    const before = lines.length;
    await look();
    return lines.slice(before);
  };
  const add = (id: string) =>
    mutes.add({
      id,
      protocols: ['Vault'],
      detectors: [],
      destinations: [],
      reason: 'upgrade',
      from: '2026-11-20T12:00:00.000Z',
      until: '2026-11-20T14:00:00.000Z',
    });
  return { time, mutes, held, logged, add };
};

test('mutes: begun and ended by hand, and none that was there before', async () => {
  const { mutes, logged, add } = setUp();
  await add('mute-1');
  expect(await logged()).toEqual([]);
  await add('mute-2');
  const line = { mute: 'mute-2', what: 'protocol Vault', reason: 'upgrade', until: '2026-11-20T14:00:00.000Z' };
  expect(await logged()).toEqual([{ ...line, msg: 'a mute has begun' }]);
  expect(await logged()).toEqual([]);
  await mutes.end('mute-2', T0);
  expect(await logged()).toEqual([{ ...line, msg: 'a mute was ended by hand' }]);
  expect(await logged()).toEqual([]);
});

test('destinations: approved and revoked, as often as it happens, without their address', async () => {
  const { time, held, logged } = setUp();
  await logged();
  const told: object[] = [];
  for (const decide of [() => held.approve([HOOK]), () => held.revoke(HOOK), () => held.approve([HOOK])]) {
    time.now += 1000;
    await decide();
    told.push(...(await logged()));
  }
  const line = { destination: HOOK.id, to: HOOK.label };
  expect(told).toEqual([
    { ...line, at: '2026-11-20T12:00:01.000Z', msg: 'a destination was approved' },
    { ...line, at: '2026-11-20T12:00:02.000Z', msg: 'a destination was revoked' },
    { ...line, at: '2026-11-20T12:00:03.000Z', msg: 'a destination was approved' },
  ]);
  expect(await logged()).toEqual([]);
});
