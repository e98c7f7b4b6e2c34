import { expect, test } from 'vitest';
import { compose } from '../../src/deliver/compose.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { slice } from '../../src/slices.ts';
import { items } from '../support/deliveries.ts';
import { jobOf, jobRun, messageOf, NOW, now } from '../support/delivery-runs.ts';

const setUp = (job: ParcelJob) => {
  const composed: { items: string[]; format: string; at: number }[] = [];
  const run = jobRun(job, { alerts: job.alerts });
  const end = compose(run, {
    compose: ({ alerts }, format, at) => {
      composed.push({ items: alerts.map(({ itemId }) => itemId), format, at });
      return slice(() => [messageOf({ ...job, alerts })]);
    },
    now,
  });
  const messages = (async function* () {
    yield* run.messages;
  })();
  const next = async () => (await messages.next()).value;
  return { run, composed, end, next };
};

test('a message is composed when its time comes', async () => {
  const { composed, end, next } = setUp(jobOf([1, 2, 3], { most: 2 }));
  expect(end).toBeUndefined();
  expect(composed).toEqual([]);
  expect((await next())?.message.alerts).toHaveLength(2);
  expect(composed).toEqual([{ items: items(1, 2), format: 'rich', at: NOW }]);
  expect((await next())?.message.alerts).toHaveLength(1);
  expect(await next()).toBeUndefined();
});

test('parts of one message are of one composition', async () => {
  const progress = { id: 'x', format: 'rich', after: '1', at: NOW - 5000 } as const;
  const { composed, next } = setUp(jobOf([1], { progress }));
  expect((await next())?.composedAt).toBe(NOW - 5000);
  expect(composed).toEqual([{ items: items(1), format: 'rich', at: NOW - 5000 }]);
});

test('the job that goes back into the queue has the plainest format of what is left', async () => {
  const { run, next, composed } = setUp(jobOf([1, 2], { most: 1 }));
  expect((await next())?.job.format).toBe('rich');
  // As `settle` does for a refused message.
  run.units.push({ alerts: run.alerts.slice(0, 1), format: 'minimal' });
  expect((await next())?.job.format).toBe('minimal');
  expect((await next())?.job.format).toBe('minimal');
  expect(composed.map(({ format }) => format)).toEqual(['rich', 'rich', 'minimal']);
});
