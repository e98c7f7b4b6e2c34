import { expect, test } from 'vitest';
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
      for (const name of page.foreign ?? []) foreign.add(name);
    }
    expect([...foreign]).toEqual(['bridge', 'Old Vault']);
    expect([...found]).toEqual(['own', 'unlisted']);
  },
);

test('a protocol whose name no URL can carry is a trouble of its own, not of whoever reads all', async () => {
  const feed = createFeed(createServiceClient({ service }), clock, {}, styles);
  const pages = feed.inspections('..', 0, new AbortController().signal, true);
  await expect(pages.next()).rejects.toMatchObject({ name: 'ServiceError', reason: 'rejected' });
});
