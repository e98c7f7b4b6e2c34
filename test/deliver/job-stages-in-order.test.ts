import { expect, test } from 'vitest';
import type { Alert } from '../../src/alert.ts';
import { inOrder } from '../../src/deliver/job-stages.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { failure, setUpDeliveries } from '../support/deliveries.ts';
import { handed, jobOf, jobRun, NOW, now } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

const followUp = (alert: Alert, type: string): Alert => ({
  ...alert,
  type,
  followUp: { of: `first of ${alert.itemId}`, was: 'critical', is: 'ok' },
});

const job = (type: string, changes: Partial<ParcelJob> = {}): ParcelJob => {
  const plain = jobOf([1], changes);
  return { ...plain, alerts: plain.alerts.map((alert) => followUp(alert, type)) };
};

/** `waiting`: the alerts that are still on their way. */
const played = async (given: ParcelJob, waiting: readonly string[]) => {
  const asked: string[] = [];
  const end = await inOrder(
    jobRun(given, { alerts: given.alerts }),
    handed({
      waiting: async (_destination, ids) => {
        asked.push(...ids);
        return ids.filter((id) => waiting.includes(id));
      },
      maxAgeMs: 24 * 3_600_000,
      now,
    }),
  );
  return { end, asked };
};

test.each(['inspection.downgraded', 'inspection.vanished'])(
  '%s waits for its alert, longer each time',
  async (type) => {
    const { end } = await played(job(type), ['first of item-1']);
    expect(end).toMatchObject({ done: false, runAt: NOW + 2000, data: { waits: 1, attempt: 0 } });
    const later = await played(job(type, { waits: 3 }), ['first of item-1']);
    expect(later.end).toMatchObject({ runAt: NOW + 16_000, data: { waits: 4 } });
    const last = await played(job(type, { waits: 400 }), ['first of item-1']);
    expect(last.end).toMatchObject({ runAt: NOW + 60_000 });
  },
);

test('that somebody has acknowledged an alert waits for it, too', async () => {
  const acknowledged = job('tocsin.alert.acknowledged');
  const alerts = acknowledged.alerts.map(({ followUp: _, ...alert }) => ({ ...alert, below: 'the alert' }));
  const { end, asked } = await played({ ...acknowledged, alerts }, ['the alert']);
  expect([asked, end]).toEqual([['the alert'], expect.objectContaining({ done: false, runAt: NOW + 2000 })]);
  expect((await played({ ...acknowledged, alerts }, [])).end).toBeUndefined();
});

test('it goes on at last where its alert never ends: one that is held, or whose job was lost', async () => {
  const aDay = 1444;
  expect(await played(job('inspection.downgraded', { waits: aDay }), ['first of item-1'])).toMatchObject({
    end: { done: false },
  });
  expect(await played(job('inspection.downgraded', { waits: aDay + 1 }), ['first of item-1'])).toEqual({
    end: undefined,
    asked: [],
  });
});

test('it goes on once its alert has ended there', async () => {
  expect(await played(job('inspection.downgraded'), [])).toEqual({ end: undefined, asked: ['first of item-1'] });
});

test('what turned worse never waits, nor does what comes with other alerts', async () => {
  const nobodyAsked = { end: undefined, asked: [] };
  expect(await played(job('inspection.upgraded'), ['first of item-1'])).toEqual(nobodyAsked);
  const good = job('inspection.downgraded');
  expect(await played({ ...good, alerts: [...good.alerts, ...jobOf([2]).alerts] }, ['first of item-1'])).toEqual(
    nobodyAsked,
  );
});

test('in a batch it waits for the sealed batch that has its alert', async () => {
  const { add, run, sent } = setUpDeliveries({
    groupWaitMs: 1000,
    respond: ({ at, items }) => (items.includes('item-1') && at < 2500 ? failure('unavailable') : undefined),
  });
  const alert = makeAlert(1);
  add([alert]);
  await run(1000);
  add([{ ...makeAlert(2), type: 'inspection.downgraded', followUp: { of: alert.id, was: 'critical', is: 'ok' } }]);
  await run();
  expect(sent.map(({ items }) => items)).toEqual([['item-1'], ['item-2']]);
});
