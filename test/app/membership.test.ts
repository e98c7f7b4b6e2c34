/** Which of the daemons that live share a service. */
import { expect, test } from 'vitest';
import { openMembership, readersOf } from '../../src/app/membership.ts';
import { createHealth } from '../../src/ops/health.ts';
import type { Member } from '../../src/redis/members.ts';
import { openTestRedis } from '../support/redis.ts';

const member = (id: string, changes: Partial<Member> = {}): Member => ({
  ...{ id, host: 'here', pid: 1, workers: [], services: ['main'], blindTo: [], config: 'all' },
  ...changes,
});

test('those that poll it, but for those that it does not answer, unless it answers nobody', () => {
  const [one, other] = [member('one'), member('other', { blindTo: ['main'] })];
  expect(readersOf('main', [one, other, member('third', { services: [] })], 'one')).toEqual(['one']);
  expect(readersOf('main', [one, other], 'other')).toEqual(['one']);
  expect(readersOf('main', [{ ...one, blindTo: ['main'] }, other], 'one')).toEqual(['one', 'other']);
});

test('a daemon with another config has a share of its own: it does not count while theirs does', () => {
  const members = [member('one'), member('other', { config: 'inspections only' }), member('third')];
  expect(readersOf('main', members, 'one')).toEqual(['one', 'third']);
  expect(readersOf('main', members, 'other')).toEqual(['other']);
});

test('one that is stopped before its first beat has come through does not beat any more', async () => {
  const { redis, prefix } = openTestRedis();
  const stop = new AbortController();
  const context = {
    id: 'given-up',
    store: { redis, prefix, abandonedJobs: { free: async () => 0 } as never },
    standing: { print: () => '', look: async () => {} },
    health: createHealth({ now: Date.now }),
    log: { warn: () => {}, info: () => {} } as never,
    stopping: stop.signal,
  };
  const membership = openMembership(context, {
    polls: () => ({ services: [], blindTo: [] }),
    workers: () => [],
  });
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const started = membership.start();
  stop.abort();
  await membership.stop();
  await started;
  expect(await redis.hgetall(`${prefix}:members`)).toEqual({});
  expect(timers()).toBeLessThanOrEqual(before);
});
