/** Inspections read again after a while, over HTTP from the sandbox's service and with a clock of the test's own. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { UnavailableError } from '../../../src/errors.ts';
import { createRecheck, type Outcome, type RecheckDependencies } from '../../../src/features/recheck/recheck.ts';
import { createRecheckStore } from '../../../src/features/recheck/store.ts';
import { type FirstAlert, firstRecheck } from '../../../src/features/recheck/verdict.ts';
import { alertId, type Item } from '../../../src/item.ts';
import type { InspectionSeed } from '../../../src/sandbox/service/model.ts';
import type { Quirks } from '../../../src/sandbox/service/quirks.ts';
import { createSandboxService } from '../../../src/sandbox/service/service.ts';
import { createSecret } from '../../../src/secret.ts';
import { createServiceClock } from '../../../src/service/client.ts';
import { fromInspection } from '../../../src/service/feed.ts';
import { createLookup } from '../../../src/service/lookup.ts';
import { clientOf } from '../../service/harness.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T10:00:00.000Z');
const MINUTE = 60_000;
const API_KEY = 'sandbox-key';
const OFFSETS = [2 * MINUTE, 15 * MINUTE, 120 * MINUTE];
const settings = { offsets: OFFSETS, assessments: ['critical'], confirmAfter: MINUTE };

const setUp = async (changes: Partial<RecheckDependencies> = {}, quirks: Partial<Quirks> = {}) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: T0 };
  const now = (): number => time.now;
  const apiKeys = [{ apiKey: API_KEY, protocols: [{ name: 'Vault', channels: [] }] }];
  const service = createSandboxService({ apiKeys, now, quirks });
  onTestFinished(() => service.stop());
  const client = clientOf((await service.start()).url, { apiKey: createSecret(API_KEY) });
  const lookUp = createLookup(client, createServiceClock(now));
  const store = createRecheckStore(redis, prefix);
  const ledger = new Map<string, FirstAlert>();
  const forwarded: string[] = [];
  const followUps: Alert[] = [];
  const outcomes: Outcome[] = [];
  const failures: string[] = [];
  const givenUp: string[] = [];

  const record = (itemId: string, assessment: string, destinations = ['slack-1']): void => {
    ledger.set(itemId, { alertId: alertId('main', 'inspections', itemId), assessment, destinations });
  };
  const recheck = createRecheck({
    store,
    settings,
    lookUp: (_service, protocol, wanted, signal) => lookUp(protocol, wanted, signal),
    firstAlertOf: async (_service, { itemId }) => ledger.get(itemId),
    forward: async (_service, _protocol, { itemId, assessment = '' }) => {
      forwarded.push(itemId);
      record(itemId, assessment);
      return 'forwarded';
    },
    followUp: async (alert) => {
      followUps.push(alert);
    },
    onRechecked: (_service, _watched, outcome) => outcomes.push(outcome),
    onFailed: (_service, protocol) => failures.push(protocol),
    onGivenUp: (_service, protocol) => givenUp.push(protocol),
    clock: now,
    ...changes,
  });

  /** As a poll reads it: noted, and in the ledger where it is critical. */
  const insert = async (seed: InspectionSeed): Promise<string> => {
    const { _id: id } = service.insertInspection({ protocol: 'Vault', ...seed });
    const { items } = await client.listInspections({ protocol: 'Vault', id: [id] }, new AbortController().signal);
    const [inspection] = items;
    if (!inspection) throw new Error('the sandbox lists what it was given');
    await note(fromInspection(inspection));
    if (seed.assessment === 'critical') record(id, 'critical');
    return id;
  };
  const note = (item: Item) => {
    const found = firstRecheck(item, 'Vault', time.now, settings);
    return store.note('main', found ? [found] : []);
  };
  /** What a turn `minutes` after the start leads to. */
  const at = async (minutes: number): Promise<Outcome[]> => {
    time.now = T0 + minutes * MINUTE;
    await recheck('main', new AbortController().signal);
    return outcomes.splice(0);
  };
  return { service, store, insert, note, record, at, forwarded, followUps, failures, givenUp };
};

const summaryOf = (followUps: readonly Alert[]) => followUps.map(({ type, followUp }) => ({ type, ...followUp }));

describe('a recheck', () => {
  test('comes after each of the offsets, and then no more', async () => {
    const { insert, at, store } = await setUp();
    await insert({ assessment: 'suspecious' });
    await insert({ assessment: 'critical' });
    await insert({ assessment: 'ok' });
    const seen: Record<string, number> = {};
    for (const minutes of [1, 2, 3, 14, 15, 16, 119, 120, 121, 500]) seen[minutes] = (await at(minutes)).length;
    expect(seen).toEqual({ 1: 0, 2: 2, 3: 0, 14: 0, 15: 2, 16: 0, 119: 0, 120: 2, 121: 0, 500: 0 });
    expect(await store.count('main')).toBe(0);
  });

  test('forwards what has turned critical, once', async () => {
    const { service, insert, at, forwarded, followUps } = await setUp();
    const [turning = '', staying] = [
      await insert({ assessment: 'suspecious' }),
      await insert({ assessment: 'suspecious' }),
    ];
    expect(await at(2)).toEqual(['same', 'same']);
    service.changeInspection(turning, { assessment: 'critical' });
    expect((await at(15)).toSorted()).toEqual(['forwarded', 'same']);
    expect((await at(120)).toSorted()).toEqual(['same', 'same']);
    expect(forwarded).toEqual([turning]);
    expect(forwarded).not.toContain(staying);
    expect(followUps).toEqual([]);
  });

  test('reports once what is no longer critical, and reports when it is again', async () => {
    const { service, insert, at, followUps } = await setUp();
    const id = await insert({ assessment: 'critical' });
    const of = alertId('main', 'inspections', id);
    service.changeInspection(id, { assessment: 'suspecious' });
    expect(await at(2)).toEqual(['downgraded']);
    expect(await at(15)).toEqual(['same']);
    service.changeInspection(id, { assessment: 'critical' });
    expect(await at(120)).toEqual(['upgraded']);
    expect(summaryOf(followUps)).toEqual([
      { type: 'inspection.downgraded', of, was: 'critical', is: 'suspecious' },
      { type: 'inspection.upgraded', of, was: 'suspecious', is: 'critical' },
    ]);
    expect(new Set([of, ...followUps.map((alert) => alert.id)]).size).toBe(3);
    expect(followUps[0]).toMatchObject({ itemId: id, protocol: 'Vault', item: { _id: id, assessment: 'suspecious' } });
  });

  test('calls an inspection gone only when it is missing twice, and says what it was', async () => {
    const { service, insert, at, followUps, store } = await setUp();
    const [id, quiet] = [await insert({ assessment: 'critical' }), await insert({ assessment: 'suspecious' })];
    const txHash = service.inspections().find(({ _id }) => _id === id)?.txHash;
    service.removeInspection(id);
    service.removeInspection(quiet);
    expect((await at(2)).toSorted()).toEqual(['same', 'unsure']);
    expect(followUps).toEqual([]);
    expect(await at(3)).toEqual(['vanished']);
    expect(followUps).toMatchObject([{ type: 'inspection.vanished', txHash, item: { _id: id, txHash } }]);
    expect(followUps[0]?.followUp).toEqual({ of: alertId('main', 'inspections', id), was: 'critical' });
    expect(await store.count('main')).toBe(0);
  });

  test('is not misled by an answer that lacks everything for a moment', async () => {
    const { service, insert, at, followUps } = await setUp();
    await insert({ assessment: 'critical' });
    const body = { page: [], pageNumber: 1, total: 0 };
    const clear = service.addFault({ fault: { kind: 'wrong-shape', body }, times: Number.POSITIVE_INFINITY });
    expect(await at(2)).toEqual(['unsure']);
    clear();
    expect(await at(3)).toEqual(['same']);
    expect(await at(15)).toEqual(['same']);
    expect(followUps).toEqual([]);
  });

  test('a word nobody documented is no downgrade', async () => {
    const { service, insert, at, followUps } = await setUp();
    const id = await insert({ assessment: 'critical' });
    service.changeInspection(id, { assessment: 'under review' });
    expect(await at(2)).toEqual(['same']);
    expect(followUps).toEqual([]);
  });

  test('nobody hears the end of what nobody was alerted to', async () => {
    const { service, insert, record, at, followUps } = await setUp();
    const id = await insert({ assessment: 'critical' });
    record(id, 'critical', []);
    service.changeInspection(id, { assessment: 'ok' });
    expect(await at(2)).toEqual(['same']);
    expect(followUps).toEqual([]);
  });

  test('what cannot be asked is asked again, and given up an hour after its last recheck', async () => {
    const { service, insert, at, failures, givenUp, store } = await setUp();
    await insert({ assessment: 'critical' });
    const clear = service.addFault({ fault: { kind: 'status', status: 500 }, times: Number.POSITIVE_INFINITY });
    expect(await at(2)).toEqual([]);
    expect(failures).toEqual(['Vault']);
    clear();
    // Soon: until then the service counts as read in part.
    expect(await at(2.25)).toEqual(['same']);
    service.removeProtocol({ protocol: 'Vault' });
    expect(await at(15)).toEqual([]);
    expect(await store.count('main')).toBe(1);
    await at(181);
    expect(await store.count('main')).toBe(0);
    expect(givenUp).toEqual(['Vault']);
  });

  test('after a crash between sending and noting the same is sent under the same identity', async () => {
    const crash = { due: true };
    const alerts: Alert[] = [];
    const followUp = async (alert: Alert): Promise<void> => {
      alerts.push(alert);
      if (!crash.due) return;
      crash.due = false;
      throw new UnavailableError('Redis went away');
    };
    const { service, insert, at } = await setUp({ followUp });
    const id = await insert({ assessment: 'critical' });
    service.changeInspection(id, { assessment: 'ok' });
    expect(await at(2)).toEqual([]);
    expect(await at(5)).toEqual(['downgraded']);
    expect(new Set(alerts.map((alert) => alert.id)).size).toBe(1);
  });

  test('what cannot be forwarded now is forwarded soon', async () => {
    const answers = ['busy', 'forwarded'] as const;
    let asked = 0;
    const { service, insert, at } = await setUp({ forward: async () => answers[asked++] ?? 'known' });
    const id = await insert({ assessment: 'suspecious' });
    service.changeInspection(id, { assessment: 'critical' });
    expect(await at(2)).toEqual(['unsure']);
    expect(await at(2.5)).toEqual(['forwarded']);
    expect(await at(15)).toEqual(['same']);
  });

  test('a batch of hundreds, with pages that hold few and lists in another style', async () => {
    const { service, insert, at, forwarded } = await setUp({}, { arrayParams: 'comma', maxPageSize: 7 });
    const ids: string[] = [];
    for (let n = 0; n < 230; n += 1) ids.push(await insert({ assessment: 'suspecious' }));
    const turning = ids.filter((_, n) => n % 10 === 0);
    for (const id of turning) service.changeInspection(id, { assessment: 'critical' });
    const outcomes = await at(2);
    expect(outcomes).toHaveLength(230);
    expect(forwarded.toSorted()).toEqual(turning.toSorted());
  });
});

describe('what is watched', () => {
  test('is near the threshold or forwarded, dated, and not over yet', () => {
    const item = (assessment: string, changes: Partial<Item> = {}): Item => ({
      source: 'inspections',
      protocol: 'Vault',
      itemId: 'i',
      assessment,
      dates: { createdAt: T0 },
      raw: { _id: 'i', chainId: 1, detections: { a: { message: 'long' } }, assessment },
      ...changes,
    });
    const watch = (one: Item, now = T0, assessments = ['critical']) =>
      firstRecheck(one, 'Vault', now, { offsets: OFFSETS, assessments });
    expect(watch(item('critical'))).toEqual({
      dueAt: T0 + 2 * MINUTE,
      watched: {
        protocol: 'Vault',
        itemId: 'i',
        item: { _id: 'i', chainId: 1, assessment: 'critical', detections: { a: { message: 'long' } } },
        writtenAt: T0,
        followUps: 0,
        misses: 0,
      },
    });
    expect(watch(item('suspecious'))?.watched).not.toHaveProperty('item');
    expect(watch(item('ok'))).toBeUndefined();
    expect(watch(item('ok'), T0, ['ok'])?.dueAt).toBe(T0 + 2 * MINUTE);
    expect(watch(item('critical'), T0 + 16 * MINUTE)?.dueAt).toBe(T0 + 120 * MINUTE);
    expect(watch(item('critical'), T0 + 120 * MINUTE)).toBeUndefined();
    expect(watch(item('critical', { dates: {} }))).toBeUndefined();
    expect(watch(item('critical', { source: 'notifications' }))).toBeUndefined();
  });

  test('is bounded, and does not start again by being read again', async () => {
    const { redis, prefix } = openTestRedis();
    const store = createRecheckStore(redis, prefix, 3);
    const due = (n: number, dueAt: number) => ({
      dueAt,
      watched: { protocol: 'Vault', itemId: `i-${n}`, writtenAt: T0, followUps: 0, misses: 0 },
    });
    expect(await store.note('main', [due(1, 10), due(2, 20)])).toBe(0);
    expect(await store.note('main', [due(1, 99), due(3, 30), due(4, 40)])).toBe(1);
    expect(await store.note('other', [due(4, 40)])).toBe(0);
    const claim = async (now: number) => (await store.claim('main', now, 10, 1000)).map(({ itemId }) => itemId);
    expect(await claim(25)).toEqual(['i-1', 'i-2']);
    expect(await claim(35)).toEqual(['i-3']);
    expect(await claim(1030)).toEqual(['i-1', 'i-2']);
  });
});
