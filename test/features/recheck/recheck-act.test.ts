import { expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { createAct } from '../../../src/features/recheck/recheck.ts';
import type { DueRecheck, Watched } from '../../../src/features/recheck/store.ts';
import type { FirstAlert } from '../../../src/features/recheck/verdict.ts';
import { alertId } from '../../../src/item.ts';
import type { Sighting } from '../../../src/service/lookup.ts';
import { makeItem, T0 } from '../../support/items.ts';

const FIRST: FirstAlert = {
  alertId: alertId('main', 'inspections', 'i-1'),
  assessment: 'critical',
  destinations: ['slack-1'],
};
const WATCHED: Watched = { protocol: 'Vault', itemId: 'i-1', writtenAt: T0, followUps: 0, misses: 0 };
const found = (assessment: string): Sighting => ({ kind: 'found', item: makeItem(1, { assessment }) });
const [NOW, NEXT] = [T0 + 120_000, T0 + 900_000];

interface SetUp {
  first?: FirstAlert | undefined;
  forwards?: 'forwarded' | 'known' | 'busy';
  now?: number;
}

const setUp = ({ first, forwards = 'forwarded', now = NOW }: SetUp) => {
  const kept: DueRecheck[] = [];
  const dropped: string[] = [];
  const sent: [Alert, readonly string[]][] = [];
  const order: string[] = [];
  const act = createAct({
    store: {
      keep: async (_service, recheck) => {
        order.push('noted');
        kept.push(recheck);
      },
      drop: async (_service, { itemId }) => void dropped.push(itemId),
    },
    settings: { offsets: [120_000, 900_000], assessments: ['critical'], confirmAfter: 60_000 },
    firstAlertOf: async () => first,
    forward: async () => forwards,
    followUp: async (alert, destinations) => {
      order.push('queued');
      sent.push([alert, destinations]);
    },
    clock: () => now,
  });
  const run = (sighting: Sighting, changes: Partial<Watched> = {}) => act('main', { ...WATCHED, ...changes }, sighting);
  return { run, kept, dropped, sent, order };
};

test('what turned critical is forwarded and watched on', async () => {
  const { run, kept } = setUp({});
  expect(await run(found('critical'), { misses: 1 })).toBe('forwarded');
  expect(kept).toMatchObject([{ dueAt: NEXT, watched: { misses: 0, item: { _id: 'i-1' } } }]);
});

test('what a poll has forwarded meanwhile is the same; while a poll reads, it is tried again in a second', async () => {
  const known = setUp({ forwards: 'known' });
  expect(await known.run(found('critical'))).toBe('same');
  expect(known.kept).toMatchObject([{ dueAt: NEXT }]);
  const busy = setUp({ forwards: 'busy' });
  expect(await busy.run(found('critical'))).toBe('unsure');
  expect(busy.kept).toEqual([{ dueAt: NOW + 1000, watched: WATCHED }]);
});

test('a follow-up goes where the first alert went, is queued before it is noted, and counts', async () => {
  const { run, kept, sent, order } = setUp({ first: FIRST });
  expect(await run(found('ok'))).toBe('downgraded');
  expect(sent).toMatchObject([
    [{ type: 'inspection.downgraded', followUp: { was: 'critical', is: 'ok' } }, ['slack-1']],
  ]);
  expect(kept).toMatchObject([{ dueAt: NEXT, watched: { announced: 'ok', followUps: 1 } }]);
  expect(order).toEqual(['queued', 'noted']);
});

test('what is not found is read once more, and only then reported as gone and watched no longer', async () => {
  const once = setUp({ first: FIRST });
  expect(await once.run({ kind: 'gone' })).toBe('unsure');
  expect(once.kept).toEqual([{ dueAt: NOW + 60_000, watched: { ...WATCHED, misses: 1 } }]);
  const twice = setUp({ first: FIRST });
  expect(await twice.run({ kind: 'gone' }, { misses: 1 })).toBe('vanished');
  expect(twice.sent).toMatchObject([[{ type: 'inspection.vanished' }, ['slack-1']]]);
  expect(twice.dropped).toEqual(['i-1']);
});

test('what nobody had an alert of goes without a word', async () => {
  const { run, dropped, sent } = setUp({});
  expect(await run({ kind: 'gone' })).toBe('same');
  expect([dropped, sent]).toEqual([['i-1'], []]);
});

test('an answer that says nothing keeps the count of misses; one that does ends it', async () => {
  const { run, kept } = setUp({ first: FIRST });
  expect(await run({ kind: 'unsure' }, { misses: 1 })).toBe('unsure');
  expect(await run(found('critical'), { misses: 1 })).toBe('same');
  expect(kept.map(({ dueAt, watched }) => [dueAt, watched.misses])).toEqual([
    [NEXT, 1],
    [NEXT, 0],
  ]);
});

test('after its last recheck it is watched no longer', async () => {
  const { run, kept, dropped } = setUp({ first: FIRST, now: NEXT });
  expect(await run(found('critical'))).toBe('same');
  expect([kept, dropped]).toEqual([[], ['i-1']]);
});
