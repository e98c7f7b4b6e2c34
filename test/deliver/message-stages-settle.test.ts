import { describe, expect, test } from 'vitest';
import { settle } from '../../src/deliver/message-stages.ts';
import type { JobRun, MessageRun, SendResult } from '../../src/deliver/stage.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { failure, items, range, setUpDeliveries as setUp } from '../support/deliveries.ts';
import { type Handed, handed, jobOf, jobRun, messageOf, messageRun, NOW, now } from '../support/delivery-runs.ts';
import { makeAlert } from '../support/numbered.ts';

test('a message in parts takes a slot for each, goes on where it was, and holds up nobody else', async () => {
  const refusals = [undefined, undefined, failure('rate-limited', { retryAfterMs: 2000 })];
  const { add, run, sent, states } = setUp({
    rate: { perSecond: 1 },
    partsOf: ({ itemId }) => (itemId === 'item-1' ? 4 : 1),
    respond: () => refusals.shift(),
  });
  add([makeAlert(1)]);
  await run(0);
  add([makeAlert(2)]);
  await run();
  expect(sent.filter(({ items: [item] }) => item === 'item-1')).toHaveLength(4);
  expect(sent.find(({ items: [item] }) => item === 'item-2')?.at).toBeLessThan(8000);
  expect(await states(1, 2)).toEqual(['delivered', 'delivered']);
});

test('a message in parts of which one is refused begins again more plainly, and what follows is sent at its own time', async () => {
  const refusals = [undefined, failure('bad-message')];
  const { add, run, sent, states } = setUp({
    rate: { perSecond: 1 },
    partsOf: ({ itemId }) => (itemId === 'item-1' ? 3 : 1),
    respond: () => refusals.shift(),
  });
  add([makeAlert(1)]);
  await run();
  // One part before the refusal, and then all three of them.
  expect(sent.map(({ items: sentItems }) => sentItems)).toEqual([items(1), items(1), items(1), items(1)]);
  expect(await states(1)).toEqual(['delivered']);
});

test('a digest that is refused for one alert is cut smaller until that one dies alone', async () => {
  const { add, run, sent, states, dead } = setUp({
    rate: { perSecond: 1 },
    respond: ({ items: tried }) => (tried.includes('item-13') ? failure('bad-message') : undefined),
  });
  add(range(1, 40).map((n) => makeAlert(n)));
  await run();
  expect((await dead.list()).map(({ alert }) => alert.itemId)).toEqual(['item-13']);
  expect(sent.flatMap((message) => message.items).toSorted()).toEqual(
    items(...range(1, 40).filter((n) => n !== 13)).toSorted(),
  );
  expect(sent.length).toBeLessThan(16);
  expect(Math.max(...sent.map(({ at }) => at))).toBeLessThan(25_000);
  expect(new Set(await states(1, 12, 14, 40))).toEqual(new Set(['delivered']));
});

describe('a destination that moved', () => {
  test('is announced by the next delivery where that failed', async () => {
    const announced: string[] = [];
    const { start } = setUp({
      respond: ({ to }) => (to === 'C9' ? undefined : failure('re-address', { newAddress: 'C9' })),
      onMoved: async (_destination, address) => {
        announced.push(address);
        if (announced.length === 1) throw new Error('it could not be announced');
      },
    });
    expect(await start(jobOf([1]))).toMatchObject({ done: false, data: { destination: { address: 'C9' } } });
    await start(jobOf([1]));
    await start(jobOf([2]));
    expect(announced).toEqual(['C9', 'C9']);
  });
});

describe('what becomes of a job after a message', () => {
  const setUpStage = (changes: Handed = {}) => {
    const notes: string[] = [];
    const dependencies = handed({
      sendSlots: { hold: async (_destination, until) => ({ at: until + 1, shift: 7 }) },
      addressChanges: {
        follow: async (destination) => destination,
        note: async (_destination, address) => void notes.push(`note ${address}`),
      },
      onMoved: async (_destination, address) => void notes.push(`announce ${address}`),
      inFlight: { jobs: 1, unrecorded: 0, most: 20 },
      now,
      ...changes,
    });
    const settleAfter = async (
      result: SendResult | undefined,
      job: Partial<ParcelJob> = {},
      changesOfRun: Partial<MessageRun> = {},
    ) => {
      const each = messageRun(jobOf([1, 2], job), { ...(result ? { result } : {}), ...changesOfRun });
      return { verdict: await settle(each, dependencies), units: each.run.units };
    };
    return { settleAfter, notes };
  };
  const again = (runAt: number, data: object) => ({ done: false, runAt, data: expect.objectContaining(data) });
  const delivered = (isRepeat: boolean): SendResult => ({ kind: 'delivered', receipt: {}, isRepeat });

  test.each<[string, SendResult | undefined, Partial<ParcelJob>, unknown]>([
    ['delivered: it goes on', delivered(false), {}, undefined],
    ['delivered, by another job as well: it steps back', delivered(true), {}, again(NOW + 5000, { attempt: 0 })],
    [
      'a part: the next part has a slot of its own',
      { kind: 'partial', progress: '2' },
      { format: 'plain' },
      again(NOW, { progress: { id: 'message of item-1,item-2', format: 'plain', after: '2', at: NOW } }),
    ],
    ['dead: it goes on', { kind: 'dead' }, {}, undefined],
    ['claimed by another job: it waits a moment', { kind: 'claimed' }, { yields: 1 }, again(NOW + 700, { yields: 2 })],
    ['our own end: nothing is charged', { kind: 'stopping' }, {}, again(NOW, { attempt: 0 })],
    ['not sent: nothing is charged', undefined, {}, again(NOW, { attempt: 0 })],
    [
      'a retry is charged',
      { kind: 'retry', delayMs: 900, holdMs: 0, unknownSince: 5 },
      { attempt: 2 },
      again(NOW + 900, { attempt: 3, unknownSince: 5 }),
    ],
    [
      'a wait that the provider named holds the destination',
      { kind: 'retry', delayMs: 900, holdMs: 800 },
      {},
      again(NOW + 901, { attempt: 1, slot: { at: NOW + 901, shift: 7 } }),
    ],
    ['no plainer format is left: smaller', { kind: 'plainer' }, { format: 'minimal' }, again(NOW, { most: 1 })],
  ])('%s', async (_what, result, job, verdict) => {
    expect((await setUpStage().settleAfter(result, job)).verdict).toEqual(verdict);
  });

  test('a digest counts toward a storm; one of replays, or a single message, does not', async () => {
    const counted: number[] = [];
    const { settleAfter } = setUpStage({ storms: { noteDigest: async (_to, alerts) => void counted.push(alerts) } });
    const digestOf = (replay: boolean, isDigest = true): Partial<MessageRun> => ({
      message: messageOf({ ...jobOf([]), alerts: [1, 2].map((n) => makeAlert(n, { replay })) }, { isDigest }),
    });
    await settleAfter(delivered(false), {}, digestOf(true));
    await settleAfter(delivered(false), {}, digestOf(false, false));
    await settleAfter(delivered(false), {}, digestOf(false));
    expect(counted).toEqual([2]);
  });

  test('a refused message comes again in a plainer format, in the same run', async () => {
    const { settleAfter } = setUpStage();
    const { verdict, units } = await settleAfter({ kind: 'plainer' });
    expect(verdict).toBeUndefined();
    expect(units).toEqual([{ alerts: [makeAlert(1), makeAlert(2)], format: 'plain' }]);
  });

  test('once the refused alert died alone, the others go on together', async () => {
    const job = jobOf([1], { most: 1 });
    const run: JobRun = jobRun(job);
    const verdict = await settle(
      messageRun(job, { run, result: { kind: 'dead' } }),
      handed({
        sendSlots: { hold: async (_destination, at) => ({ at, shift: 0 }) },
        addressChanges: { follow: async (destination) => destination, note: async () => {} },
        inFlight: { jobs: 1, unrecorded: 0, most: 20 },
        now,
      }),
    );
    expect(verdict).toEqual(again(NOW, { most: Number.MAX_SAFE_INTEGER }));
  });

  test('a new address is announced first and noted second, and not announced where it is known', async () => {
    const { settleAfter, notes } = setUpStage();
    const { verdict } = await settleAfter({ kind: 'readdress', address: 'C2' }, { moves: 1 });
    expect(verdict).toEqual(again(NOW + 60_000, { moves: 2, destination: expect.objectContaining({ address: 'C2' }) }));
    await settleAfter({ kind: 'readdress', address: 'C1' });
    expect(notes).toEqual(['announce C2', 'note C2', 'note C1']);
  });
});
