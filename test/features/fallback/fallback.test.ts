/** The fallback and the announcements over a real Redis: crashes repeat nothing, loops do not form, daemons share. */
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Alert, Destination, Parcel } from '../../../src/alert.ts';
import { openAuditor } from '../../../src/app/review.ts';
import { createStore, type Store } from '../../../src/app/store.ts';
import { createDispatch, type Routes } from '../../../src/dispatch/dispatch.ts';
import { createAnnounce, createEnqueueOnce } from '../../../src/features/announcements/announce.ts';
import { createOutageNotifier } from '../../../src/features/broken-destinations/notifier.ts';
import { createAnnouncer } from '../../../src/features/conditions/announcer.ts';
import { createFallback } from '../../../src/features/fallback/fallback.ts';
import { createRouteReview } from '../../../src/features/routes/review.ts';
import { fallbackRoutes, routeSettings } from '../../../src/features/routes/routes.ts';
import type { DeliveryState } from '../../../src/ledger/record.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import type { Service } from '../../../src/service/open.ts';
import { read, SERVICE } from '../../config/samples.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';

const CHANNELS = `channels:
  slack: { botToken: xoxb-1 }
  email: { from: "t@example.com", smtp: { host: 127.0.0.1 }, groupWait: 0s }
  webhook: {}
`;
const SLACK = destinationOf('slack', 'C0000001');
const OTHER_SLACK = destinationOf('slack', 'C0000002');
const EMAIL = destinationOf('email', 'team@example.com');
const ONCALL = destinationOf('email', 'oncall@example.com');
const PAGER = destinationOf('webhook', 'https://pager.example.com/x', 'pager.example.com');

interface SetUp {
  /** Shared by two that stand for two daemons. */
  place?: ReturnType<typeof openTestRedis>;
  after?: string;
  channels?: string;
  routed?: Destination[];
  /** `acknowledged`: people have to say that they have it. */
  until?: 'delivered' | 'acknowledged';
  standIns?: Destination[][];
  now?: () => number;
}

const FALLBACK = '[{ name: email, contacts: ["oncall@example.com"] }]';

const setUp = ({
  place = openTestRedis(),
  after = '1ms',
  channels = FALLBACK,
  routed = [],
  until: has = 'delivered',
  standIns = [],
  now = Date.now,
}: SetUp = {}) => {
  const whole = createStore({ ...place, onError: () => {}, now });
  onTestFinished(() => whole.close());
  const queued: Parcel[] = [];
  const hooks: { enqueue(parcels: readonly Parcel[]): Promise<void> } = { enqueue: async () => {} };
  const enqueue = async (parcels: readonly Parcel[]): Promise<void> => {
    await hooks.enqueue(parcels);
    queued.push(...parcels);
    await whole.queues.enqueue(parcels);
  };
  const store: Store = { ...whole, queues: { ...whole.queues, enqueue } };
  const config = read(
    `${SERVICE}\n${CHANNELS}${channels === '' ? '' : `fallback: { after: ${after}, channels: ${channels} }\n`}`,
  );
  const metrics = createMetrics({ version: 'test' });
  const log = pino({ level: 'silent' });
  const settings = routeSettings(config);
  const enqueueOnce = createEnqueueOnce(store.ledger, store.queues.enqueue);
  const fallback = createFallback({
    destinations: fallbackRoutes(config, settings).destinations,
    standIns,
    afterMs: config.fallback?.after ?? 0,
    until: has,
    acknowledged: store.acknowledgements.acknowledged,
    ledger: store.ledger,
    enqueueOnce,
    deadlines: store.deadlines,
    outages: store.outageStore,
    names: store.names.all,
    metrics,
    log,
  });
  const routesOf = async (): Promise<Routes> => ({ destinations: routed, problems: [] });
  const news = createOutageNotifier({
    operators: [],
    isSenderAnnounced: async () => false,
    named: async (destination) => destination,
    outages: store.outageStore,
    announcer: createAnnouncer({
      ...{ store: store.announced, locks: store.locks, announce: createAnnounce(enqueueOnce) },
      ...{ operators: [], fallback: fallback.destinations, log, now },
    }),
    ledger: store.ledger,
    deadLetters: store.dead,
    announce: createAnnounce(enqueueOnce),
    fallback: fallback.destinations,
    routesOf,
    labelOf: settings.labelOf,
    log,
    now,
  });
  const end = (alert: Alert, destination: Destination, state: DeliveryState, message = 'said no') =>
    store.ledger.recordAttempt(destination, [alert], {
      state,
      attempt: {
        at: new Date().toISOString(),
        outcome: state === 'delivered' ? 'delivered' : 'retrying',
        durationMs: 1,
        message,
      },
    });
  /** The alerts that were queued there. */
  const sentTo = ({ id }: Destination) =>
    queued.filter(({ destination }) => destination.id === id).flatMap(({ alerts }) => alerts);
  const jobs = async () => (await whole.queues.counts()).reduce((sum, { waiting }) => sum + waiting, 0);
  return { config, store, fallback, news, metrics, queued, hooks, end, sentTo, jobs };
};

const expectAt = ({ ledger }: Store, alert: Alert, ...destinations: Destination[]) =>
  ledger.recordWaiting(destinations.map((destination) => ({ destination, alerts: [alert] })));

/** Every check that is due, and one that proves that those before it are done. */
const looked = async ({ fallback, store, sentTo }: ReturnType<typeof setUp>): Promise<void> => {
  const stop = fallback.start();
  const proof = makeAlert(999);
  await fallback.setDeadline([proof]);
  await until('the looks are over', async () => {
    const { waiting, delayed, active } = await store.deadlines.counts();
    return sentTo(ONCALL).some(({ id }) => id === proof.id) && waiting + delayed + active === 0;
  });
  await stop(0);
};

const itemsAt = ({ sentTo }: ReturnType<typeof setUp>, destination: Destination): string[] =>
  sentTo(destination)
    .map(({ itemId }) => itemId)
    .filter((id) => id !== 'item-999');

const acknowledge = ({ store }: ReturnType<typeof setUp>, ...alerts: Alert[]) =>
  store.acknowledgements.acknowledge(
    alerts.map(({ id }) => id),
    { by: 'Ann', via: 'slack', to: SLACK.label, at: new Date().toISOString() },
  );

test('a change that takes a reader away goes to the fallback unless one who read it before has it, not who came with it', async () => {
  for (const until of ['delivered', 'acknowledged'] as const) {
    const world = setUp({ until });
    const enqueueOnce = createEnqueueOnce(world.store.ledger, world.store.queues.enqueue);
    const announce = createAnnounce(enqueueOnce, world.fallback.setDeadline);
    const [old, evil] = [SLACK, EMAIL];
    for (const [key, having, readers] of [
      ['unheard', [evil], [old.id]],
      ['of nobody', [old, evil], []],
      ['heard', [old], [old.id]],
      ['by another of them', [OTHER_SLACK, evil], [old.id, OTHER_SLACK.id]],
      ['of no readers', [], undefined],
    ] as const) {
      const input = { about: 'protocol.changed', key, message: 'It has other channels.', readers } as const;
      const id = await announce(input, Date.now(), [old, OTHER_SLACK, evil]);
      const alert = (await world.store.ledger.read(id))?.alert as Alert;
      for (const destination of having) await world.end(alert, destination, 'delivered');
    }
    await looked(world);
    expect(itemsAt(world, ONCALL).toSorted()).toEqual(['protocol.changed of nobody', 'protocol.changed unheard']);
    expect(world.sentTo(ONCALL)[0]).not.toHaveProperty('readers');
  }
});

describe('where people have to acknowledge', () => {
  test('what was delivered and nobody acknowledged goes to the fallback, and says where it was delivered', async () => {
    const world = setUp({ until: 'acknowledged' });
    const [ignored, taken, late] = [makeAlert(1), makeAlert(2), makeAlert(3)];
    for (const alert of [ignored, taken, late]) await expectAt(world.store, alert, SLACK, EMAIL);
    for (const alert of [ignored, taken]) await world.end(alert, SLACK, 'delivered');
    await acknowledge(world, taken);
    await world.fallback.setDeadline([ignored, taken, late]);
    await looked(world);
    expect(itemsAt(world, ONCALL).toSorted()).toEqual(['item-1', 'item-3']);
    const noticeOf = ({ id }: Alert) => world.sentTo(ONCALL).find((one) => one.id === id)?.notice;
    expect(noticeOf(ignored)).toBe(
      'Fallback: nobody acknowledged this within 1 ms, so it is yours; it was delivered to Slack channel C0000001.',
    );
    expect(noticeOf(late)).toMatch(
      /^Fallback: it could not be delivered to anybody else within 1 ms, so it is yours\./,
    );
    const { values } = await world.metrics.fallbackAlerts.get();
    expect(values.find(({ labels }) => labels.reason === 'unacknowledged')?.value).toBe(1);
  });

  test('what is muted everywhere, or covered by another alert, waits for nobody', async () => {
    const world = setUp({ until: 'acknowledged' });
    const [muted, covered] = [makeAlert(1), makeAlert(2)];
    for (const alert of [muted, covered]) await expectAt(world.store, alert, SLACK);
    await world.end(muted, SLACK, 'muted');
    await world.store.coveredDeliveries.end(covered, SLACK, 'another');
    await world.fallback.setDeadline([muted, covered]);
    await looked(world);
    expect(itemsAt(world, ONCALL)).toEqual([]);
  });

  test('what is on its way to the fallback ends when somebody acknowledges it, and the ledger says who', async () => {
    const world = setUp({ until: 'acknowledged' });
    const [taken, ignored] = [makeAlert(1), makeAlert(2)];
    for (const alert of [taken, ignored]) await expectAt(world.store, alert, SLACK);
    await world.fallback.setDeadline([taken, ignored]);
    await looked(world);
    await acknowledge(world, taken);
    const left = await world.store.escalations.unacknowledged(ONCALL, [taken, ignored]);
    expect(left.map(({ itemId }) => itemId)).toEqual(['item-2']);
    const stateOf = async ({ id }: Alert) =>
      (await world.store.ledger.read(id))?.deliveries.find(({ destination }) => destination.id === ONCALL.id);
    expect(await stateOf(taken)).toMatchObject({
      state: 'muted',
      acts: [{ act: 'muted', reason: 'acknowledged by “Ann”' }],
    });
    expect(await stateOf(ignored)).toMatchObject({ state: 'waiting' });
    expect(await world.store.ledger.pending(ONCALL, [taken, ignored])).toEqual([ignored]);
    await world.end(ignored, ONCALL, 'delivered');
    await acknowledge(world, ignored);
    await world.store.escalations.unacknowledged(ONCALL, [ignored]);
    expect(await stateOf(ignored)).toMatchObject({ state: 'delivered' });
  });
});

describe('after the deadline', () => {
  test('what nobody has accepted goes to the fallback and says why; what somebody has does not', async () => {
    const world = setUp();
    const [late, told] = [makeAlert(1), makeAlert(2)];
    await world.fallback.setDeadline([late, told]);
    for (const alert of [late, told]) await expectAt(world.store, alert, SLACK, EMAIL);
    await world.end(late, SLACK, 'waiting', 'Slack answered token_revoked');
    await world.end(told, EMAIL, 'delivered');
    await looked(world);
    expect(itemsAt(world, ONCALL)).toEqual(['item-1']);
    expect(world.sentTo(ONCALL).find(({ id }) => id === late.id)?.notice).toMatch(
      /so it is yours\. Slack channel C0000001: Slack answered token_revoked; Mailbox team@/,
    );
    expect((await world.metrics.fallbackAlerts.get()).values).toMatchObject([{ labels: { reason: 'late' }, value: 2 }]);
  });

  test('it says where it failed by the names that people know', async () => {
    const world = setUp();
    await world.store.names.note(SLACK.id, '#alerts');
    for (const n of [1, 2]) await expectAt(world.store, makeAlert(n), SLACK);
    await world.fallback.setDeadline([makeAlert(1)]);
    await world.fallback.onDead(SLACK, [makeAlert(2)], 'gone');
    await looked(world);
    const noticeOf = (n: number) => world.sentTo(ONCALL).find(({ itemId }) => itemId === `item-${n}`)?.notice;
    expect(noticeOf(1)).toMatch(/ Slack channel #alerts \(C0000001\): waits for its turn\.$/);
    expect(noticeOf(2)).toBe('Fallback: Slack channel #alerts (C0000001) did not take this: gone.');
  });

  test('what somebody has acknowledged does not go there, however it stands', async () => {
    const world = setUp();
    const [late, dead] = [makeAlert(1), makeAlert(2)];
    for (const alert of [late, dead]) await expectAt(world.store, alert, SLACK);
    await acknowledge(world, late, dead);
    await world.fallback.setDeadline([late]);
    await world.fallback.onDead(SLACK, [dead], 'the channel is gone');
    await looked(world);
    expect(itemsAt(world, ONCALL)).toEqual([]);
  });

  test('an own destination that is also one of the fallback is not written twice', async () => {
    const world = setUp();
    await expectAt(world.store, makeAlert(1), ONCALL, SLACK);
    await world.fallback.setDeadline([makeAlert(1)]);
    await looked(world);
    expect(itemsAt(world, ONCALL)).toEqual([]);
  });

  test('a check that was cut short goes on where it was, and queues nothing twice', async () => {
    const world = setUp();
    const [one, two] = [makeAlert(1), makeAlert(2)];
    for (const alert of [one, two]) await expectAt(world.store, alert, SLACK);
    world.hooks.enqueue = async ([parcel]) => {
      if (parcel?.alerts[0]?.id !== one.id) return;
      // Accepted between the first try and the second: it was promised to the fallback already.
      world.hooks.enqueue = async () => {};
      await world.end(two, SLACK, 'delivered');
      throw new Error('Redis went away');
    };
    await world.fallback.setDeadline([one, two]);
    await looked(world);
    expect(itemsAt(world, ONCALL)).toEqual(['item-1', 'item-2']);
    expect(await world.store.ledger.waitingByDestination()).toMatchObject({ [ONCALL.id]: 3 });
  });

  test('what this check promised to the fallback is queued also where somebody acknowledged it meanwhile', async () => {
    const world = setUp();
    await expectAt(world.store, makeAlert(1), SLACK);
    await expectAt(world.store, makeAlert(2), SLACK);
    world.hooks.enqueue = async ([parcel]) => {
      if (parcel?.alerts[0]?.itemId !== 'item-1') return;
      world.hooks.enqueue = async () => {};
      await acknowledge(world, makeAlert(1), makeAlert(2));
      throw new Error('Redis went away');
    };
    await world.fallback.setDeadline([makeAlert(1)]);
    await looked(world);
    // The stage `acknowledged` ends it: without a job nobody would.
    expect(itemsAt(world, ONCALL)).toEqual(['item-1']);
    await world.fallback.onDead(SLACK, [makeAlert(2)], 'gone');
    expect(itemsAt(world, ONCALL)).toEqual(['item-1']);
  });

  test('an alert that was dispatched again is looked at once', async () => {
    const world = setUp({ after: '200ms' });
    await expectAt(world.store, makeAlert(1), SLACK);
    await world.fallback.setDeadline([makeAlert(1)]);
    await world.fallback.setDeadline([makeAlert(1)]);
    expect(await world.store.deadlines.counts()).toMatchObject({ delayed: 1 });
    await looked(world);
    expect(itemsAt(world, ONCALL)).toEqual(['item-1']);
  });

  test('it is noted before anything is queued, and only for what leads somewhere', async () => {
    const world = setUp({ after: '1h' });
    const { dispatch } = createDispatch({
      routesOf: async ({ itemId }) => ({ destinations: itemId === 'item-2' ? [] : [SLACK], problems: [] }),
      recordWaiting: () => Promise.reject(new Error('cut short')),
      enqueue: world.store.queues.enqueue,
      onUnroutable: async () => {},
      setDeadline: world.fallback.setDeadline,
    });
    const alerts = Array.from({ length: 201 }, (_, n) => makeAlert(n + 1));
    await expect(dispatch([...alerts, makeAlert(1000, { replay: true })])).rejects.toThrow('cut short');
    expect(await world.store.deadlines.counts()).toMatchObject({ delayed: 2 });
    expect(world.queued).toEqual([]);
  });

  test('without a fallback nothing is noted', async () => {
    const world = setUp({ channels: '' });
    await world.fallback.setDeadline([makeAlert(1)]);
    await world.fallback.divert([makeAlert(1)], { reason: 'held', by: 'held x', notice: () => 'held' });
    expect(await world.store.deadlines.counts()).toMatchObject({ delayed: 0, waiting: 0 });
    expect(world.queued).toEqual([]);
  });
});

describe('where nothing of the fallback works', () => {
  const OPS = destinationOf('telegram', '-100');
  const TEAM = destinationOf('slack', 'C0000009');
  const breaks = (world: ReturnType<typeof setUp>, ...ids: string[]) =>
    Promise.all(
      ids.map((id) =>
        world.store.outageStore.note(id, {
          ...TOLD,
          ...{ since: new Date().toISOString(), reason: 'sender-misconfigured', message: 'the token was revoked' },
          ...{ announcedTo: [], isAnnounced: true },
        }),
      ),
    );
  const seenAt = (world: ReturnType<typeof setUp>) => [ONCALL, OPS, TEAM].map((one) => itemsAt(world, one));

  test('the alert itself goes to who hears of such news as well, and without them to whoever of the config can be reached', async () => {
    const world = setUp({ standIns: [[OPS], [TEAM]] });
    for (const n of [1, 2]) await expectAt(world.store, makeAlert(n), EMAIL);
    await world.fallback.onDead(EMAIL, [makeAlert(1)], 'gone');
    expect(seenAt(world)).toEqual([['item-1'], [], []]);
    await breaks(world, 'sender-email');
    await world.fallback.onDead(EMAIL, [makeAlert(2)], 'gone');
    expect(seenAt(world)).toEqual([['item-1', 'item-2'], ['item-2'], []]);
    await breaks(world, OPS.id);
    await expectAt(world.store, makeAlert(3), EMAIL);
    await world.fallback.onDead(EMAIL, [makeAlert(3)], 'gone');
    expect(seenAt(world)).toEqual([['item-1', 'item-2', 'item-3'], ['item-2'], ['item-3']]);
  });

  test('what waits at the fallback as that breaks goes there, too, once', async () => {
    const world = setUp({ standIns: [[OPS]], after: '100ms' });
    await expectAt(world.store, makeAlert(1), SLACK);
    await world.fallback.setDeadline([makeAlert(1)]);
    const stop = world.fallback.start();
    onTestFinished(() => stop(0));
    await until('it waits at the fallback', () => itemsAt(world, ONCALL).length > 0);
    expect(itemsAt(world, OPS)).toEqual([]);
    await breaks(world, 'sender-email');
    await until('it is sent to who stands in', () => itemsAt(world, OPS).length > 0);
    await until('nobody looks again', async () => {
      const { waiting, delayed, active } = await world.store.deadlines.counts();
      return waiting + delayed + active === 0;
    });
    expect(seenAt(world)).toEqual([['item-1'], ['item-1'], []]);
    expect(world.sentTo(OPS)[0]?.notice).toMatch(/Mailbox oncall@example.com: the token was revoked/);
  });

  test('what dies at the fallback goes there, and to no other destination of the fallback', async () => {
    const world = setUp({ standIns: [[OPS]] });
    await expectAt(world.store, makeAlert(1), ONCALL);
    await world.fallback.onDead(ONCALL, [makeAlert(1)], 'the mailbox does not exist');
    expect(seenAt(world)).toEqual([[], ['item-1'], []]);
  });
});

describe('at once', () => {
  test('what a destination does not take goes to the fallback, once however often that is said', async () => {
    const world = setUp();
    await expectAt(world.store, makeAlert(1), SLACK);
    for (let times = 0; times < 3; times += 1) {
      await world.fallback.onDead(SLACK, [makeAlert(1)], 'Slack answered channel_not_found');
    }
    expect(await world.jobs()).toBe(1);
    expect(world.sentTo(ONCALL)[0]?.notice).toBe(
      'Fallback: Slack channel C0000001 did not take this: Slack answered channel_not_found.',
    );
    await world.end(makeAlert(1), ONCALL, 'delivered');
    const before = world.queued.length;
    await world.fallback.onDead(EMAIL, [makeAlert(1)], 'gone');
    expect(world.queued).toHaveLength(before);
  });

  test('two destinations that die at the same time, in two daemons, make one job', async () => {
    const place = openTestRedis();
    const daemons = [setUp({ place }), setUp({ place })] as const;
    await Promise.all([
      daemons[0].fallback.onDead(SLACK, [makeAlert(1), makeAlert(2)], 'gone'),
      daemons[1].fallback.onDead(EMAIL, [makeAlert(2)], 'gone'),
    ]);
    const items = daemons.flatMap((daemon) => itemsAt(daemon, ONCALL));
    expect(items.sort()).toEqual(['item-1', 'item-2']);
  });

  test('what the fallback itself does not take stays dead', async () => {
    const world = setUp({ channels: '[{ name: email, contacts: ["oncall@example.com", "second@example.com"] }]' });
    await world.fallback.onDead(ONCALL, [makeAlert(1)], 'no such mailbox');
    expect(world.queued).toEqual([]);
  });

  test('what leads nowhere goes there, and each of its destinations gets it', async () => {
    const channels =
      '[{ name: email, contacts: ["oncall@example.com"] }, { name: webhook, url: "https://pager.example.com/x" }]';
    const world = setUp({ channels });
    await world.fallback.onUnroutable(makeAlert(1), 'no destination: it has no channels');
    expect(itemsAt(world, ONCALL)).toEqual(['item-1']);
    expect(itemsAt(world, PAGER)).toEqual(['item-1']);
  });
});

test('a delivery to the fallback whose job was lost is queued again, not buried', async () => {
  const world = setUp();
  const { store, config } = world;
  await expectAt(store, makeAlert(1), ONCALL);
  const protocol = { name: 'Lending Pool', channels: [], notifyOn: [], missed: 0 };
  const auditor = openAuditor({
    config,
    store,
    catalog: { protocols: async () => new Map([[protocol.name, protocol]]), protocolOf: async () => protocol },
    serviceOf: () => ({ lookUp: async () => new Map() }) as unknown as Service,
    routesOf: async () => ({}),
    dispatch: async () => {},
    now: () => Date.now() + config.audit.lostAfter + 1000,
  });
  const options = { isHealing: true, isThorough: false };
  const { protocols } = await auditor.run('main', options, new AbortController().signal);
  expect(protocols).toMatchObject([{ lost: [{ healed: true }] }]);
  expect(itemsAt(world, ONCALL)).toEqual(['item-1']);
  expect(await store.dead.count()).toBe(0);
});

test('a channel of the fallback that leads nowhere is said by name', () => {
  const config = read(`${SERVICE}\n${CHANNELS}fallback: { channels: [{ name: slack, contacts: ["no channel"] }] }\n`);
  const settings = routeSettings(config);
  const said: unknown[] = [];
  const log = { warn: (line: unknown) => void said.push(line) };
  const review = createRouteReview(settings, log, fallbackRoutes(config, settings).problems);
  expect(review.problems()).toEqual([expect.stringMatching(/^fallback: slack: /)]);
  expect(said).toEqual([{ problem: review.problems()[0] }]);
});

describe('announcements', () => {
  const broken = {
    destination: SLACK,
    isSender: false,
    reason: 'destination-dead',
    message: 'no such channel',
  } as const;
  const texts = (world: ReturnType<typeof setUp>, destination: Destination): string[] =>
    world.sentTo(destination).map(({ item }) => String(item.message).split('\n')[0] ?? '');

  test('of two daemons one announces it, and the recovery goes to the same readers', async () => {
    const place = openTestRedis();
    const [one, two] = [setUp({ place }), setUp({ place, channels: '', routed: [SLACK, EMAIL] })];
    await Promise.all([
      one.news.onBroken({ ...broken, alerts: [makeAlert(1)] }),
      two.news.onBroken({ ...broken, alerts: [makeAlert(1)] }),
    ]);
    const readers = [...one.queued, ...two.queued].map(({ destination }) => destination.id);
    expect(new Set(readers).size).toBe(1);
    expect(await one.jobs()).toBe(1);
    const [reader] = [ONCALL, EMAIL].filter(({ id }) => readers.includes(id));
    if (!reader) throw new Error('somebody was told');
    await two.news.onRecovered({ destination: SLACK, isSender: false });
    await one.news.onRecovered({ destination: SLACK, isSender: false });
    expect(texts(two, reader).at(-1)).toBe('Slack channel C0000001 works again.');
    expect(await one.jobs()).toBe(2);
    await two.news.onBroken({ ...broken, alerts: [makeAlert(1)] });
    expect(await one.jobs()).toBe(3);
  });

  test('without a fallback the other people of the protocol hear of it, but none by the same sender', async () => {
    const world = setUp({ channels: '', routed: [SLACK, OTHER_SLACK, EMAIL] });
    await expectAt(world.store, makeAlert(1), SLACK, OTHER_SLACK);
    const token = {
      ...broken,
      isSender: true,
      reason: 'sender-misconfigured',
      message: 'Slack answered token_revoked',
    } as const;
    await world.news.onBroken({ ...token, alerts: [makeAlert(1)] });
    expect(world.queued.map(({ destination }) => destination.id)).toEqual([EMAIL.id]);
    expect(texts(world, EMAIL)).toEqual(['Every Slack channel takes no alerts: Slack answered token_revoked.']);
    expect(String(world.sentTo(EMAIL)[0]?.item.message)).toContain('2 alerts are waiting.');
  });

  test('a destination that is known to be broken gets no announcement of another', async () => {
    const world = setUp({ channels: '', routed: [SLACK, EMAIL] });
    await world.news.onBroken({ ...broken, destination: EMAIL, alerts: [makeAlert(1)] });
    await world.news.onBroken({ ...broken, alerts: [makeAlert(1)] });
    expect(world.queued.map(({ destination }) => destination.id)).toEqual([SLACK.id]);
  });

  test('one that comes and goes is announced a few times and then only logged', async () => {
    const world = setUp();
    for (let times = 0; times < 6; times += 1) {
      await world.news.onBroken({ ...broken, alerts: [makeAlert(1)] });
      await world.news.onRecovered({ destination: SLACK, isSender: false });
    }
    expect(texts(world, ONCALL).filter((text) => text.includes('takes no alerts'))).toHaveLength(3);
    expect(texts(world, ONCALL).filter((text) => text.includes('works again'))).toHaveLength(3);
    expect(String(world.sentTo(ONCALL).at(-2)?.item.message)).toContain('It comes and goes');
  });

  test('a chat that has moved is announced once, to the fallback, or where there is none to the chat', async () => {
    const chat = destinationOf('slack', 'C0000009');
    const world = setUp();
    await world.news.onMoved(chat, 'C0000010');
    expect(texts(world, ONCALL)).toEqual(['Slack channel C0000009 has a new id: C0000010.']);
    const alone = setUp({ channels: '' });
    await alone.news.onMoved(chat, 'C0000010');
    expect(alone.queued.map(({ destination }) => destination.address)).toEqual(['C0000010']);
  });
});
