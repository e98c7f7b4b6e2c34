/** A job that a newer daemon wrote, on the Redis of an older one: it stays as it is, and the older one says so. */
import { Queue } from 'bullmq';
import { expect, test } from 'vitest';
import { parcelJob } from '../../src/queue/job.ts';
import { JOB_OPTIONS } from '../../src/queue/settings.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const SLACK = destinationOf('slack', 'C0SANDBOX01');
const SAID = 'jobs of a version that this daemon does not know are left alone; upgrade it';

/** As long as none has come up; they do every few seconds. */
const GONE_MS = 8000;

test.concurrent('jobs of an unknown version are left alone, said once, and hold up readiness until they are gone', async ({
  onTestFinished,
}) => {
  const { redis } = openTestRedis();
  const world = await startWorld({
    onFinished: onTestFinished,
    names: ['Vault'],
    kinds: ['slack'],
  });
  const queue = new Queue('deliver-slack', { connection: redis, prefix: world.prefix, defaultJobOptions: JOB_OPTIONS });
  onTestFinished(() => queue.close());
  const known = parcelJob({ destination: SLACK, alerts: [makeAlert(1)] });
  const newer = { ...known, v: known.v + 1 };
  const id = 'parcel_newer';
  await queue.add('parcel', newer, { jobId: id });
  await queue.add('parcel', newer, { jobId: `${id}2` });

  const daemon = await world.start({ limits: { newerJobsGoneMs: GONE_MS } });
  await world.balanced();
  await until('it has come up', async () => (await queue.getDelayedCount()) === 2);
  const started = async (): Promise<number> => Number(await redis.hget(`${world.prefix}:deliver-slack:${id}`, 'ats'));
  await until('it has come up again', async () => (await started()) > 1);
  expect(await queue.getJob(id)).toMatchObject({ data: newer, attemptsMade: 0 });
  expect(daemon.log(SAID)).toMatchObject([{ level: 'error', queue: 'deliver-slack', version: String(newer.v) }]);
  const ready = await daemon.ask('/readyz');
  expect(ready.status).toBe(503);
  expect(ready.text).toContain(`jobs of version ${newer.v} wait in deliver-slack`);

  // What a daemon of that version would do: here, one that writes what this one knows.
  for (const each of [id, `${id}2`]) await (await queue.getJob(each))?.updateData(known);
  await until('they have ended', async () => (await queue.getJobCountByTypes('delayed', 'active', 'wait')) === 0);
  await until('it is ready again', async () => (await daemon.ask('/readyz')).status === 200);
  expect((await daemon.ask('/readyz')).text).not.toContain('"jobs"');
});
