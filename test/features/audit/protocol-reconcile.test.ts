/** One protocol's list beside the ledger: which item is accounted for, and by what. */
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../../src/errors.ts';
import { createReconcile } from '../../../src/features/audit/protocol.ts';
import type { Item } from '../../../src/item.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import type { DeliveryState } from '../../../src/ledger/record.ts';
import { createCursors } from '../../../src/poll/cursor.ts';
import { toAlert } from '../../../src/poll/ingest.ts';
import { createSeen, identityOf } from '../../../src/poll/seen.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openCommits } from '../../support/commits.ts';
import { makeItem, T0 } from '../../support/items.ts';
import { openTestRedis } from '../../support/redis.ts';

const TRACK = { service: 'main', source: 'inspections', protocol: 'Vault' } as const;
const SLACK = destinationOf('slack', 'C1');
const HOUR = 3_600_000;
const WINDOW = { since: T0, closed: T0 + 100_000, until: T0 + HOUR };

interface Options {
  pages?: Item[][];
  critical?: number;
  skipped?: string[];
}

const setUp = ({ pages = [], critical, skipped = [] }: Options = {}) => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, () => T0);
  const seen = createSeen(redis, prefix);
  const cursors = createCursors(redis, prefix);
  const { remember } = openCommits(redis, prefix);
  const asked: number[] = [];
  const reconcile = createReconcile({
    settings: { assessments: ['critical'], sources: ['inspections'], lookback: 900_000, overlap: 0, lostAfter: 60_000 },
    ledger,
    seen,
    serviceOf: () => ({
      feed: {
        async *inspections(_protocol, since) {
          asked.push(since);
          for (const items of pages) yield { items, malformed: [], size: items.length, short: false };
        },
        notifications: () => {
          throw new Error('never asked');
        },
      },
      client: {
        inspectionStats: async () => {
          if (critical === undefined) throw new ServiceError('unreachable', 'down');
          return { critical } as never;
        },
      },
      clock: { now: () => T0 },
      lookUp: async () => new Map(),
    }),
    routesOf: async ({ itemId }) => (skipped.includes(itemId) ? { skipped: 'trigger' } : {}),
    now: () => T0,
  });
  const alertOf = (item: Item) => toAlert(item, 'main', 'Vault', T0);
  const record = async (item: Item, ...states: DeliveryState[]) => {
    for (const [n, state] of states.entries()) {
      const destination = { ...SLACK, id: `slack-${n}` };
      await ledger.recordWaiting([{ destination, alerts: [alertOf(item)] }]);
      const attempt = { at: '2026-11-20T10:00:00.000Z', outcome: 'delivered', durationMs: 1 } as const;
      if (state !== 'waiting') await ledger.recordAttempt(destination, [alertOf(item)], { state, attempt });
    }
  };
  const run = (recorded: string[] = []) => reconcile(TRACK, WINDOW, recorded, new AbortController().signal);
  return { asked, cursors, remember, alertOf, record, run };
};

const item = (n: number, changes: Partial<Item> = {}) => makeItem(n, changes);

describe('an item', () => {
  test.each([
    [['delivered'], 'delivered'],
    [['delivered', 'waiting'], 'waiting'],
    [['delivered', 'dead'], 'dead'],
    [['muted'], 'muted'],
  ] as const)('whose deliveries are %j is %s', async (states, account) => {
    const { record, run } = setUp({ pages: [[item(1)]] });
    await record(item(1), ...states);
    const { listed, counts, missing, waiting } = await run();
    expect(listed).toBe(1);
    expect(counts[account]).toBe(1);
    expect(missing).toEqual([]);
    expect(waiting.map(({ alert }) => alert.itemId)).toEqual(account === 'waiting' ? ['i-1'] : []);
  });

  test('that the ledger lacks is missing, with the whole of it', async () => {
    const { run, alertOf } = setUp({ pages: [[item(1)]] });
    const { missing, missingItems, counts } = await run();
    expect(missing).toEqual([
      { alertId: alertOf(item(1)).id, itemId: 'i-1', txHash: item(1).txHash, assessment: 'critical' },
    ]);
    expect(missingItems).toEqual([item(1)]);
    expect(counts.unread).toBe(0);
  });

  test('that no trigger asks for is unwanted', async () => {
    const { run } = setUp({ pages: [[item(1)]], skipped: ['i-1'] });
    expect(await run()).toMatchObject({ counts: { unwanted: 1 }, missing: [] });
  });

  test('that a poll may still bring is unread, unless polls have seen it', async () => {
    const late = item(200);
    const unread = setUp({ pages: [[late]] });
    expect(await unread.run()).toMatchObject({ counts: { unread: 1 }, missing: [] });
    const seen = setUp({ pages: [[late]] });
    await seen.cursors.begin(TRACK, { start: T0, position: T0, sweptTo: T0 });
    await seen.remember(TRACK, [identityOf(seen.alertOf(late), T0)]);
    expect(await seen.run()).toMatchObject({ counts: { unread: 0 }, missing: [{ itemId: 'i-200' }] });
  });

  test('counts once however often it is listed, and only in the window', async () => {
    const before = item(-1);
    const undated = item(3, { dates: {} });
    const calm = item(4, { assessment: 'ok' });
    const { asked, run } = setUp({
      pages: [
        [before, item(1), undated],
        [item(1), calm, item(2)],
      ],
    });
    expect((await run()).missing.map(({ itemId }) => itemId)).toEqual(['i-1', 'i-2']);
    expect(asked).toEqual([WINDOW.since - 900_000]);
  });
});

test('alerts that only the ledger has are named', async () => {
  const { record, run, alertOf } = setUp({ pages: [[item(1)]] });
  await record(item(1), 'delivered');
  const gone = alertOf(item(2)).id;
  expect((await run([alertOf(item(1)).id, gone])).onlyBooked).toEqual([gone]);
});

describe('the statistics of the service', () => {
  test('are named where they disagree with the list', async () => {
    expect((await setUp({ pages: [[item(1)]], critical: 5 }).run()).disagreement).toEqual({ critical: 5, listed: 1 });
  });

  test.each([[1], [undefined]])('are not where they agree or do not come: %s', async (critical) => {
    const options = { pages: [[item(1)]], ...(critical === undefined ? {} : { critical }) };
    expect((await setUp(options).run()).disagreement).toBeUndefined();
  });
});
