/** Approval from the first alert for a new destination to its approval, against a real Redis. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Alert, Destination, Parcel } from '../../../src/alert.ts';
import { openApproval } from '../../../src/app/approval.ts';
import { createStore } from '../../../src/app/store.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { createAnnounce, createEnqueueOnce } from '../../../src/features/announcements/announce.ts';
import { createHoldAnnouncer, createQueuedOrHeld } from '../../../src/features/approval/hold.ts';
import { createApprovalStore, type HoldBounds } from '../../../src/features/approval/store.ts';
import { createLostDeliveries } from '../../../src/features/audit/lost-deliveries.ts';
import { createDeadLetters } from '../../../src/ledger/dead-letters.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const NEW = destinationOf('slack', 'C9');
const OTHER = destinationOf('webhook', 'https://hooks.example.com/x', 'hooks.example.com (3f1c)');
const ONCALL = destinationOf('email', 'oncall@example.com');

const BASE = parseConfig(
  `
services: [{ name: main, baseUrl: "http://127.0.0.1:1/api", apiKey: key }]
channels:
  email: { from: tocsin@example.com, smtp: { host: smtp.example.com } }
  slack: { botToken: xoxb-1-abcdefghijkl }
  webhook: { secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw }
`,
  'test.yaml',
  {},
);

interface Options {
  gate?: boolean;
  allow?: string[];
  hasFallback?: boolean;
  bounds?: HoldBounds;
}

const open = ({ gate = true, allow = [], hasFallback = true, bounds }: Options = {}, shared = openTestRedis()) => {
  const time = { now: T0 };
  const opened = createStore({ ...shared, onError: () => {}, now: () => time.now });
  onTestFinished(() => opened.close());
  const store = { ...opened, held: createApprovalStore(shared.redis, shared.prefix, () => time.now, bounds) };
  const lines: { msg: string; [field: string]: unknown }[] = [];
  const write = (line: object, msg: string) => void lines.push({ ...line, msg });
  const diverted: { alerts: string[]; by: string; notice: string }[] = [];
  const divert = async (alerts: readonly Alert[], { by, notice }: { by: string; notice(alert: Alert): string }) => {
    for (const alert of alerts) diverted.push({ alerts: [alert.itemId], by, notice: notice(alert) });
  };
  const fallback = { destinations: hasFallback ? [ONCALL] : [], divert };
  const log = { warn: write, error: write } as Parameters<typeof createHoldAnnouncer>[0]['log'];
  const queued: Parcel[] = [];
  const hooks: { enqueue(): Promise<void> } = { enqueue: async () => {} };
  const enqueue = async (parcels: readonly Parcel[], nonce?: string) => {
    await hooks.enqueue();
    await store.queues.enqueue(parcels, nonce);
    queued.push(...parcels);
  };
  const watched = { ...store, queues: { ...store.queues, enqueue } };
  const channels = hasFallback ? [{ name: 'email' as const, contacts: ['oncall@example.com'] }] : [];
  const config = {
    ...BASE,
    destinations: { gate, allow },
    ...(hasFallback ? { fallback: { after: 60_000, until: 'delivered' as const, channels } } : {}),
  };
  const onHeld = createHoldAnnouncer({
    held: store.held,
    announce: createAnnounce(createEnqueueOnce(store.ledger, enqueue)),
    ...{ readers: fallback.destinations, fallback },
    names: store.names.all,
    log,
  });
  const full: string[] = [];
  const onFull = ({ id }: Destination, alerts: readonly Alert[]): void => {
    for (const { itemId } of alerts) full.push(`${id} ${itemId}`);
  };
  const approvalHold = openApproval({ config, store: watched, onHeld, onFull, now: () => time.now });
  const stateAt = async (n: number, { id }: Destination) =>
    (await store.ledger.read(makeAlert(n).id))?.deliveries.find(({ destination }) => destination.id === id)?.state;
  /** Items on their way to a destination, in the order they were queued. */
  const sentTo = ({ id }: Destination): string[] =>
    queued.flatMap(({ destination, alerts }) => (destination.id === id ? alerts.map(({ itemId }) => itemId) : []));
  return { ...shared, time, store, approvalHold, hooks, queued, sentTo, lines, diverted, full, stateAt };
};

const parcel = (destination: Destination, ...numbers: number[]): Parcel => ({
  destination,
  alerts: numbers.map((n) => makeAlert(n)),
});
const many = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
const items = (numbers: readonly number[]): string[] => numbers.map((n) => `item-${n}`);

describe('what is for a destination that is not approved', () => {
  test('is told with the name that its provider has for it', async () => {
    const { store, approvalHold, diverted, queued } = open();
    await store.names.note(NEW.id, '#new');
    await approvalHold.hold([parcel(NEW, 1)]);
    expect(diverted[0]?.notice).toMatch(/^Fallback: Slack channel #new \(C9\) does not get this: it is new/);
    expect(JSON.stringify(queued)).toContain(
      'Slack channel #new (C9) is new for alerts of “Lending Pool” and waits for approval.',
    );
  });

  test('is kept whole, waits in the ledger, and goes to the fallback with an announcement', async () => {
    const { store, approvalHold, diverted, stateAt, sentTo } = open();
    await approvalHold.hold([parcel(NEW, 1, 2)]);
    expect(await store.held.list()).toEqual([
      { destination: NEW, since: '2026-11-20T12:00:00.000Z', waiting: 2, isAnnounced: true, isRevoked: false },
    ]);
    expect((await store.held.some(NEW.id)).toSorted((a, b) => a.itemId.localeCompare(b.itemId))).toEqual([
      makeAlert(1),
      makeAlert(2),
    ]);
    expect(await stateAt(1, NEW)).toBe('waiting');
    expect(await store.ledger.waitingByDestination()).toMatchObject({ [NEW.id]: 2 });
    expect(diverted).toEqual(
      [1, 2].map((n) => ({
        alerts: [`item-${n}`],
        by: `held ${NEW.id}`,
        notice: `Fallback: Slack channel C9 does not get this: it is new and waits for approval. If it is yours: tocsin destinations approve ${NEW.id}`,
      })),
    );
    expect(sentTo(NEW)).toEqual([]);
  });

  test('is dead where too much waits already, and goes to the fallback all the same', async () => {
    const { store, approvalHold, diverted, full, stateAt } = open({ bounds: { alerts: 2, destinations: 5 } });
    expect(await approvalHold.hold([parcel(NEW, 1, 2, 3)])).toBe(2);
    expect(await approvalHold.hold([parcel(NEW, 2, 3, 4)])).toBe(1);
    expect(await Promise.all([1, 2, 3, 4].map((n) => stateAt(n, NEW)))).toEqual(['waiting', 'waiting', 'dead', 'dead']);
    expect(full).toEqual([`${NEW.id} item-3`, `${NEW.id} item-4`]);
    expect((await store.dead.list()).map(({ alert, reason }) => `${alert.itemId} ${reason}`).toSorted()).toEqual([
      'item-3 hold-full',
      'item-4 hold-full',
    ]);
    expect(diverted.map(({ alerts }) => alerts[0])).toEqual(expect.arrayContaining(items([1, 2, 3, 4])));
    expect(await store.ledger.waitingByDestination()).toMatchObject({ [NEW.id]: 2 });
  });

  test('is dead where too many destinations wait, until one of them is gone', async () => {
    const { store, approvalHold, stateAt } = open({ bounds: { alerts: 5, destinations: 1 } });
    await approvalHold.hold([parcel(NEW, 1)]);
    expect(await approvalHold.hold([parcel(OTHER, 1)])).toBe(0);
    expect(await stateAt(1, OTHER)).toBe('dead');
    expect(await approvalHold.hold([parcel(NEW, 2)])).toBe(1);
    expect((await store.held.list()).map(({ destination }) => destination.id)).toEqual([NEW.id]);
    await approvalHold.drop(NEW);
    expect(await approvalHold.hold([parcel(OTHER, 2)])).toBe(1);
  });

  test('is announced once, however often more comes for it, and after a crash', async () => {
    const { store, approvalHold, hooks, queued, lines } = open();
    hooks.enqueue = async () => {
      throw new Error('Redis is away');
    };
    await expect(approvalHold.hold([parcel(NEW, 1)])).rejects.toThrow('Redis is away');
    hooks.enqueue = async () => {};
    for (const n of [1, 2, 3]) await approvalHold.hold([parcel(NEW, n)]);
    await approvalHold.hold([parcel(OTHER, 1)]);
    expect(
      queued.map(({ destination, alerts }) => [destination.label, alerts.map(({ item }) => item.message)]),
    ).toEqual([
      [
        'oncall@example.com',
        [
          `Slack channel C9 is new for alerts of “Lending Pool” and waits for approval.\nUntil somebody approves it, nothing is sent there: one alert waits so far. The fallback channels get it meanwhile.\nTo do: if it is yours, run \`tocsin destinations approve ${NEW.id}\`; the alerts that wait are then sent there. If nobody of you knows it, somebody else may have access to the monitoring service: remove it there, and change the API key.`,
        ],
      ],
      ['oncall@example.com', [expect.stringContaining('hooks.example.com (3f1c)')]],
    ]);
    expect(lines.map(({ msg }) => msg)).toEqual(Array(2).fill('a new destination waits for approval'));
    expect(JSON.stringify([...lines, ...queued.flatMap(({ alerts }) => alerts)])).not.toContain(OTHER.address);
    expect((await store.held.list()).map(({ waiting }) => waiting).toSorted()).toEqual([1, 3]);
  });

  test('without a fallback it is an error that nobody hears of it', async () => {
    const { approvalHold, lines, diverted } = open({ hasFallback: false });
    await approvalHold.hold([parcel(NEW, 1)]);
    expect(diverted).toEqual([]);
    expect(lines.map(({ msg }) => msg)).toEqual([
      'a new destination waits for approval',
      'alerts are held for a destination that is not approved, and no fallback is configured',
    ]);
  });

  test('is not kept where it has been delivered before', async () => {
    const { store, approvalHold, diverted } = open();
    const attempt = { at: '2026-11-20T11:00:00.000Z', outcome: 'delivered', durationMs: 1 } as const;
    await store.ledger.recordAttempt(NEW, [makeAlert(1)], { state: 'delivered', attempt });
    await approvalHold.hold([parcel(NEW, 1)]);
    expect(await store.held.list()).toEqual([]);
    expect(diverted).toEqual([]);
  });

  test('is not taken for lost, and the search for lost deliveries does not queue it', async () => {
    const { store, approvalHold, time, queued, stateAt } = open();
    await approvalHold.hold([parcel(NEW, 1)]);
    await store.ledger.recordWaiting([parcel(NEW, 2)]);
    const before = queued.length;
    time.now += 3_600_000;
    const lost = createLostDeliveries({
      jobScan: createQueuedOrHeld(store.jobScan, store.held),
      ledger: store.ledger,
      dead: createDeadLetters(store.redis, store.prefix),
      enqueue: async (parcels, nonce) => void (await approvalHold.enqueueApproved(parcels, nonce)),
      destinationsOf: async () => [NEW],
      itemOf: async () => makeAlert(2).item,
      lostAfterMs: 60_000,
      now: () => time.now,
    });
    const records = await Promise.all([1, 2].map((n) => store.ledger.read(makeAlert(n).id)));
    const found = await lost.lostOf(records.flatMap((record) => (record ? lost.overdueOf(record) : [])));
    expect(found.map(({ record }) => record.itemId)).toEqual(['item-2']);
    for (const suspect of found) await lost.heal(suspect);
    expect(queued).toHaveLength(before);
    expect((await store.held.list())[0]?.waiting).toBe(2);
    expect(await stateAt(2, NEW)).toBe('waiting');
  });
});

describe('an approval', () => {
  test('sends all that waited, and nothing is held from then on', async () => {
    const { store, approvalHold, sentTo, stateAt } = open();
    await approvalHold.hold([parcel(NEW, ...many(250))]);
    expect((await approvalHold.isOpen())(NEW)).toBe(false);
    await store.held.approve([NEW]);
    expect((await approvalHold.isOpen())(NEW)).toBe(true);
    expect(await approvalHold.release(NEW)).toBe(250);
    expect(sentTo(NEW).toSorted()).toEqual(items(many(250)).toSorted());
    expect(await store.held.list()).toEqual([]);
    expect(await stateAt(1, NEW)).toBe('waiting');
    // A daemon that did not know of it yet.
    await approvalHold.hold([parcel(NEW, 300)]);
    expect(sentTo(NEW)).toContain('item-300');
    expect(await store.held.list()).toEqual([]);
  });

  test('cut short loses nothing: what waits is sent by the next turn', async () => {
    const { store, approvalHold, hooks, sentTo } = open();
    await approvalHold.hold([parcel(NEW, ...many(250)), parcel(OTHER, 1)]);
    await store.held.approve([NEW]);
    let calls = 0;
    hooks.enqueue = async () => {
      calls += 1;
      if (calls === 2) throw new Error('killed');
    };
    await expect(approvalHold.release(NEW)).rejects.toThrow('killed');
    expect((await store.held.list()).map(({ waiting }) => waiting).toSorted()).toEqual([1, 150]);
    await approvalHold.releaseApproved();
    expect(sentTo(NEW).toSorted()).toEqual(items(many(250)).toSorted());
    expect((await store.held.list()).map(({ destination }) => destination.id)).toEqual([OTHER.id]);
    expect(sentTo(OTHER)).toEqual([]);
  });

  test('goes on where one of several cannot be sent', async () => {
    const { store, approvalHold, hooks, queued } = open();
    await approvalHold.hold([parcel(NEW, 1), parcel(OTHER, 1)]);
    await store.held.approve([NEW, OTHER]);
    queued.length = 0;
    let tries = 0;
    hooks.enqueue = async () => {
      tries += 1;
      if (tries === 1) throw new Error('too large');
    };
    await expect(approvalHold.releaseApproved()).rejects.toThrow(/: too large$/);
    expect(queued).toHaveLength(1);
    expect(await store.held.list()).toHaveLength(1);
    await approvalHold.releaseApproved();
    expect(queued).toHaveLength(2);
  });

  test('by two at once is done by one', async () => {
    const { store, approvalHold, sentTo } = open();
    await approvalHold.hold([parcel(NEW, ...many(30))]);
    await store.held.approve([NEW]);
    const counts = await Promise.all([approvalHold.release(NEW), approvalHold.release(NEW)]);
    expect(counts.toSorted((a, b) => a - b)).toEqual([0, 30]);
    expect(sentTo(NEW)).toHaveLength(30);
  });

  test('taken back holds what comes from then on, and is announced again', async () => {
    const { store, approvalHold, queued, diverted, time } = open();
    await approvalHold.hold([parcel(NEW, 1)]);
    await store.held.approve([NEW]);
    await approvalHold.release(NEW);
    expect(await store.held.approvals()).toEqual([
      { id: NEW.id, kind: 'slack', label: 'C9', at: '2026-11-20T12:00:00.000Z' },
    ]);
    expect(await store.held.revoke(NEW)).toBe(true);
    expect(await store.held.revoke(NEW)).toBe(false);
    expect(await store.held.approvals()).toEqual([]);
    expect(await store.held.revocations()).toMatchObject([{ id: NEW.id, label: 'C9' }]);
    time.now += 1000;
    await approvalHold.hold([parcel(NEW, 2)]);
    expect(await store.held.list()).toMatchObject([{ waiting: 1, isRevoked: true }]);
    const told = queued.filter(({ destination }) => destination.id === ONCALL.id);
    expect(told.map(({ alerts }) => alerts[0]?.item.message)).toEqual([
      expect.stringContaining('Slack channel C9 is new for alerts of “Lending Pool” and waits for approval'),
      expect.stringContaining(
        'Slack channel C9 was revoked but is still listed for alerts of “Lending Pool” and waits for approval',
      ),
    ]);
    expect(diverted.at(-1)?.notice).toContain(
      'Slack channel C9 does not get this: it was revoked and waits for approval',
    );
    await store.held.approve([NEW]);
    expect(await store.held.revocations()).toEqual([]);
  });
});

describe('a config that approves destinations', () => {
  test.each<[string, Options]>([
    ['by taking it away', { gate: false }],
    ['by allowing the destination', { allow: ['slack:C*'] }],
  ])('%s sends what was held', async (_how, options) => {
    const before = open();
    await before.approvalHold.hold([parcel(NEW, 1)]);
    await before.approvalHold.releaseApproved();
    expect((await before.store.held.list())[0]?.waiting).toBe(1);
    const { store, approvalHold, sentTo } = open(options, before);
    await approvalHold.releaseApproved();
    expect(sentTo(NEW)).toEqual(['item-1']);
    expect(await store.held.list()).toEqual([]);
  });
});

test('what the fallback names needs no approval', async () => {
  const { approvalHold } = open();
  const isOpen = await approvalHold.isOpen();
  expect([ONCALL, NEW].map(isOpen)).toEqual([true, false]);
});
