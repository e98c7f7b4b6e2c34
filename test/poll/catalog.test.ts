/** What the catalog keeps of assets, in a real Redis. */
import { expect, test } from 'vitest';
import type { ListedAsset, ListedProtocol } from '../../src/alert.ts';
import { createCatalog } from '../../src/poll/catalog.ts';
import { openTestRedis } from '../support/redis.ts';

const never = new AbortController().signal;
const protocolOf = (name: string): ListedProtocol => ({ name, channels: [], notifyOn: [] });

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const listed = { names: ['Vault', 'Bridge'], assets: new Map<string, ListedAsset[]>() };
  const open = () =>
    createCatalog({
      redis,
      prefix,
      list: async () => listed.names.map(protocolOf),
      listAssets: async () => listed.assets,
      isIncluded: () => true,
    });
  const catalog = open();
  const assets = async () => (await open().protocols('main')).get('Vault')?.assets;
  return { redis, prefix, listed, catalog, assets };
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
    list: async () => [protocolOf('Vault')],
    listAssets: () => Promise.reject(new Error('too large')),
    isIncluded: () => true,
  });
  await expect(failing.refreshAssets('main', never)).rejects.toThrow('too large');
  expect([...(await failing.protocols('main')).keys()]).toEqual(['Vault', 'Bridge']);
});
