/** What the catalog keeps of assets, in a real Redis. */
import { describe, expect, test } from 'vitest';
import type { Source } from '../../src/alert.ts';
import { ServiceError } from '../../src/errors.ts';
import { type ListedAsset, type ListedProtocol, MOST_PROTOCOLS } from '../../src/item.ts';
import { createCatalog, createNameFilter, type Heard } from '../../src/poll/catalog.ts';
import type { Track } from '../../src/poll/cursor.ts';
import { openTestRedis } from '../support/redis.ts';

const never = new AbortController().signal;
const BROKEN = new ServiceError('unreadable', 'page 2');
const protocolOf = (name: string): ListedProtocol => ({ name, channels: [], notifyOn: [] });

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const listed = {
    names: ['Vault', 'Bridge'],
    assets: new Map<string, ListedAsset[]>(),
    unfinished: undefined as ServiceError | undefined,
  };
  const end = () => (listed.unfinished === undefined ? {} : { unfinished: listed.unfinished });
  const open = () =>
    createCatalog({
      redis,
      prefix,
      list: async () => ({ protocols: listed.names.map(protocolOf), ...end() }),
      listAssets: async () => ({ assets: listed.assets, ...end() }),
      isIncluded: () => true,
    });
  const catalog = open();
  const assets = async () => (await open().protocols('main')).get('Vault')?.assets;
  return { redis, prefix, listed, catalog, open, assets };
};

test('assets stay over listings without them, and change with the next that has them', async () => {
  const { listed, catalog, assets } = setUp();
  await catalog.refresh('main', never);
  expect(await assets()).toBeUndefined();
  listed.assets.set('Vault', [{ address: '0xaa' }]);
  await catalog.refreshAssets('main', never);
  await catalog.refresh('main', never);
  expect(await assets()).toEqual([{ address: '0xaa' }]);
  listed.assets.delete('Vault');
  await catalog.refreshAssets('main', never);
  expect(await assets()).toEqual([{ address: '0xaa' }]);
  listed.assets.set('Vault', []);
  await catalog.refreshAssets('main', never);
  expect(await assets()).toEqual([]);
});

test('of an admin that came lately it is known since when, until that is a day ago', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: 1_000_000 };
  const listed = { admins: ['0x1'] as string[], untold: new Set<string>() };
  const catalog = createCatalog({
    redis,
    prefix,
    list: async () => ({ protocols: [protocolOf('Vault')] }),
    listAssets: async () => ({
      assets: new Map([['Vault', [{ address: '0xaa', admins: listed.admins }]]]),
      heard: { untold: listed.untold },
    }),
    isIncluded: () => true,
    now: () => time.now,
  });
  await catalog.refresh('main', never);
  const refreshed = async () => {
    await catalog.refreshAssets('main', never);
    const [asset] = (await catalog.protocolOf({ service: 'main', protocol: 'Vault' }))?.assets ?? [];
    return [asset?.admins, asset?.adminsSince];
  };
  expect(await refreshed()).toEqual([['0x1'], undefined]);
  listed.admins = ['0x1', '0x2'];
  listed.untold = new Set(['Vault']);
  // What nobody was told is not followed.
  expect(await refreshed()).toEqual([['0x1'], undefined]);
  listed.untold = new Set();
  time.now += 5000;
  const since = { '0x2': time.now };
  expect(await refreshed()).toEqual([['0x1', '0x2'], since]);
  time.now += 23 * 3_600_000;
  expect(await refreshed()).toEqual([['0x1', '0x2'], since]);
  time.now += 2 * 3_600_000;
  expect(await refreshed()).toEqual([['0x1', '0x2'], undefined]);
});

test('what is the same is not written again', async () => {
  const { redis, prefix, listed, catalog } = setUp();
  const version = () => redis.hget(`${prefix}:catalog:main`, 'version');
  listed.assets.set('Vault', [{ address: '0xaa' }]);
  await catalog.refresh('main', never);
  await catalog.refreshAssets('main', never);
  const before = await version();
  await catalog.refresh('main', never);
  await catalog.refreshAssets('main', never);
  expect(await version()).toBe(before);
  listed.assets.set('Vault', [{ address: '0xbb' }]);
  await catalog.refreshAssets('main', never);
  expect(await version()).not.toBe(before);
});

test('a listing of assets that fails changes nothing', async () => {
  const { redis, prefix, catalog } = setUp();
  await catalog.refresh('main', never);
  const failing = createCatalog({
    redis,
    prefix,
    list: async () => ({ protocols: [protocolOf('Vault')] }),
    listAssets: () => Promise.reject(new Error('too large')),
    isIncluded: () => true,
  });
  await expect(failing.refreshAssets('main', never)).rejects.toThrow('too large');
  expect([...(await failing.protocols('main')).keys()]).toEqual(['Vault', 'Bridge']);
});

test('a protocol that listings lack is polled until the third one in a row', async () => {
  const { listed, catalog } = setUp();
  await catalog.refresh('main', never);
  listed.names = ['Bridge', 'Farm'];
  const names = async () => [...(await catalog.protocols('main')).keys()].toSorted();
  expect(await catalog.refresh('main', never)).toEqual({ added: ['Farm'], removed: [], missing: ['Vault'] });
  expect(await catalog.refresh('main', never)).toEqual({ added: [], removed: [], missing: ['Vault'] });
  expect(await names()).toEqual(['Bridge', 'Farm', 'Vault']);
  expect(await catalog.refresh('main', never)).toEqual({ added: [], removed: ['Vault'], missing: [] });
  expect(await names()).toEqual(['Bridge', 'Farm']);
});

test('a new protocol is owed since the listing before, the first ones since the first question', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: 1000 };
  const names = ['Vault'];
  const catalog = createCatalog({
    redis,
    prefix,
    list: async () => {
      if (time.now === 1000) throw new Error('not yet');
      return { protocols: names.map(protocolOf), ...(time.now === 4000 ? { unfinished: BROKEN } : {}) };
    },
    isIncluded: (name) => name !== 'Hidden',
    now: () => time.now,
  });
  const owedSince = async (protocol: string) => (await catalog.protocolOf({ service: 'main', protocol }))?.owedSince;
  await expect(catalog.refresh('main', never)).rejects.toThrow('not yet');
  time.now = 2000;
  await catalog.refresh('main', never);
  expect(await owedSince('Vault')).toBe(1000);
  time.now = 3000;
  names.push('Farm', 'Hidden');
  await catalog.refresh('main', never);
  expect([await owedSince('Vault'), await owedSince('Farm')]).toEqual([1000, 2000]);
  expect([...(await catalog.protocols('main')).keys()]).toEqual(['Vault', 'Farm']);
  time.now = 4000;
  await catalog.refresh('main', never);
  time.now = 5000;
  names.push('Late');
  await catalog.refresh('main', never);
  expect(await owedSince('Late')).toBe(3000);
});

test('what the config has again, or newly, is read from then on, and what was never left out as before', async () => {
  const { redis, prefix } = openTestRedis();
  const time = { now: 1000 };
  let excluded = ['Bridge'];
  const ids: Record<string, string> = { Vault: 'v1', Bridge: 'b1', Farm: 'f1' };
  const names = ['Vault', 'Bridge', 'Farm'];
  const open = () =>
    createCatalog({
      redis,
      prefix,
      list: async () => ({ protocols: names.map((name) => ({ ...protocolOf(name), protocolId: ids[name] ?? '' })) }),
      isIncluded: (name) => !excluded.includes(name),
      now: () => time.now,
    });
  const reasons = async (source: Source = 'inspections') => {
    const all = names.map((protocol) => open().reasonFor({ service: 'main', source, protocol }));
    return Object.fromEntries((await Promise.all(all)).map((reason, index) => [names[index], reason]));
  };
  const tracksOf = (left: readonly Track[]): string[] => left.map(({ source, protocol }) => `${source} of ${protocol}`);
  expect(await open().adopt('main', ['inspections'], 1000)).toEqual([]);
  await open().refresh('main', never);
  const before = await reasons();
  expect(before).toMatchObject({ Bridge: undefined, Vault: { since: 1000, includedSince: 0 } });
  // The daemon was stopped, and starts with the same config.
  time.now = 2000;
  await open().adopt('main', ['inspections'], 1000);
  await open().refresh('main', never);
  expect(await reasons()).toEqual(before);
  // Another config leaves out Vault, has Bridge, and reads notifications, too.
  excluded = ['Vault'];
  time.now = 3000;
  expect(tracksOf(await open().adopt('main', ['inspections', 'notifications'], 3000))).toEqual([
    'inspections of Vault',
  ]);
  await open().refresh('main', never);
  expect(await reasons()).toMatchObject({ Vault: undefined, Bridge: { since: 3000 }, Farm: before.Farm });
  expect((await reasons('notifications')).Farm).toMatchObject({ since: 3000, includedSince: 3000 });
  excluded = [];
  expect(tracksOf(await open().adopt('main', ['inspections'], 4000))).toEqual([
    'notifications of Bridge',
    'notifications of Farm',
  ]);
  const after = await reasons();
  expect(after.Vault).toMatchObject({ since: 4000 });
  expect(after.Vault?.token).not.toBe(before.Vault?.token);
  // Hidden for a while it is the same; deleted and made again it is another one.
  names.splice(0);
  for (const now of [5000, 6000, 7000]) {
    time.now = now;
    await open().refresh('main', never);
  }
  ids.Farm = 'f2';
  names.push('Vault', 'Bridge', 'Farm');
  time.now = 8000;
  await open().refresh('main', never);
  const again = await reasons();
  expect(again.Farm).toMatchObject({ since: 7000 });
  expect(again.Farm?.token).not.toBe(after.Farm?.token);
});

test('a listing that breaks off is used as far as it was read, with what was known before', async () => {
  const { listed, catalog, assets } = setUp();
  await catalog.refresh('main', never);
  Object.assign(listed, { names: ['Farm'], unfinished: BROKEN });
  const names = async () => [...(await catalog.protocols('main')).keys()].toSorted();
  for (const added of [['Farm'], [], [], []])
    expect(await catalog.refresh('main', never)).toEqual({ added, removed: [], missing: [], unfinished: BROKEN });
  expect(await names()).toEqual(['Bridge', 'Farm', 'Vault']);
  listed.assets.set('Vault', [{ address: '0xaa' }]);
  await expect(catalog.refreshAssets('main', never)).rejects.toBe(BROKEN);
  expect(await assets()).toEqual([{ address: '0xaa' }]);
});

test('what Redis lost is put back from memory, for every daemon', async () => {
  const { redis, prefix, catalog, open } = setUp();
  await catalog.refresh('main', never);
  await redis.del(`${prefix}:catalog:main`);
  expect([...(await open().protocols('main')).keys()]).toEqual([]);
  expect([...(await catalog.protocols('main')).keys()]).toEqual(['Vault', 'Bridge']);
  expect([...(await open().protocols('main')).keys()]).toEqual(['Vault', 'Bridge']);
});

test('what is listed and not watched can be told: left out by the config, or by its name', async () => {
  const { redis, prefix } = openTestRedis();
  const names = ['..', '../x', '.hidden', 'Vault', 'Old Vault'];
  const catalog = createCatalog({
    redis,
    prefix,
    list: async () => ({ protocols: names.map(protocolOf) }),
    isIncluded: createNameFilter(['*'], ['Old*']),
  });
  await catalog.refresh('main', never);
  expect([...(await catalog.protocols('main')).keys()]).toEqual(['..', '../x', '.hidden', 'Vault']);
  expect(await catalog.unwatched('main')).toEqual([
    { name: '..', why: 'unaskable' },
    { name: 'Old Vault', why: 'excluded' },
  ]);
  expect([...(await catalog.names('main'))]).toEqual(['..', '../x', '.hidden', 'vault', 'old vault']);
});

test('what a listing has that cannot be read is told, until a listing has it no more', async () => {
  const { redis, prefix } = openTestRedis();
  const malformed = [
    { name: 'x'.repeat(501), problem: 'a long name', raw: {} },
    { name: 'Vault', problem: 'in part', raw: {} },
  ];
  const answer = { protocols: [protocolOf('Vault')], malformed };
  const catalog = createCatalog({ redis, prefix, list: async () => answer, isIncluded: () => true });
  expect((await catalog.refresh('main', never)).malformed).toEqual(malformed);
  // Vault is watched.
  expect(await catalog.unwatched('main')).toEqual([
    { name: 'x'.repeat(80), why: 'unreadable', problem: 'a long name' },
  ]);
  answer.malformed = [];
  await catalog.refresh('main', never);
  expect(await catalog.unwatched('main')).toEqual([]);
});

test('listings that do not end add protocols as long as there is room', async () => {
  const { listed, catalog, open } = setUp();
  const names = async () => [...(await open().protocols('main')).keys()];
  await catalog.refresh('main', never);
  listed.unfinished = new ServiceError('unreadable', 'too many', { bound: 'protocols' });
  for (const turn of ['a', 'b']) {
    listed.names = ['Vault', ...Array.from({ length: MOST_PROTOCOLS - 1 }, (_, n) => `${turn}-${n}`)];
    await catalog.refresh('main', never);
    const known = await names();
    expect(known).toHaveLength(MOST_PROTOCOLS);
    expect(known).toEqual(expect.arrayContaining(['Vault', 'Bridge', 'a-0']));
  }
  listed.unfinished = undefined;
  listed.names = ['New'];
  await catalog.refresh('main', never);
  expect(await names()).toContain('New');
});

describe('alerts follow what people know', () => {
  const email = (to: string) => [{ name: 'email', contacts: [to] }];
  const routes = (to: string) => ({ channels: email(to), notifyOn: ['critical'], triggers: { critical: [['mixer']] } });
  const listedAs = (name: string, to: string, protocolId?: string): ListedProtocol => ({
    name,
    ...routes(to),
    ...(protocolId === undefined ? {} : { protocolId }),
  });

  const follow = () => {
    const { redis, prefix } = openTestRedis();
    const answer = { protocols: [] as ListedProtocol[], heard: undefined as Heard | undefined };
    const list = async () => {
      const { protocols, heard } = answer;
      return { protocols, ...(heard === undefined ? {} : { heard }) };
    };
    const catalog = createCatalog({ redis, prefix, list, isIncluded: () => true });
    const refresh = async (protocols: ListedProtocol[], heard?: Heard) => {
      Object.assign(answer, { protocols, heard });
      const change = await catalog.refresh('main', never);
      const entries = await catalog.protocols('main');
      const to = [...entries].map(([name, one]) => [name, one.channels.flatMap(({ contacts }) => contacts).join()]);
      return { change, entries, to: Object.fromEntries(to) };
    };
    return { refresh };
  };

  test('where nobody was told, they go where they went; a new protocol goes as people know it, or as it is listed', async () => {
    const { refresh } = follow();
    await refresh([listedAs('Vault', 'a'), listedAs('Bridge', 'a')]);
    const untold = new Map([
      ['Vault', routes('b')],
      ['Back', routes('c')],
      ['Farm', undefined],
    ]);
    const all = ['Vault', 'Bridge', 'Back', 'Farm'].map((name) => listedAs(name, 'evil'));
    const { to } = await refresh(all, { isTurn: true, untold });
    expect(to).toEqual({ Vault: 'a', Bridge: 'evil', Back: 'c', Farm: 'evil' });
    expect((await refresh(all, { isTurn: true, untold: new Map() })).to).toEqual({
      Vault: 'evil',
      Bridge: 'evil',
      Back: 'evil',
      Farm: 'evil',
    });
  });

  test('where nothing could be compared nothing changes, and it is listed again; what is new is read', async () => {
    const { refresh } = follow();
    await refresh([listedAs('Vault', 'a')]);
    const { to, change } = await refresh([listedAs('Vault', 'evil'), listedAs('Farm', 'b')], {
      isTurn: true,
      untold: undefined,
    });
    expect(to).toEqual({ Vault: 'a', Farm: 'b' });
    expect(change).toMatchObject({ added: ['Farm'], isUncompared: true });
  });

  test('what is missing is given up in its turn, when somebody was told', async () => {
    const { refresh } = follow();
    const [vault, bridge] = [listedAs('Vault', 'a'), listedAs('Bridge', 'a')];
    await refresh([vault, bridge]);
    for (let times = 0; times < 5; times += 1) {
      await refresh([bridge], { isTurn: false, untold: new Map() });
      await refresh([bridge], { isTurn: true, untold: undefined });
    }
    for (let times = 0; times < 2; times += 1) await refresh([bridge], { isTurn: true, untold: new Map() });
    const untold = new Map([['Vault', undefined]]);
    for (let times = 0; times < 3; times += 1) {
      expect((await refresh([bridge], { isTurn: true, untold })).to).toEqual({ Vault: 'a', Bridge: 'a' });
    }
    expect((await refresh([bridge], { isTurn: true, untold: new Map() })).to).toEqual({ Bridge: 'a' });
  });

  test('of several protocols of one name each has its readers, and their order changes nothing', async () => {
    const { refresh } = follow();
    const all = [listedAs('Vault', 'a', 'id-1'), { ...listedAs('Vault', 'b', 'id-2'), notifyOn: ['ok'] }];
    const { entries, to } = await refresh(all);
    expect(to).toEqual({ Vault: 'a,b' });
    expect(entries.get('Vault')).toMatchObject({ protocolId: 'id-1', notifyOn: ['critical', 'ok'] });
    const turned = await refresh(all.toReversed());
    expect([turned.to, turned.entries.get('Vault')?.protocolId]).toEqual([{ Vault: 'b,a' }, 'id-1']);
  });
});
