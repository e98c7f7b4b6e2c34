/** The audit of one protocol: which window is compared, and when missing items are dispatched. */
import { expect, test } from 'vitest';
import type { Alert } from '../../../src/alert.ts';
import { type AuditWindow, createProtocolAudit } from '../../../src/features/audit/protocol.ts';
import type { Item } from '../../../src/item.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createCursors } from '../../../src/poll/cursor.ts';
import type { Unknown } from '../../../src/poll/ingest.ts';
import { createSeen } from '../../../src/poll/seen.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openCommits } from '../../support/commits.ts';
import { makeItem, T0 } from '../../support/items.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const TRACK = { service: 'main', source: 'inspections', protocol: 'Vault' } as const;
const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = T0 + DAY;

const setUp = ({ items = [] as Item[], now = NOW } = {}) => {
  const { redis, prefix } = openTestRedis();
  const time = { now };
  const index = { trimmedTo: undefined as number | undefined };
  const cursors = createCursors(redis, prefix);
  const { advance } = openCommits(redis, prefix);
  const ledger = createLedger(redis, prefix, () => time.now);
  const ingested: { items: readonly Item[]; unknown: Unknown }[] = [];
  const answers: (Alert[] | undefined)[] = [];
  const auditProtocol = createProtocolAudit({
    settings: {
      assessments: ['critical'],
      sources: ['inspections'],
      lookback: 15 * MINUTE,
      overlap: MINUTE,
      lostAfter: 60_000,
    },
    cursors,
    ledger,
    alertIndex: { trimmedTo: async () => index.trimmedTo, open: async () => [], between: async () => [] },
    seen: createSeen(redis, prefix),
    lateItems: {
      ingest: async (_track, some, unknown) => {
        ingested.push({ items: some, unknown });
        time.now += 6000;
        return answers.length > 0 ? answers.shift() : [];
      },
    },
    serviceOf: () => ({
      feed: {
        async *inspections() {
          yield { items, malformed: [], size: items.length, short: false };
        },
        notifications: () => {
          throw new Error('never asked');
        },
      },
      client: { inspectionStats: async () => Promise.reject(new Error('no statistics')) },
      clock: { now: () => time.now + 5000 },
      lookUp: async () => new Map(),
    }),
    routesOf: async () => ({}),
    now: () => time.now,
  });
  const begin = async (start: number, sweptAt?: number) => {
    await cursors.begin(TRACK, { start, position: start, sweptTo: start });
    await advance(TRACK, { sweptAt });
  };
  const windows: AuditWindow[] = [];
  const run = (since?: number, isHealing = false) =>
    auditProtocol(
      TRACK,
      [],
      {
        since: () => since,
        isHealing,
        isThorough: false,
        onAudited: async (_audit, window) => void windows.push(window),
      },
      new AbortController().signal,
    );
  return { cursors, advance, ledger, ingested, answers, begin, run, windows, index };
};

test('a track that no sweep has read to the end is not compared', async () => {
  const { begin, run, windows } = setUp();
  const problem = { problem: 'no sweep has read it to the end yet' };
  expect(await run()).toEqual(problem);
  await begin(T0);
  expect(await run()).toEqual(problem);
  expect(windows).toEqual([]);
});

test('the window begins where the ledger does, and is closed behind the last sweep', async () => {
  const { begin, run, windows } = setUp();
  await begin(T0, NOW - MINUTE);
  await run();
  await run(T0 - DAY);
  await run(T0 + 3 * MINUTE);
  const rest = { closed: NOW - 17 * MINUTE, until: NOW + 5000 };
  expect(windows).toEqual([
    { since: T0, ...rest },
    { since: T0, ...rest },
    { since: T0 + 3 * MINUTE, ...rest },
  ]);
});

test('a sweep or a mark that is ahead of the service does not move the window ahead', async () => {
  const { begin, run, windows } = setUp();
  await begin(T0, NOW + 60 * MINUTE);
  await run(NOW + 44 * MINUTE);
  expect(windows).toEqual([{ since: T0, closed: NOW + 5000 - 16 * MINUTE, until: NOW + 5000 }]);
});

test('nothing is compared from before the cursor was set in this Redis, or that the ledger has forgotten', async () => {
  const moved = setUp();
  await moved.begin(T0, NOW);
  await moved.cursors.set(TRACK, T0 + 10 * MINUTE);
  await moved.advance(TRACK, { sweptAt: NOW });
  await moved.run();
  expect(moved.windows[0]?.since).toBe(T0 + 10 * MINUTE);
  const old = setUp({ now: T0 + 40 * DAY });
  await old.begin(T0, T0 + 40 * DAY);
  await old.run();
  expect(old.windows[0]?.since).toBe(T0 + 6 * DAY);
});

test('nothing is compared that the ledger has removed because it was full, and the report says so', async () => {
  const { begin, run, windows, index, ingested } = setUp({ items: [makeItem(1), makeItem(600)] });
  await begin(T0, NOW);
  index.trimmedTo = T0 + 5 * MINUTE;
  expect(await run(T0, true)).toMatchObject({
    audit: { listed: 1, missing: [{ itemId: 'i-600' }], trimmedTo: new Date(T0 + 5 * MINUTE).toISOString() },
  });
  expect(ingested.map(({ items }) => items.map(({ itemId }) => itemId))).toEqual([['i-600']]);
  expect(windows[0]?.since).toBe(T0 + 5 * MINUTE);
  expect(await run(T0 + 6 * MINUTE)).not.toHaveProperty('audit.trimmedTo');
});

test('missing items are dispatched only where that is asked for', async () => {
  const { begin, run, ingested } = setUp({ items: [makeItem(1)] });
  await begin(T0, NOW);
  expect(await run()).toMatchObject({ audit: { missing: [{ itemId: 'i-1' }], healed: 0 } });
  expect(ingested).toEqual([]);
  expect(await run(undefined, true)).toMatchObject({ audit: { missing: [{ itemId: 'i-1' }], healed: 1 } });
  expect(ingested.map(({ items }) => items)).toEqual([[makeItem(1)]]);
});

test('a track that is being polled is waited for, but not for ever', async () => {
  const soon = setUp({ items: [makeItem(1)] });
  await soon.begin(T0, NOW);
  soon.answers.push(undefined);
  expect(await soon.run(undefined, true)).toMatchObject({ audit: { healed: 1 } });
  expect(soon.ingested).toHaveLength(2);
  const never = setUp({ items: [makeItem(1)] });
  await never.begin(T0, NOW);
  never.answers.push(undefined, undefined, undefined, undefined);
  expect(await never.run(undefined, true)).toMatchObject({ audit: { healed: 0 } });
  expect(never.ingested).toHaveLength(3);
});

test('an alert with a record of its own is no late item, one with an emptied record is', async () => {
  const { ledger, begin, run, ingested } = setUp({ items: [makeItem(1)] });
  await begin(T0, NOW);
  await run(undefined, true);
  const [known, unknown] = [makeAlert(1), makeAlert(2)];
  await ledger.recordWaiting([{ destination: destinationOf('slack', 'C1'), alerts: [known] }]);
  expect(await ingested[0]?.unknown(TRACK, [known, unknown])).toEqual([unknown]);
});
