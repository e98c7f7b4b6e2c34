import { expect, test } from 'vitest';
import { compose } from '../../src/deliver/compose.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { items } from '../support/deliveries.ts';
import { jobOf, jobRun, messageOf, NOW, now } from '../support/delivery-runs.ts';

const setUp = (job: ParcelJob) => {
  const composed: { items: string[]; format: string; at: number }[] = [];
  const run = jobRun(job, { alerts: job.alerts });
  const end = compose(run, {
    compose: ({ alerts }, format, at) => {
      composed.push({ items: alerts.map(({ itemId }) => itemId), format, at });
      return [messageOf({ ...job, alerts })];
    },
    now,
  });
  return { run, composed, end, messages: run.messages[Symbol.iterator]() };
};

test('a message is composed when its time comes', () => {
  const { composed, end, messages } = setUp(jobOf([1, 2, 3], { most: 2 }));
  expect(end).toBeUndefined();
  expect(composed).toEqual([]);
  expect(messages.next().value.message.alerts).toHaveLength(2);
  expect(composed).toEqual([{ items: items(1, 2), format: 'rich', at: NOW }]);
  expect(messages.next().value.message.alerts).toHaveLength(1);
  expect(messages.next().done).toBe(true);
});

test('parts of one message are of one composition', () => {
  const progress = { id: 'x', format: 'rich', after: '1', at: NOW - 5000 } as const;
  const { composed, messages } = setUp(jobOf([1], { progress }));
  expect(messages.next().value.composedAt).toBe(NOW - 5000);
  expect(composed).toEqual([{ items: items(1), format: 'rich', at: NOW - 5000 }]);
});

test('the job that goes back into the queue has the plainest format of what is left', () => {
  const { run, messages, composed } = setUp(jobOf([1, 2], { most: 1 }));
  expect(messages.next().value.job.format).toBe('rich');
  // As `settle` does for a refused message.
  run.units.push({ alerts: run.alerts.slice(0, 1), format: 'minimal' });
  expect(messages.next().value.job.format).toBe('minimal');
  expect(messages.next().value.job.format).toBe('minimal');
  expect(composed.map(({ format }) => format)).toEqual(['rich', 'rich', 'minimal']);
});
