/** Which daemon is missed: one that ended without saying so, until it is back or forgotten. */
import { expect, test } from 'vitest';
import { conditionText } from '../../../src/condition.ts';
import {
  createDaemonReports,
  type DaemonReport,
  type HeardDaemon,
  missedOf,
} from '../../../src/features/conditions/daemons.ts';
import { conditionsOf } from '../../../src/features/conditions/list.ts';
import { openTestRedis } from '../../support/redis.ts';

const MINUTE = 60_000;

const report = (id: string, host: string, uptimeMs = 0): DaemonReport => ({
  ...{ id, host, pid: 12, version: '1.2.3', startedAt: '2026-11-21T10:00:00.000Z', uptimeMs },
  ...{ ready: true, checks: [], conditions: [], services: [] },
});

/** It began so many minutes ago, and was last heard so many minutes ago. */
const run = (id: string, host: string, beganAgo: number, heardAgo = 0): HeardDaemon => ({
  ...report(id, host, (beganAgo - heardAgo) * MINUTE),
  silentMs: heardAgo * MINUTE,
});

const missed = (...daemons: HeardDaemon[]) =>
  missedOf(daemons.toSorted((a, b) => a.silentMs - b.silentMs)).map(({ id }) => id);

test('one that fell silent is missed; one that was started again under the name of its host is not', () => {
  expect(missed(run('a', 'alpha', 60), run('b', 'beta', 60, 2))).toEqual(['b']);
  expect(missed(run('a', 'alpha', 60), run('b', 'beta', 60, 2), run('c', 'beta', 1))).toEqual([]);
  expect(missed(run('a', 'alpha', 60), run('b', 'beta', 60))).toEqual([]);
});

test('one that crashed at every start and works now leaves nobody to miss', () => {
  const crashed = [run('1', 'beta', 9, 8), run('2', 'beta', 7, 6), run('3', 'beta', 5, 4)];
  expect(missed(run('a', 'alpha', 60), ...crashed)).toEqual(['3']);
  expect(missed(run('a', 'alpha', 60), ...crashed, run('4', 'beta', 3))).toEqual([]);
});

test('of two on one host, the one that lives does not stand for the other', () => {
  expect(missed(run('a', 'alpha', 60), run('b', 'alpha', 60, 2))).toEqual(['b']);
  expect(missed(run('a', 'alpha', 60, 3), run('b', 'alpha', 60, 2), run('c', 'alpha', 1))).toEqual(['a']);
});

test('it is a condition of its own where another one runs; where none does, that is the condition', () => {
  const listed = (...daemons: HeardDaemon[]) => conditionsOf({ daemons, silent: [], broken: [], dead: 0, notes: [] });
  const [found, ...others] = listed(run('a', 'alpha', 60), run('b', 'beta', 60, 2));
  expect(found).toMatchObject({ name: 'member', of: 'b' });
  expect(found && conditionText(found)).toBe(
    'the daemon at beta (pid 12) ended without saying so, or does not reach Redis: it was last heard 2 min ago',
  );
  expect(others).toEqual([]);
  expect(listed(run('b', 'beta', 60, 2)).map(({ name }) => name)).toEqual(['daemon']);
});

test('one that stops takes its earlier runs with it, and nobody else', async () => {
  const { redis, prefix } = openTestRedis();
  const reports = createDaemonReports(redis, prefix, Date.now);
  const age = async (id: string, ms: number) => {
    const key = `${prefix}:daemon:${id}`;
    await redis.pexpire(key, (await redis.pttl(key)) - ms);
  };
  await reports.write(report('crashed', 'beta', MINUTE));
  await age('crashed', 10 * MINUTE);
  await reports.write(report('other', 'beta', 60 * MINUTE));
  await age('other', 5 * MINUTE);
  await reports.write(report('now', 'beta', 8 * MINUTE));
  await reports.write(report('elsewhere', 'alpha', MINUTE));
  await reports.remove('now');
  expect((await reports.list()).map(({ id }) => id)).toEqual(['elsewhere', 'other']);
  expect((await redis.zrange(`${prefix}:daemons`, '0', '-1')).toSorted()).toEqual(['elsewhere', 'other']);
});
