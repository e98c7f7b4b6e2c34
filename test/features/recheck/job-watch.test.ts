import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ServiceError } from '../../../src/errors.ts';
import { createWatch } from '../../../src/features/recheck/job.ts';
import type { DueRecheck } from '../../../src/features/recheck/store.ts';
import type { Item } from '../../../src/item.ts';
import type { Stream } from '../../../src/poll/stream.ts';
import { makeItem, T0 } from '../../support/items.ts';

const INSPECTIONS: Stream = { service: 'main', source: 'inspections', protocols: ['Vault'] };
const never = new AbortController().signal;
const MINUTE = 60_000;

const setUp = (secondLook = [2 * MINUTE], assessments: ('critical' | 'suspecious')[] = ['critical']) => {
  const time = { now: T0 + MINUTE };
  const near = { items: [] as Item[], fails: false };
  const seen = { noted: [] as DueRecheck[], refused: 0, warnings: 0, since: [] as number[], failed: [] as string[] };
  const watch = createWatch({
    store: {
      note: async (_service, rechecks) => {
        seen.noted.push(...rechecks);
        return seen.refused;
      },
    },
    config: {
      alerts: { secondLook, assessments, sources: ['inspections'] },
      poll: { lookback: 15 * MINUTE, overlap: 5000 },
    },
    serviceOf: () => ({
      clock: { now: () => time.now, observe: () => {} },
      lookUp: async () => new Map(),
      near: {
        async *inspections(_protocol: string, since: number) {
          seen.since.push(since);
          if (near.fails) throw new ServiceError('failed', '500');
          yield { items: near.items, malformed: [], size: near.items.length, short: true };
        },
        notifications: () => {
          throw new Error('never asked');
        },
      },
    }),
    failureLog: { worked: () => {}, forget: () => {}, failed: (_service, subject) => seen.failed.push(subject) },
    log: pino({
      level: 'warn',
      hooks: {
        logMethod: () => {
          seen.warnings += 1;
        },
      },
    }),
  });
  const ids = () => seen.noted.map(({ watched }) => watched.itemId);
  return { time, near, seen, ids, ...watch };
};

test('inspections near the threshold are watched, of inspections only and where it is on', async () => {
  const items = [makeItem(1), makeItem(2, { assessment: 'suspecious' }), makeItem(3, { assessment: 'ok' })];
  const { note, ids } = setUp();
  await note({ ...INSPECTIONS, source: 'notifications' }, items);
  expect(ids()).toEqual([]);
  await note(INSPECTIONS, items);
  expect(ids()).toEqual(['i-1', 'i-2']);
  const off = setUp([]);
  await off.note(INSPECTIONS, items);
  expect(off.ids()).toEqual([]);
});

test('that there are too many is said once', async () => {
  const { seen, note } = setUp();
  seen.refused = 3;
  await note(INSPECTIONS, [makeItem(1)]);
  await note(INSPECTIONS, [makeItem(2)]);
  expect(seen.warnings).toBe(1);
});

test('the suspicious ones are fetched where polls ask for one assessment only', async () => {
  const suspicious = makeItem(2, { assessment: 'suspecious' });
  const { near, ids, readSuspicious } = setUp();
  near.items.push(suspicious);
  await readSuspicious(INSPECTIONS, never);
  expect(ids()).toEqual(['i-2']);
  for (const assessments of [['critical', 'suspecious'], ['suspecious']] as const) {
    const other = setUp(undefined, [...assessments]);
    other.near.items.push(suspicious);
    await other.readSuspicious(INSPECTIONS, never);
    expect(other.seen.since).toEqual([]);
  }
});

test('they are fetched from where the last time began, and again from there after a failure', async () => {
  const { time, near, seen, readSuspicious } = setUp();
  const first = time.now;
  await readSuspicious(INSPECTIONS, never);
  time.now += MINUTE;
  near.fails = true;
  await readSuspicious(INSPECTIONS, never);
  expect(seen.failed).toEqual(['recheck of Vault']);
  near.fails = false;
  time.now += MINUTE;
  await readSuspicious(INSPECTIONS, never);
  expect(seen.since).toEqual([first - 15 * MINUTE - 5000, first - 5000, first - 5000]);
});

test('a fetch that a stop ends is no failure', async () => {
  const { near, seen, readSuspicious } = setUp();
  near.fails = true;
  await readSuspicious(INSPECTIONS, AbortSignal.abort());
  expect(seen.failed).toEqual([]);
});
