import { expect, test } from 'vitest';
import type { Storm } from '../../src/channels/channel.ts';
import { slice } from '../../src/chunks.ts';
import { compose } from '../../src/deliver/compose.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { items } from '../support/deliveries.ts';
import { type Handed, handed, jobOf, jobRun, messageOf, NOW, now } from '../support/delivery-runs.ts';

const setUp = (job: ParcelJob, storms?: Handed['storms'], unacknowledged?: Handed['unacknowledged']) => {
  const composed: { items: string[]; format: string; at: number }[] = [];
  const counted: (Storm | undefined)[] = [];
  const run = jobRun(job, { alerts: job.alerts });
  const end = compose(
    run,
    handed({
      ...(storms && { storms }),
      ...(unacknowledged && { unacknowledged }),
      compose: ({ alerts }, format, at, known) => {
        counted.push(known?.storm);
        composed.push({ items: alerts.map(({ itemId }) => itemId), format, at });
        return slice(() => [messageOf({ ...job, alerts })]);
      },
      now,
    }),
  );
  const messages = (async function* () {
    yield* run.messages;
  })();
  const next = async () => (await messages.next()).value;
  return { run, composed, counted, end, next };
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

test('only what may become a digest asks which message of a storm it is', async () => {
  const asked: string[] = [];
  const soFar = async ({ id }: { id: string }) => {
    asked.push(id);
    return { messages: 2, alerts: 1994 };
  };
  const few = setUp(jobOf([1, 2, 3, 4, 5]), { above: 5, soFar });
  await few.next();
  expect([few.counted, asked]).toEqual([[undefined], []]);
  const many = setUp(jobOf([1, 2, 3, 4, 5, 6]), { above: 5, soFar });
  await many.next();
  expect(many.counted).toEqual([{ message: 3, alerts: 2000 }]);
  expect(asked).toHaveLength(1);
});

test('a digest goes out where the storm cannot be asked for', async () => {
  const { counted, next } = setUp(jobOf([1, 2, 3, 4, 5, 6]), {
    above: 5,
    soFar: () => Promise.reject(new Error('no Redis')),
  });
  expect((await next())?.message.alerts).toHaveLength(6);
  expect(counted).toEqual([undefined]);
});

test('what is acknowledged while an earlier message is sent is not sent, and the rest of its message is', async () => {
  const job = jobOf([1, 2, 3, 4], { most: 2 });
  const escalated = { ...job, alerts: job.alerts.map((alert) => ({ ...alert, notice: 'Fallback: nobody took it.' })) };
  const asked: string[][] = [];
  const unacknowledged: Handed['unacknowledged'] = async (_destination, alerts) => {
    asked.push(alerts.map(({ itemId }) => itemId));
    return alerts.filter(({ itemId }) => itemId !== items(3)[0]);
  };
  const { next, composed } = setUp(escalated, undefined, unacknowledged);
  // The stage before has just asked for this one.
  expect((await next())?.message.alerts).toHaveLength(2);
  expect(asked).toEqual([]);
  expect((await next())?.message.alerts.map(({ itemId }) => itemId)).toEqual(items(4));
  expect(await next()).toBeUndefined();
  expect(asked).toEqual([items(3, 4), items(4)]);
  expect(composed.map((each) => each.items)).toEqual([items(1, 2), items(3, 4), items(4)]);
});

test('nobody is asked about what is not escalated', async () => {
  const { next } = setUp(jobOf([1, 2], { most: 1 }), undefined, () => Promise.reject(new Error('it was asked')));
  expect((await next())?.message.alerts).toHaveLength(1);
  expect((await next())?.message.alerts).toHaveLength(1);
});
