/** What each daemon says of itself, kept in Redis. */
import { expect, test } from 'vitest';
import { createDaemonReports, type DaemonReport, MOST_DAEMONS } from '../../../src/features/conditions/daemons.ts';
import { openTestRedis } from '../../support/redis.ts';

const report = (id: string): DaemonReport => ({
  id,
  host: 'alpha',
  pid: 12,
  version: '1.2.3',
  startedAt: '2026-11-21T10:00:00.000Z',
  uptimeMs: 3_600_000,
  ready: true,
  checks: [],
  conditions: [],
  services: [],
});

test('a report grows old by the clock of Redis, whatever ours says', async () => {
  const { redis, prefix } = openTestRedis();
  const reports = createDaemonReports(redis, prefix, () => 0);
  await reports.write(report('a'));
  await reports.write(report('b'));
  const key = `${prefix}:daemon:a`;
  await redis.pexpire(key, (await redis.pttl(key)) - 600_000);
  const [first, second] = await reports.list();
  expect(first).toMatchObject({ ...report('b'), silentMs: expect.any(Number) });
  expect(second?.id).toBe('a');
  expect(Math.round((second?.silentMs ?? 0) / 60_000)).toBe(10);
  await reports.remove('b');
  expect((await reports.list()).map(({ id }) => id)).toEqual(['a']);
});

test('a daemon that crashes at every start fills nothing up', async () => {
  const { redis, prefix } = openTestRedis();
  let at = 0;
  const reports = createDaemonReports(redis, prefix, () => at);
  for (at = 1; at <= MOST_DAEMONS + 3; at += 1) await reports.write(report(`crash-${at}`));
  const ids = (await reports.list()).map(({ id }) => id);
  expect(ids).toHaveLength(MOST_DAEMONS);
  expect(ids).not.toContain('crash-3');
  for (const key of [`${prefix}:daemons`, `${prefix}:daemon:crash-3`]) expect(await redis.pttl(key)).toBeGreaterThan(0);
});
