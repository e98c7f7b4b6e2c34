/** What a daemon of another host leaves behind that was killed two minutes ago. */
import type { Redis } from 'ioredis';
import { createDaemonReports, type DaemonReport } from '../../src/features/conditions/daemons.ts';

export const SILENT_HOST = 'beta';
const SILENT_MS = 120_000;

export const leaveSilent = async (redis: Redis, prefix: string): Promise<void> => {
  const report: DaemonReport = {
    ...{ id: 'killed', host: SILENT_HOST, pid: 7, version: '1.2.3', startedAt: '2026-11-21T10:00:00.000Z' },
    ...{ uptimeMs: SILENT_MS, ready: true, checks: [], services: [], conditions: [] },
  };
  await createDaemonReports(redis, prefix, Date.now).write(report);
  const key = `${prefix}:daemon:${report.id}`;
  await redis.pexpire(key, (await redis.pttl(key)) - SILENT_MS);
};
