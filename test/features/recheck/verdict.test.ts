import { describe, expect, test } from 'vitest';
import type { Watched } from '../../../src/features/recheck/store.ts';
import { type FirstAlert, judge, nextRecheck, remains, toFollowUp } from '../../../src/features/recheck/verdict.ts';
import { alertId, followUpId } from '../../../src/item.ts';
import { makeItem, T0 } from '../../support/items.ts';

const FIRST: FirstAlert = {
  alertId: alertId('main', 'inspections', 'i-1'),
  assessment: 'critical',
  destinations: ['slack-1'],
};
const WATCHED: Watched = { protocol: 'Vault', itemId: 'i-1', writtenAt: T0, followUps: 0, misses: 0 };
const found = (assessment: string) => ({ kind: 'found' as const, item: makeItem(1, { assessment }) });
const GONE = { kind: 'gone' as const };
const verdictOf = (watched: Watched, sighting: Parameters<typeof judge>[1], first: FirstAlert | undefined = FIRST) =>
  judge(watched, sighting, first, ['critical']);

describe('of an inspection that people had an alert of', () => {
  test.each([
    ['critical', 'critical', { kind: 'same' }],
    ['critical', 'ok', { kind: 'follow-up', change: 'downgraded', was: 'critical' }],
    ['suspecious', 'critical', { kind: 'follow-up', change: 'upgraded', was: 'suspecious' }],
    ['suspecious', 'ok', { kind: 'follow-up', change: 'downgraded', was: 'suspecious' }],
    ['critical', 'under review', { kind: 'same' }],
    ['under review', 'ok', { kind: 'same' }],
  ])('%s, which is %s now', (announced, assessment, verdict) => {
    expect(verdictOf({ ...WATCHED, announced }, found(assessment))).toMatchObject(verdict);
  });

  test('the assessment of the first alert counts before any follow-up', () => {
    const first = { ...FIRST, assessment: 'suspecious' };
    expect(verdictOf(WATCHED, found('critical'), first)).toMatchObject({ change: 'upgraded', was: 'suspecious' });
  });

  test('it is gone when two rechecks in a row do not find it', () => {
    expect(verdictOf(WATCHED, GONE)).toEqual({ kind: 'confirm' });
    const verdict = verdictOf({ ...WATCHED, misses: 1 }, GONE);
    expect(verdict).toEqual({ kind: 'follow-up', change: 'vanished', first: FIRST, was: 'critical' });
  });

  test('nothing follows where no destination has it', () => {
    const first = { ...FIRST, destinations: [] };
    expect(verdictOf(WATCHED, found('ok'), first)).toEqual({ kind: 'same' });
    expect(verdictOf(WATCHED, GONE, first)).toEqual({ kind: 'gone' });
  });

  test('another transaction under its id says nothing of it, and is forwarded where it is wanted', () => {
    const watched = { ...WATCHED, txHash: `0x${'aa'.repeat(32)}` };
    const other = (assessment: string) => ({
      kind: 'found' as const,
      item: makeItem(1, { assessment, txHash: `0x${'ee'.repeat(32)}` }),
    });
    expect(verdictOf(watched, other('critical'))).toEqual({ kind: 'forward', item: other('critical').item });
    expect(verdictOf(watched, other('ok'))).toEqual({ kind: 'same' });
  });

  test('an answer that shows nothing changes nothing', () => {
    expect(verdictOf(WATCHED, { kind: 'unsure' })).toEqual({ kind: 'unsure' });
  });
});

test('an inspection that nobody had an alert of is forwarded when it has become one, and forgotten when it is gone', () => {
  const judged = (sighting: Parameters<typeof judge>[1]) => judge(WATCHED, sighting, undefined, ['critical']).kind;
  expect([judged(found('critical')), judged(found('suspecious')), judged(GONE)]).toEqual(['forward', 'same', 'gone']);
});

test('the next recheck is the first offset that lies ahead', () => {
  const next = (now: number) => nextRecheck(T0, now, [900, 120, 7200]);
  expect([next(T0), next(T0 + 120), next(T0 + 900), next(T0 + 7200)]).toEqual([
    T0 + 120,
    T0 + 900,
    T0 + 7200,
    undefined,
  ]);
});

test('of an inspection a little is kept for the follow-up', () => {
  const raw = { _id: 'i-1', chainId: 1, protocol: 'V'.repeat(400), assessment: null, detections: { a: 'long' } };
  expect(remains(makeItem(1, { raw }))).toEqual({ _id: 'i-1', chainId: 1, protocol: 'V'.repeat(300) });
  const said = Object.fromEntries(['a', 'b', 'c', 'd'].map((id) => [id, { message: `Said by ${id} `.repeat(50) }]));
  const detections = { quiet: { status: 'notDetected', message: 'x' }, ...said };
  const { detections: kept } = remains(makeItem(1, { raw: { _id: 'i-1', detections } }));
  expect(kept).toEqual({ a: expect.anything(), b: expect.anything(), c: expect.anything() });
  expect(JSON.stringify(kept).length).toBeLessThan(450);
});

describe('a follow-up', () => {
  const change = { kind: 'follow-up', change: 'downgraded', first: FIRST, was: 'critical' } as const;

  test('has an identity of its own, the same however often it is made', () => {
    const item = makeItem(1, { assessment: 'ok' });
    const alert = toFollowUp('main', WATCHED, { ...change, item }, T0);
    expect(alert).toMatchObject({
      id: followUpId(FIRST.alertId, 'downgraded', 1),
      type: 'inspection.downgraded',
      item: item.raw,
      followUp: { of: FIRST.alertId, was: 'critical', is: 'ok' },
    });
    expect(toFollowUp('main', WATCHED, { ...change, item }, T0 + 5000).id).toBe(alert.id);
    expect(toFollowUp('main', { ...WATCHED, followUps: 1 }, { ...change, item }, T0).id).not.toBe(alert.id);
  });

  test('shows of an inspection that is gone what is left of it', () => {
    const left = { _id: 'i-1', assessment: 'critical' };
    const vanished = { ...change, change: 'vanished' } as const;
    const alert = toFollowUp('main', { ...WATCHED, txHash: '0xaa', item: left }, vanished, T0);
    expect(alert).toMatchObject({ txHash: '0xaa', item: left, followUp: { of: FIRST.alertId, was: 'critical' } });
    expect(alert.followUp).not.toHaveProperty('is');
    expect(toFollowUp('main', WATCHED, vanished, T0).item).toEqual({ _id: 'i-1' });
  });
});
