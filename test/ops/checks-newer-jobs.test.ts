import { expect, test } from 'vitest';
import { createNewerJobs } from '../../src/ops/checks.ts';
import { createHealth } from '../../src/ops/health.ts';

test('each version is said once, and the daemon is ready again once none has come up for a minute', () => {
  const clock = { now: 1_000_000 };
  const now = () => clock.now;
  const health = createHealth({ now });
  const said: object[] = [];
  const jobs = createNewerJobs({ health, log: { error: (fields) => void said.push(fields) }, now });
  jobs.settle();
  expect(health.ready()).toEqual({ status: 'ok', checks: [] });

  jobs.met('deliver-slack', '3');
  jobs.met('deliver-slack', '3');
  jobs.met('deliver-email', '3');
  expect(said).toEqual([
    { queue: 'deliver-slack', version: '3' },
    { queue: 'deliver-email', version: '3' },
  ]);
  clock.now += 50_000;
  jobs.met('deliver-email', '3');
  clock.now += 50_000;
  jobs.settle();
  expect(health.ready().status).toBe('not ready');
  expect(health.ready().checks).toMatchObject([
    { name: 'jobs', status: 'failing', detail: expect.stringMatching(/^jobs of version 3 wait in deliver-email/) },
  ]);
  clock.now += 10_000;
  jobs.settle();
  expect(health.ready()).toEqual({ status: 'ok', checks: [] });
});
