/** An incident at a receiver that keeps incidents does not stay open where its last bad finding died on its way there. */
import pino from 'pino';
import { expect, test } from 'vitest';
import type { Alert, Destination, Parcel } from '../../../src/alert.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { pagerduty } from '../../../src/channels/webhook/formats/pagerduty.ts';
import { atOnce } from '../../../src/chunks.ts';
import { createClosing } from '../../../src/features/recheck/closing.ts';
import { followUpId } from '../../../src/item.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import type { AttemptEnd } from '../../../src/ledger/record.ts';
import { createSentInspections } from '../../../src/ledger/sent-inspections.ts';
import { destinationOf, inspectionAlert } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const HERE = destinationOf('webhook', 'https://events.pagerduty.com/v2/enqueue');

const finding = (number: number): Alert =>
  inspectionAlert({ item: { _id: `finding-${number}`, protocol: `Protocol ${number}` } });

const goodNews = (of: Alert, is = 'ok'): Alert => ({
  ...of,
  ...{ id: followUpId(of.id, 'downgraded', 1), type: 'inspection.downgraded' },
  followUp: { of: of.id, was: 'critical', is },
});

const setUp = (keepsIncidents = true) => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, Date.now);
  const sentInspections = createSentInspections(ledger);
  const queued: Parcel[] = [];
  const closing = createClosing({
    ...{ ledger, sentInspections, now: Date.now, log: pino({ level: 'silent' }) },
    keepsIncidents: () => keepsIncidents,
    enqueue: async (parcels) => {
      queued.push(...parcels);
    },
  });
  const end = async (alert: Alert, state: AttemptEnd['state'], destination: Destination = HERE) => {
    await ledger.recordWaiting([{ destination, alerts: [alert] }]);
    const attempt = { at: '2026-11-20T10:08:00.000Z', outcome: 'delivered', durationMs: 5 } as const;
    await ledger.recordAttempt(destination, [alert], { state, attempt });
  };
  /** What PagerDuty is told by what was queued. */
  const events = async (): Promise<Record<string, unknown>[]> => {
    const context = { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:09:00.000Z' } as const;
    const messages = await Promise.all(
      queued.map(async (parcel) => {
        const all = await sentInspections(parcel.destination, parcel.alerts);
        return atOnce(pagerduty.compose(parcel, { ...context, sentInspections: all }, { batch: 1 }));
      }),
    );
    return messages.flat().flatMap(({ body }) => body.map(({ text }) => JSON.parse(text) as Record<string, unknown>));
  };
  return { ledger, closing, end, queued, events };
};

test('is closed, under the key of its transaction, and says what is ok', async () => {
  const { ledger, closing, end, queued, events } = setUp();
  await end(finding(1), 'delivered');
  await end(goodNews(finding(1)), 'delivered');
  await end(finding(2), 'dead');
  await closing(HERE, [finding(2)]);
  const [{ event_action: action, dedup_key: key, payload } = {}] = await events();
  expect(action).toBe('resolve');
  const context = { format: 'rich', presentation: createPresentation(), sentAt: '2026-11-20T10:09:00.000Z' } as const;
  const [raised] = atOnce(pagerduty.compose({ destination: HERE, alerts: [finding(1)] }, context, { batch: 1 }));
  expect(key).toBe((JSON.parse(raised?.body[0]?.text ?? '{}') as Record<string, unknown>).dedup_key);
  expect((payload as { summary: string }).summary).toMatch(/^OK \(was CRITICAL\) · Protocol 1/);
  expect(await ledger.pending(HERE, queued[0]?.alerts ?? [])).toHaveLength(1);
});

test.each<[string, [Alert, AttemptEnd['state']][]]>([
  [
    'something else of it is still bad',
    [
      [finding(1), 'delivered'],
      [goodNews(finding(1), 'suspecious'), 'delivered'],
    ],
  ],
  [
    'nothing of it was ever there',
    [
      [finding(1), 'dead'],
      [goodNews(finding(1)), 'dead'],
    ],
  ],
  ['nobody has called anything ok', [[finding(1), 'delivered']]],
])('is left where %s', async (_what, ends) => {
  const { closing, end, queued } = setUp();
  for (const [alert, state] of ends) await end(alert, state);
  await end(finding(2), 'dead');
  await closing(HERE, [finding(2)]);
  expect(queued).toEqual([]);
});

test('receivers that keep none hear nothing', async () => {
  const { closing, end, queued } = setUp(false);
  await end(finding(1), 'delivered');
  await end(goodNews(finding(1)), 'delivered');
  await end(finding(2), 'dead');
  await closing(HERE, [finding(2)]);
  expect(queued).toEqual([]);
});
