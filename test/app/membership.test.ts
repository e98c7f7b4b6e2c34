/** Which of the daemons that live share a service. */
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { announcerOf, openMembership, readersOf } from '../../src/app/membership.ts';
import { createHealth } from '../../src/ops/health.ts';
import type { Member } from '../../src/redis/members.ts';
import { pidNamespace } from '../../src/redis/pid.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

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

test('who announces that a service cannot be read stays the same while it answers the one or the other', () => {
  const [one, other] = [member('one', { blindTo: ['main'] }), member('other')];
  expect(readersOf('main', [one, other], 'one')).toEqual(['other']);
  expect(announcerOf('main', [one, other], 'other')).toBe('one');
  expect(announcerOf('main', [{ ...one, services: [] }, other], 'other')).toBe('other');
  expect(announcerOf('main', [], 'one')).toBeUndefined();
});

test('a daemon with another config has a share of its own: it does not count while theirs does', () => {
  const members = [member('one'), member('other', { config: 'inspections only' }), member('third')];
  expect(readersOf('main', members, 'one')).toEqual(['one', 'third']);
  expect(readersOf('main', members, 'other')).toEqual(['other']);
});

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const stop = new AbortController();
  const freed: string[] = [];
  const free = async (queue: string, workers: readonly string[]): Promise<number> => {
    freed.push(`${queue} of ${workers.join()}`);
    return 1;
  };
  const checked: string[] = [];
  const context = {
    id: 'own',
    store: { redis, prefix, abandonedJobs: { free } },
    standing: { print: () => '', look: async () => {} },
    health: createHealth({ now: Date.now }),
    log: { warn: () => {}, info: () => {} } as never,
    stopping: stop.signal,
  };
  const membership = openMembership(context, {
    polls: () => ({ services: [], blindTo: [] }),
    workers: () => [{ id: 'w', kind: 'slack', checkStalled: async () => void checked.push('slack') }],
  });
  return { redis, key: `${prefix}:members`, stop, freed, checked, membership };
};

test('the jobs of one that is gone are freed of every kind, whatever kinds we deliver', async () => {
  const { redis, key, stop, freed, checked, membership } = setUp();
  const { pid } = spawnSync('true');
  const { id, ...dead } = member('dead', { host: hostname(), pid, workers: ['a', 'b'] });
  await redis.hset(key, id, JSON.stringify({ ...dead, pids: pidNamespace(), beats: 1 }));
  await membership.start();
  await until('it is forgotten', async () => !(await redis.hexists(key, id)));
  stop.abort();
  await membership.stop();
  expect(freed.toSorted()).toEqual(CHANNEL_KINDS.map((kind) => `deliver-${kind} of a,b`).toSorted());
  expect(checked).toEqual(['slack']);
});

test('one that is stopped before its first beat has come through does not beat any more', async () => {
  const { redis, key, stop, membership } = setUp();
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const started = membership.start();
  stop.abort();
  await membership.stop();
  await started;
  expect(await redis.hgetall(key)).toEqual({});
  expect(timers()).toBeLessThanOrEqual(before);
});
