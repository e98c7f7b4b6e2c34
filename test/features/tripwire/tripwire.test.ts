/** The tripwire with a real Redis: what is told once, over daemons and crashes, and what is not told. */
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { ServiceError } from '../../../src/errors.ts';
import { createOutageStore } from '../../../src/features/conditions/outages.ts';
import { createTripwireStore, HISTORY_BOUNDS, type TripwireStore } from '../../../src/features/tripwire/store.ts';
import { createTripwire } from '../../../src/features/tripwire/tripwire.ts';
import { type ListedAsset, MOST_PROTOCOLS } from '../../../src/item.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import type { ListedSettings, Listing } from '../../../src/service/listing.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const ONCALL = destinationOf('email', 'oncall@example.com');

const listed = (name: string, to: string[] = ['a@example.com'], changes: Partial<ListedSettings> = {}) => ({
  name,
  channels: [{ name: 'email', contacts: to }],
  triggers: {},
  tracking: true,
  detectors: [],
  ...changes,
});

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const told: { key: string; message: string; to: string[] }[] = [];
  const { count } = createOutageStore(redis, prefix);
  const world = { held: new Set<string>(), included: (_name: string) => true, announceFails: false, count };
  const clock = { ahead: 0 };
  const now = () => Date.now() + clock.ahead;
  const own = createTripwireStore(redis, prefix, now);
  const open = (store: Pick<TripwireStore, 'version' | 'read' | 'remember'> = own) => {
    const tripwire = createTripwire({
      store,
      locks: createLocks(redis, prefix),
      outages: { inForce: async () => new Map(), count: world.count },
      announce: async ({ key, message }, _at, to) => {
        if (world.announceFails) throw new Error('Redis is away');
        told.push({ key, message, to: to.map(({ address }) => address) });
        return key;
      },
      fallback: [ONCALL],
      destinationsAt: (_protocol, channels) =>
        channels.flatMap(({ contacts = [] }) =>
          contacts.map((address): Destination => destinationOf('email', address)),
        ),
      isOpen: async () => (one) => !world.held.has(one.address),
      isIncluded: (name) => world.included(name),
      log: pino({ level: 'silent' }),
      now,
    });
    /** Names of which nobody was told where alerts would go; undefined: nothing was compared. */
    const look = async (service: string, answer: Parameters<typeof tripwire.look>[1], isTurn = true) => {
      const untold = await tripwire.look(service, answer, { asked: await tripwire.version(service), isTurn });
      return untold && [...untold.keys()];
    };
    const lookAtAssets = async (service: string, assets: Record<string, ListedAsset[]>) => {
      const asked = await tripwire.version(service);
      const untold = await tripwire.lookAtAssets(service, new Map(Object.entries(assets)), asked);
      return untold && [...untold];
    };
    return { ...tripwire, look, lookAtAssets, compare: tripwire.look };
  };
  const answer = (settings: ListedSettings[], rest: Partial<Listing> = {}) => ({ settings, malformed: [], ...rest });
  const lines = () => told.map(({ message }) => message.split('\n', 1)[0]);
  return { redis, prefix, store: own, world, clock, told, lines, open, answer };
};

test('the first listing is told nobody; a change is told once, to the old and the new, and so is its undoing', async () => {
  const { open, answer, told, lines, store } = setUp();
  const { look } = open();
  await look('main', answer([listed('Vault'), listed('Bridge')]));
  await look('main', answer([listed('Bridge'), listed('Vault')]));
  expect(told).toEqual([]);
  for (const to of ['b@example.com', 'a@example.com', 'b@example.com']) {
    await look('main', answer([listed('Vault', [to]), listed('Bridge')]));
    await look('main', answer([listed('Vault', [to]), listed('Bridge')]));
  }
  expect(lines()).toEqual(Array(3).fill('The protocol “Vault” has other channels at the monitoring service “main”.'));
  expect(told[0]?.to).toEqual(['a@example.com', 'b@example.com']);
  expect(new Set(told.map(({ key }) => key)).size).toBe(3);
  const { changes, isCut } = await store.history('main', 'Vault');
  expect(isCut).toBe(false);
  expect(changes.map(({ differences }) => differences[0]?.now)).toEqual(
    ['b', 'a', 'b'].map((name) => [`email ${name}@example.com`]),
  );
  expect(await store.changed('main')).toEqual(['Vault']);
});

test('many changes in one look are one message, and the last person is critical', async () => {
  const { open, answer, told } = setUp();
  const { look } = open();
  await look('main', answer([listed('Vault'), listed('Bridge')]));
  await look(
    'main',
    answer([listed('Vault', []), listed('Bridge', ['a@example.com'], { tracking: false }), listed('Farm')]),
  );
  expect(told.map(({ to }) => to)).toEqual([['a@example.com'], ['oncall@example.com']]);
  expect(told[0]?.message).toMatch(
    /^Critical: 3 protocols were changed at the monitoring service “main”: “Vault”, “Bridge”, “Farm”\.\n/,
  );
  expect(told[1]?.message).toMatch(/^Critical: No person gets alerts of “Vault” any more: /);
});

test('two daemons tell it once, and one that remembers an older listing tells nothing again', async () => {
  const { open, answer, told } = setUp();
  const [first, second] = [open(), open()];
  await first.look('main', answer([listed('Vault')]));
  await second.look('main', answer([listed('Vault')]));
  const changed = answer([listed('Vault', ['b@example.com'])]);
  await Promise.all([first.look('main', changed), second.look('main', changed)]);
  await second.look('main', changed);
  await first.look('main', changed);
  await open().look('main', changed);
  expect(told).toHaveLength(1);
});

test('a crash between announcing and remembering repeats the same announcement; nothing is remembered that was not announced', async () => {
  const { open, answer, told, store, world } = setUp();
  await open().look('main', answer([listed('Vault')]));
  const changed = answer([listed('Vault', ['b@example.com'])]);
  world.announceFails = true;
  await expect(open().look('main', changed)).rejects.toThrow('away');
  world.announceFails = false;
  const crashing = { ...store, remember: () => Promise.reject(new Error('killed')) };
  await expect(open(crashing).look('main', changed)).rejects.toThrow('killed');
  await open().look('main', changed);
  await open().look('main', changed);
  expect(told).toHaveLength(2);
  expect(told[1]?.key).toBe(told[0]?.key);
});

test('a part of the list tells what is in it; what it lacks is gone only when whole ones lack it in their turn', async () => {
  const { open, answer, told, lines } = setUp();
  const { look } = open();
  const [vault, bridge] = [listed('Vault'), listed('Bridge')];
  await look('main', answer([vault, bridge]));
  const unfinished = new ServiceError('failed', 'HTTP 500');
  const other = listed('Vault', ['b@example.com']);
  for (let n = 0; n < 5; n += 1) await look('main', answer([other], { unfinished }));
  await look('main', answer([vault], { unfinished }));
  expect(lines()).toEqual(Array(2).fill('The protocol “Vault” has other channels at the monitoring service “main”.'));
  told.length = 0;
  for (let n = 0; n < 5; n += 1) await look('main', answer([vault]), false);
  await look('main', answer([vault]));
  await open().look('main', answer([vault]));
  await look('main', answer([vault, bridge]));
  await look('main', answer([vault]));
  await look('main', answer([vault]));
  expect(lines()).toEqual([]);
  await look('main', answer([vault]));
  await look('main', answer([vault]));
  expect(lines()).toEqual([expect.stringContaining('The protocol “Bridge” is not listed any more')]);
  await look('main', answer([vault, bridge]));
  expect(lines()[1]).toBe('The protocol “Bridge” is listed again at the monitoring service “main”.');
});

test('what Redis lost is put back from memory, and a change that came meanwhile is told', async () => {
  const { open, answer, redis, prefix, lines, store } = setUp();
  const { look } = open();
  await look('main', answer([listed('Vault'), listed('Bridge')]));
  await redis.del(`${prefix}:tripwire:main`);
  await look('main', answer([listed('Bridge'), listed('Vault')]));
  await look('main', answer([listed('Vault', ['b@example.com']), listed('Bridge')]));
  expect(lines()).toEqual(['The protocol “Vault” has other channels at the monitoring service “main”.']);
  expect([...((await store.read('main'))?.protocols.keys() ?? [])].toSorted()).toEqual(['Bridge', 'Vault']);
});

test('what the config leaves out and what waits for approval is remembered, and not announced', async () => {
  const { open, answer, told, store, world } = setUp();
  const { look } = open();
  world.included = (name) => name !== 'Bridge';
  world.held.add('new@example.com');
  await look('main', answer([listed('Vault'), listed('Bridge')]));
  await look(
    'main',
    answer([listed('Vault', ['a@example.com', 'new@example.com']), listed('Bridge', ['b@example.com'])]),
  );
  expect(told).toEqual([]);
  for (const name of ['Vault', 'Bridge']) expect((await store.history('main', name)).changes).toHaveLength(1);
  await look('main', answer([listed('Vault', ['new@example.com']), listed('Bridge', ['b@example.com'])]));
  expect(told.map(({ to }) => to)).toEqual([['a@example.com']]);
});

test('a history is bounded, and says when it was cut; thousands of protocols are remembered in parts', async () => {
  const { open, answer, store, world } = setUp();
  world.count = async () => 1;
  const { look } = open();
  const others = Array.from({ length: 450 }, (_, n) => listed(`p${n}`));
  for (let n = 0; n <= HISTORY_BOUNDS.changes + 2; n += 1) {
    await look('main', answer([listed('Vault', [`${n}@example.com`]), ...others]));
  }
  const { changes, isCut } = await store.history('main', 'Vault');
  expect(changes).toHaveLength(HISTORY_BOUNDS.changes);
  expect(isCut).toBe(true);
  expect(changes[0]?.differences[0]?.now).toEqual([`email ${HISTORY_BOUNDS.changes + 2}@example.com`]);
  expect((await store.read('main'))?.protocols.size).toBe(451);
});

test('a service that lists it now so and now otherwise floods nobody, and hides no other change', async () => {
  const { open, answer, told, store, lines } = setUp();
  const { look } = open();
  await look('main', answer([listed('Vault')]));
  for (let n = 1; n <= 10; n += 1)
    await look('main', answer([listed('Vault', ['a@example.com'], { tracking: n % 2 === 0 })]));
  expect(told).toHaveLength(3);
  expect(told[1]?.message).not.toContain('again and again');
  expect(told[2]?.message).toContain('Changed again and again: “Vault”. For the rest of the hour');
  expect((await store.history('main', 'Vault')).changes.length).toBeGreaterThan(5);
  await look('main', answer([listed('Vault', ['b@example.com'])]));
  await look('main', answer([listed('Vault', [])]));
  expect(lines().slice(3)).toEqual([
    'The protocol “Vault” has other channels at the monitoring service “main”.',
    'Critical: No person gets alerts of “Vault” any more: its channels at the monitoring service “main” were changed.',
  ]);
});

const ACTIONS = { detectionsGroup: [['Oracle']], actions: ['notify'] };

test('each aspect counts by itself: the fourth change of a protocol is told when it is the first of its triggers', async () => {
  const { open, answer, lines } = setUp();
  const { look } = open();
  const triggers = { critical: ACTIONS };
  const detectors = [{ name: 'Oracle' }] as NonNullable<ListedSettings['detectors']>;
  const steps: Partial<ListedSettings>[] = [
    { triggers },
    { triggers, tracking: false },
    { triggers },
    { triggers, detectors },
    { triggers: {}, detectors },
  ];
  for (const step of steps) await look('main', answer([listed('Vault', ['a@example.com'], step)]));
  expect(lines()).toEqual(
    ['tracking', 'tracking', 'detectors', 'triggers'].map(
      (aspect) => `The protocol “Vault” has other ${aspect} at the monitoring service “main”.`,
    ),
  );
});

const MINUTE = 60_000;

test('what was changed too often to be told is told once when it has stayed so, with what people knew last', async () => {
  const { open, answer, told, clock, redis, prefix } = setUp();
  const [first, second] = [open(), open()];
  const tracked = (tracking: boolean) => answer([listed('Vault', ['a@example.com'], { tracking })]);
  // Told are off, on and off; not told are on, off and on.
  for (const tracking of [true, false, true, false, true, false, true]) await first.look('main', tracked(tracking));
  expect(told).toHaveLength(3);
  await second.look('main', tracked(true));
  clock.ahead += 9 * MINUTE;
  for (const { look } of [first, second, open()]) await look('main', tracked(true));
  expect(told).toHaveLength(3);
  clock.ahead += 2 * MINUTE;
  for (const { look } of [first, second, first, open()]) await look('main', tracked(true));
  expect(told).toHaveLength(4);
  expect(told[3]?.message).toContain('The protocol “Vault” has other tracking');
  expect(told[3]?.message).toContain('tracking before: off\ntracking now: on\n');
  expect(told[3]?.message).toContain('It has stayed so for 10 minutes.');
  expect(told[3]?.to).toEqual(['a@example.com']);
  expect(Object.keys(await redis.hgetall(`${prefix}:tripwire:main`)).toSorted()).toEqual([
    'p:Vault',
    'since',
    'version',
  ]);
});

test('what comes back to what people know is not told, and what they heard meanwhile is not told again', async () => {
  const { open, answer, told, lines, clock, redis, prefix } = setUp();
  const { look } = open();
  const tracked = (tracking: boolean, to = 'a@example.com') => answer([listed('Vault', [to], { tracking })]);
  for (const tracking of [true, false, true, false, true, false]) await look('main', tracked(tracking));
  clock.ahead += 11 * MINUTE;
  await look('main', tracked(false));
  expect(told).toHaveLength(3);
  await look('main', tracked(true));
  await look('main', tracked(true, 'b@example.com'));
  clock.ahead += 11 * MINUTE;
  await look('main', tracked(true, 'b@example.com'));
  expect(lines().slice(3)).toEqual([
    'The protocol “Vault” has other channels at the monitoring service “main”.',
    'The protocol “Vault” has other tracking at the monitoring service “main”.',
  ]);
  expect(Object.keys(await redis.hgetall(`${prefix}:tripwire:main`)).toSorted()).toEqual([
    'p:Vault',
    'since',
    'version',
  ]);
});

test('a protocol that comes and goes is told at last as it has stayed', async () => {
  const { open, answer, lines, clock, store } = setUp();
  const { look } = open();
  const [without, whole] = [answer([listed('Farm')]), answer([listed('Farm'), listed('Vault')])];
  await look('main', whole);
  for (let n = 0; n < 4; n += 1) {
    for (let missed = 0; missed < 3; missed += 1) await look('main', without);
    if (n < 3) await look('main', whole);
  }
  const [gone, came] = ['is not listed any more, so nothing of it is watched', 'is listed again'].map(
    (what) => `The protocol “Vault” ${what} at the monitoring service “main”.`,
  );
  expect(lines()).toEqual([gone, came, gone, came, gone, came]);
  clock.ahead += 11 * MINUTE;
  await look('main', without);
  await look('main', without);
  expect(lines().slice(6)).toEqual([gone]);
  expect((await store.history('main', 'Vault')).changes).toHaveLength(7);
  expect((await store.read('main'))?.unannounced.size).toBe(0);
});

test('a service that changes all it lists, under ever new names, does not fill Redis with histories', async () => {
  const { redis, prefix, store } = setUp();
  const held = await createLocks(redis, prefix).take(['tripwire:main']);
  if (held === undefined) throw new Error('locked');
  onTestFinished(held.release);
  const write = async (names: readonly string[], times: number): Promise<void> => {
    for (let n = 0; n < times; n += 1) {
      const version = (await store.read('main'))?.version ?? '';
      const at = new Date().toISOString();
      const change = { at: `${at} ${n}`, kind: 'new', differences: [], isCritical: false } as const;
      const writes = new Map(names.map((name) => [name, undefined]));
      const seen = new Map(names.map((name) => [name, change]));
      expect(await store.remember(held, 'main', { version, writes, seen })).toBeDefined();
    }
  };
  const names = (from: number, count: number) => Array.from({ length: count }, (_, n) => `p${from + n}`);
  await write(names(0, MOST_PROTOCOLS), 1);
  await write(['p0'], 10);
  expect(await store.history('main', 'p0')).toMatchObject({ changes: { length: HISTORY_BOUNDS.least }, isCut: true });
  await write(names(MOST_PROTOCOLS, 500), 1);
  expect(await store.changed('main')).toHaveLength(MOST_PROTOCOLS);
  const keys = await redis.keys(`${prefix.replace(/[[\]{}*?]/g, '?')}:changes:*`);
  expect(keys).toHaveLength(MOST_PROTOCOLS);
});

test('an entry that cannot be read hides no protocol that is gone, and one that became so is told as such', async () => {
  const { open, answer, lines } = setUp();
  const { look } = open();
  const malformed = (...names: string[]) => names.map((name) => ({ name, problem: 'channels is no list', raw: {} }));
  await look('main', answer([listed('Vault'), listed('Bridge'), listed('Farm')], { malformed: malformed('') }));
  const broken = answer([listed('Farm')], { malformed: malformed('', 'Bridge') });
  await look('main', broken);
  await look('main', broken);
  await look('main', answer([listed('Vault'), listed('Bridge'), listed('Farm')]));
  expect(lines()).toEqual([]);
  for (let n = 0; n < 5; n += 1)
    await look('main', answer([listed('Bridge'), listed('Farm')], { malformed: malformed('') }));
  for (let n = 0; n < 5; n += 1) await look('main', answer([listed('Farm')], { malformed: malformed('', 'Bridge') }));
  expect(lines()).toEqual([
    'The protocol “Vault” is not listed any more, so nothing of it is watched at the monitoring service “main”.',
    'The protocol “Bridge” cannot be read in the list any more, so nothing of it is watched at the monitoring service “main”.',
  ]);
});

test('routes that nobody was told of are named, with what people know, until they are told', async () => {
  const { open, answer, told, clock } = setUp();
  const { look, compare, version } = open();
  const at = (...to: string[]) => answer(to.map((one) => listed('Vault', [one])));
  for (const to of ['a', 'b', 'c', 'd']) expect(await look('main', at(to))).toEqual([]);
  expect(told).toHaveLength(3);
  const untold = await compare('main', at('evil'), { asked: await version('main'), isTurn: true });
  expect(untold).toEqual(
    new Map([['Vault', { channels: [{ name: 'email', contacts: ['d'] }], notifyOn: [], triggers: {} }]]),
  );
  expect(await look('main', at('d'))).toEqual([]);
  expect(await look('main', at('evil'))).toEqual(['Vault']);
  expect(await open().look('main', at('evil'))).toEqual(['Vault']);
  clock.ahead += 11 * MINUTE;
  expect(await look('main', at('evil'))).toEqual([]);
  expect(told.at(-1)?.to).toEqual(['d', 'evil']);
});

test('what vanished too often to be told is not given up, and as what it came back is not followed', async () => {
  const { open, answer, lines } = setUp();
  const { look } = open();
  const whole = (to: string) => answer([listed('Farm'), listed('Vault', [to])]);
  for (let n = 0; n < 3; n += 1) {
    await look('main', whole('a'));
    for (let missed = 0; missed < 3; missed += 1) expect(await look('main', answer([listed('Farm')]))).toEqual([]);
  }
  expect(await look('main', whole('a'))).toEqual([]);
  expect(lines()).toHaveLength(6);
  for (let missed = 0; missed < 2; missed += 1) expect(await look('main', answer([listed('Farm')]))).toEqual([]);
  expect(await look('main', answer([listed('Farm')]))).toEqual(['Vault']);
  // Known to people is that it is back, with `a`.
  expect(await look('main', whole('evil'))).toEqual(['Vault']);
  expect(lines()).toHaveLength(6);
});

test('an answer that may be older than what another daemon has told is not compared', async () => {
  const { open, answer, lines } = setUp();
  const [first, second] = [open(), open()];
  const [before, changed] = [answer([listed('Vault')]), answer([listed('Vault', ['b@example.com'])])];
  await first.look('main', before);
  await second.look('main', before);
  const asked = await first.version('main');
  expect(await second.look('main', changed)).toEqual([]);
  expect(await first.compare('main', before, { asked, isTurn: true })).toBeUndefined();
  expect(lines()).toHaveLength(1);
  // Asked since, it is a change, whatever this daemon saw last.
  expect(await first.look('main', before)).toEqual([]);
  expect(lines()).toHaveLength(2);
});

test('a first listing that was not written to its end is no obstacle', async () => {
  const { open, answer, redis, prefix, lines } = setUp();
  await redis.hset(`${prefix}:tripwire:main`, { version: 'half', 'p:Vault': '{"settings":{"channels":[]}}' });
  const { look } = open();
  expect(await look('main', answer([listed('Vault')]))).toEqual([]);
  expect(await look('main', answer([listed('Vault', ['b@example.com'])]))).toEqual([]);
  expect(lines()).toHaveLength(1);
});

test('admins, privileged methods and contracts are told to the readers of their protocol, and not the first time', async () => {
  const { open, answer, told, lines } = setUp();
  const [first, second] = [open(), open()];
  const asset = (changes: Partial<ListedAsset> = {}): ListedAsset[] => [
    { address: '0xaa', chainId: '1', name: 'Vault', admins: ['0x1'], privileged: ['pause'], ...changes },
  ];
  const assets = (one: ListedAsset[]) => ({ Vault: one, Bridge: [], Unknown: asset() });
  expect(await first.lookAtAssets('main', assets(asset()))).toBeUndefined();
  await first.look('main', answer([listed('Vault'), listed('Bridge')]));
  for (const { lookAtAssets } of [first, first, second])
    expect(await lookAtAssets('main', assets(asset()))).toEqual([]);
  await first.look('main', answer([listed('Vault'), listed('Bridge')]));
  expect(told).toEqual([]);
  const evil = assets(asset({ admins: ['0x1', '0xe'] }));
  for (const { lookAtAssets } of [second, first, second]) expect(await lookAtAssets('main', evil)).toEqual([]);
  expect(told.map(({ to }) => to)).toEqual([['a@example.com']]);
  expect(told[0]?.message).toContain('admins before: 0x1 of 0xaa on chain 1\n');
  expect(told[0]?.message).toContain('admins now: 0xe of 0xaa on chain 1; 0x1 of 0xaa on chain 1\n');
  const { privileged: _, ...plain } = asset()[0] ?? { address: '' };
  await first.lookAtAssets('main', assets([{ ...plain, admins: ['0x1', '0xe'] }]));
  await first.lookAtAssets('main', assets([]));
  expect(lines().slice(1)).toEqual([
    'The protocol “Vault” has other privileged methods at the monitoring service “main”.',
    'The protocol “Vault” has other admins and contracts at the monitoring service “main”.',
  ]);
  expect(told.at(-1)?.message).toContain('contracts before: Vault 0xaa on chain 1\ncontracts now: none');
});

test('contracts that were changed too often to be told are named', async () => {
  const { open, answer } = setUp();
  const { look, lookAtAssets } = open();
  await look('main', answer([listed('Vault')]));
  const at = (admin: string) => lookAtAssets('main', { Vault: [{ address: '0xaa', admins: [admin] }] });
  for (const admin of ['0x1', '0x2', '0x3', '0x4']) expect(await at(admin)).toEqual([]);
  expect(await at('0x5')).toEqual(['Vault']);
  // The routes are what people know.
  expect(await look('main', answer([listed('Vault')]))).toEqual([]);
});
