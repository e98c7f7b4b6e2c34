/** Items and a tiny history to poll, for tests of reading. */
import type { Item, ItemPage } from '../../src/item.ts';
import type { Stream } from '../../src/poll/stream.ts';

export const T0 = Date.parse('2026-11-20T10:00:00.000Z');

export const makeItem = (n: number, changes: Partial<Item> = {}): Item => ({
  source: 'inspections',
  protocol: 'Vault',
  itemId: `i-${n}`,
  assessment: 'critical',
  txHash: `0x${n.toString(16).padStart(64, '0')}`,
  dates: { createdAt: T0 + n * 1000, updatedAt: T0 + n * 1000, txTimestamp: T0 + n * 1000 - 300 },
  raw: { _id: `i-${n}`, n },
  ...changes,
});

const createdAt = ({ dates }: Item): number => dates.createdAt ?? 0;

/** A service in memory: items filtered by creation, sorted upwards, in pages. `onPage` may throw, to fail there. */
export const createHistory = (pageSize: number) => {
  const items: Item[] = [];
  return {
    items,
    async *pages(stream: Stream, since: number): AsyncGenerator<ItemPage> {
      const found = items
        .filter((item) => stream.protocols.includes(item.protocol) && createdAt(item) > since)
        .sort((a, b) => createdAt(a) - createdAt(b));
      for (let start = 0; start < found.length; start += pageSize) {
        yield { items: found.slice(start, start + pageSize), malformed: [] };
      }
    },
  };
};
