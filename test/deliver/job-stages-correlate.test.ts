import { expect, test } from 'vitest';
import { correlate } from '../../src/deliver/job-stages.ts';
import { handed, jobOf, jobRun } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const alerts = [makeAlert(1), makeAlert(2)];

test('a job that waited for a covering alert goes on with what is not covered', async () => {
  const asked: string[] = [];
  const uncovered = async ({ id }: { id: string }) => {
    asked.push(id);
    return alerts.slice(1);
  };
  const run = jobRun(jobOf([1, 2], { unlessCovered: true }), { alerts });
  expect(await correlate(run, handed({ uncovered }))).toBeUndefined();
  expect(run.alerts).toEqual([makeAlert(2)]);
  expect(asked).toEqual([run.job.destination.id]);
});

test('any other job sends everything, and nobody is asked', async () => {
  const uncovered = () => Promise.reject(new Error('asked'));
  const run = jobRun(jobOf([1, 2]), { alerts });
  await correlate(run, handed({ uncovered }));
  const without = jobRun(jobOf([1, 2], { unlessCovered: true }), { alerts });
  await correlate(without, handed({}));
  expect([run.alerts, without.alerts]).toEqual([alerts, alerts]);
});
