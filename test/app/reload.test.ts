/** What is said of a config that is on disk and does not come into force. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openReloading } from '../../src/app/reload.ts';
import { nextStepOf } from '../../src/condition.ts';
import type { Config } from '../../src/config/schema.ts';
import { createConditions } from '../../src/ops/conditions.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

test('a file that differs from what runs is to be reloaded, not corrected', async ({ onTestFinished }) => {
  const { redis, prefix } = openTestRedis();
  const metrics = createMetrics({ version: '1' });
  const stopping = new AbortController();
  const hostConditions = createConditions({ now: Date.now });
  let disk = 'old';
  let taken = disk;
  const reading = Promise.withResolvers<Config>();
  let isReading = false;
  const reloading = openReloading({
    source: {
      file: 'tocsin.yaml',
      files: () => [],
      read: () => {
        isReading = true;
        return reading.promise;
      },
      readPrint: () => taken,
      diskPrint: async () => disk,
    },
    current: () => expect.unreachable(),
    replace: () => expect.unreachable(),
    ...{
      hostConditions,
      metrics,
      store: { redis, prefix },
      stopping: stopping.signal,
      limits: { configLookMs: 20, configTakenMs: 0 },
    },
    onRead: () => {},
    onAnswered: () => {},
    scrub: (text) => text,
    log: pino({ level: 'silent' }),
    now: Date.now,
  });
  const watching = reloading.watch();
  onTestFinished(async () => {
    metrics.loopDelay.stop();
    stopping.abort();
    await watching.stopped(1000);
  });
  disk = 'new';
  const found = await until('it is told', () => hostConditions.current()[0]);
  expect(found).toMatchObject({ name: 'config', of: 'tocsin.yaml', what: expect.stringContaining('differs') });
  expect(nextStepOf(found)).toContain('`tocsin reload`');
  expect(nextStepOf(found)).not.toContain('correct the file');
  await until('it is read', () => isReading);
  taken = disk;
  reading.reject(new Error('it is wrong'));
  await until('what it is now is told instead', () => {
    const known = hostConditions.current();
    return known.length === 1 && known[0]?.of === '';
  });
  expect(nextStepOf(hostConditions.current()[0] ?? expect.unreachable())).toContain('correct the file');
});
