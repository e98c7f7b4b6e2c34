import { expect, onTestFinished, test } from 'vitest';
import { createSandboxService } from '../../src/sandbox/service/service.ts';
import { createSecret } from '../../src/secret.ts';
import { createServiceClient, createServiceClock } from '../../src/service/client.ts';
import { createFeed } from '../../src/service/feed.ts';
import { createListStyles } from '../../src/service/styles.ts';
import type { Inspection } from '../../src/service/wire.ts';

const service = {
  ...{ name: 'main', baseUrl: 'http://127.0.0.1:1', apiKey: createSecret('key') },
  ...{ timeout: 1000, pageSize: 100, arrayParams: 'repeat' as const },
};
const clock = createServiceClock(Date.now);
const styles = createListStyles('repeat', () => {});

const inspection = (id: string, protocol: string): Inspection => ({
  ...{ id, protocol, assessment: 'critical', dates: { createdAt: 1000 } },
  raw: { _id: id, protocol },
});

test.each([false, true])(
  'inspections of another listed protocol stay with that one (thorough: %s)',
  async (thorough) => {
    const items = [
      inspection('own', ' vault '),
      inspection('other', 'bridge'),
      inspection('excluded too', 'Old Vault'),
      inspection('unlisted', 'Vault v2'),
    ];
    const client = { ...createServiceClient({ service }), listInspections: async () => ({ items, malformed: [] }) };
    const feed = createFeed(client, clock, { listed: async () => new Set(['vault', 'bridge', 'old vault']) }, styles);
    const found = new Set<string>();
    const foreign = new Set<string>();
    for await (const page of feed.inspections('Vault', 0, new AbortController().signal, thorough)) {
      for (const { itemId } of page.items) found.add(itemId);
      for (const { protocol } of page.foreign ?? []) foreign.add(protocol);
    }
    expect([...foreign]).toEqual(['bridge', 'Old Vault']);
    expect([...found]).toEqual(['own', 'unlisted']);
  },
);

test('notifications under a name that no protocol has are reported, when it had time to be listed', async () => {
  const names = ['vault ', 'bridge', 'Vaultt', 'New'];
  const items = names.map((protocol) => ({
    ...{ protocol, message: 'drained', raw: { protocol } },
    dates: { createdAt: protocol === 'New' ? clock.now() - 60_000 : clock.now() - 600_000 },
  }));
  const client = { ...createServiceClient({ service }), listNotifications: async () => ({ items, malformed: [] }) };
  const read = async (listed: string[]) => {
    const feed = createFeed(client, clock, { listed: async () => new Set(listed) }, styles);
    const odd: unknown[] = [];
    for await (const { malformed } of feed.notifications(['Vault'], 0, new AbortController().signal))
      odd.push(...malformed);
    return odd;
  };
  const problem = 'no listed protocol has this name, so nobody hears of it';
  expect(await read(['vault', 'bridge'])).toEqual([{ problem, raw: { protocol: 'Vaultt' } }]);
  // Nobody knows yet what is listed.
  expect(await read([])).toEqual([]);
});

test('a word that nobody knows counts as critical, unless the operator knows it, and is reported once', async () => {
  const assessed = (...words: string[]) =>
    words.map((assessment, index) => {
      const { raw, ...one } = inspection(`${index}`, 'Vault');
      return { ...one, assessment, raw: { ...raw, assessment } };
    });
  const read = async (words: string[], settings: Parameters<typeof createFeed>[2] = {}) => {
    const answer = { items: assessed(...words), malformed: [] };
    const client = { ...createServiceClient({ service }), listInspections: async () => answer };
    const found: (string | undefined)[] = [];
    const odd: unknown[] = [];
    const pages = createFeed(client, clock, settings, styles).inspections('Vault', 0, new AbortController().signal);
    for await (const { items, malformed } of pages) {
      found.push(...items.map((item) => item.assessment));
      odd.push(...malformed.map(({ raw }) => raw));
    }
    return { found, odd };
  };
  const severe = [{ assessment: 'severe' }];
  expect(await read(['severe', 'severe', 'ok'])).toEqual({ found: ['critical', 'critical', 'ok'], odd: severe });
  // The service ignores what it is asked for.
  const asked = { assessment: 'critical' } as const;
  expect(await read(['severe', 'ok'], asked)).toEqual({ found: ['critical', 'ok'], odd: severe });
  expect(await read(['severe'], asked)).toEqual({ found: ['critical'], odd: [] });
  const wording = { unknownAs: 'critical', harmless: ['info'] } as const;
  expect(await read(['Info ', 'o\u200bk'], { wording })).toEqual({
    found: ['ok', 'critical'],
    odd: [{ assessment: 'o\u200bk' }],
  });
});

test('a protocol whose name no URL can carry is a trouble of its own, not of whoever reads all', async () => {
  const feed = createFeed(createServiceClient({ service }), clock, {}, styles);
  const pages = feed.inspections('..', 0, new AbortController().signal, true);
  await expect(pages.next()).rejects.toMatchObject({ name: 'ServiceError', reason: 'rejected' });
});

test('a sweep costs what it finds, also where the last page comes again and again, unnumbered and in any order', async () => {
  const quirks = { behindLastPage: 'last', pageNumberEcho: 'missing', unstableTies: true } as const;
  const apiKeys = [{ apiKey: 'key', protocols: [{ name: 'Vault' }] }];
  const sandbox = createSandboxService({ apiKeys, quirks: { ...quirks, maxPageSize: 100 }, seed: 1 });
  const { url } = await sandbox.start();
  const client = createServiceClient({ service: { ...service, baseUrl: url } });
  onTestFinished(async () => {
    await client.close();
    await sandbox.stop();
  });
  const [perSecond, seconds, began] = [3, 120, sandbox.now() - 600_000];
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const at = began + Math.floor(n / perSecond) * 1000;
    sandbox.insertInspection({
      protocol: 'Vault',
      assessment: 'critical',
      createdAt: at,
      updatedAt: at,
      txTimestamp: at,
    });
  }
  const feed = createFeed(client, clock, {}, styles);
  const sweep = async (): Promise<number> => {
    const before = sandbox.requests().length;
    const found = new Set<string>();
    for await (const { items } of feed.inspections('Vault', began - 1, new AbortController().signal, true))
      for (const { itemId } of items) found.add(itemId);
    expect(found.size).toBe(perSecond * seconds);
    return sandbox.requests().length - before;
  };
  // Four pages; by seconds that fit a page it needs a few more.
  expect(await sweep()).toBeLessThan(40);
  // Pages of five: a second fills none of them, and is a reading of its own.
  sandbox.changeQuirks({ maxPageSize: 5 });
  const small = createFeed(client, clock, {}, styles);
  const before = sandbox.requests().length;
  for await (const _ of small.inspections('Vault', began - 1, new AbortController().signal, true));
  expect(sandbox.requests().length - before).toBeLessThan(6 * seconds);
});
