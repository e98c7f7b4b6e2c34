/** Pages that are larger than what is read of one answer, over a real service. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Quirks } from '../../src/sandbox/service/quirks.ts';
import { createSandboxService } from '../../src/sandbox/service/service.ts';
import { createSecret } from '../../src/secret.ts';
import { createServiceClock } from '../../src/service/client.ts';
import { createFeed } from '../../src/service/feed.ts';
import { listAssets, listProtocols } from '../../src/service/listing.ts';
import { createLookup } from '../../src/service/lookup.ts';
import { createListStyles } from '../../src/service/styles.ts';
import { pageOfOversized } from '../../src/service/wire.ts';
import { clientOf, failureOf, never } from './harness.ts';

const API_KEY = 'oversized-key';
const PROTOCOL = 'Vault';
const T0 = Date.UTC(2026, 10, 20, 10);
const BOUND = 20_000;
const LARGE = 5000;
const GIANT = 2 * BOUND;

const setUp = async (quirks: Partial<Quirks> = {}, pageSize = 16) => {
  const sandbox = createSandboxService({ apiKeys: [{ apiKey: API_KEY, protocols: [{ name: PROTOCOL }] }], quirks });
  onTestFinished(() => sandbox.stop());
  const { url } = await sandbox.start();
  const client = clientOf(url, { apiKey: createSecret(API_KEY), pageSize, maxBodyBytes: BOUND });
  const clock = createServiceClock(Date.now);
  const openFeed = () =>
    createFeed(
      client,
      clock,
      {},
      createListStyles('repeat', () => {}),
    );
  const insert = (count: number, sizeOf: (n: number) => number): string[] =>
    Array.from({ length: count }, (_, n) => {
      const at = T0 + n * 1000;
      const detections = { mixer: { status: 'detected', message: 'x'.repeat(sizeOf(n)) } };
      return sandbox.insertInspection({ createdAt: at, updatedAt: at, txTimestamp: at, detections })._id;
    });
  const read = async (thorough = false) => {
    const ids = new Set<string>();
    const malformed: unknown[] = [];
    for await (const page of openFeed().inspections(PROTOCOL, T0 - 1000, never, thorough)) {
      for (const { itemId } of page.items) ids.add(itemId);
      for (const { raw } of page.malformed) malformed.push(raw);
    }
    return { ids: [...ids].toSorted(), malformed };
  };
  return { sandbox, client, clock, insert, read };
};

test.each([false, true])('pages that are too large are read in smaller ones (thorough: %s)', async (thorough) => {
  const { insert, read } = await setUp();
  const ids = insert(20, () => LARGE);
  expect(await read(thorough)).toEqual({ ids: ids.toSorted(), malformed: [] });
});

test('inspections that are read again by id come in smaller lists; of one that alone is too large nobody can say', async () => {
  const { client, clock, insert } = await setUp();
  const ids = insert(20, (n) => (n === 11 ? GIANT : LARGE));
  const sightings = await createLookup(client, clock)(
    PROTOCOL,
    ids.map((itemId) => ({ itemId })),
    never,
  );
  expect(ids.map((id) => sightings.get(id)?.kind)).toEqual(ids.map((_, n) => (n === 11 ? 'unsure' : 'found')));
});

test.each([false, true])('an item that alone is too large is set aside by its id (thorough: %s)', async (thorough) => {
  const { insert, read } = await setUp();
  const ids = insert(40, (n) => (n === 25 ? GIANT : 10));
  const found = await read(thorough);
  expect(found.ids).toEqual(ids.filter((_, n) => n !== 25).toSorted());
  expect(new Set(found.malformed.map((raw) => JSON.stringify(raw))).size).toBe(1);
  expect(found.malformed[0]).toMatchObject({ _id: ids[25], protocol: PROTOCOL, txHash: expect.any(String) });
});

test('whatever the service does with pages, only what is too large by itself is missing', async () => {
  const sizes = fc.array(fc.constantFrom(10, 10, 10, LARGE, GIANT), { minLength: 1, maxLength: 40 });
  const quirks = fc.record({
    firstPage: fc.constantFrom<0 | 1>(0, 1),
    behindLastPage: fc.constantFrom('empty', 'last', 'missing', 'reject'),
    emptyPage: fc.constantFrom('list', 'missing'),
    maxPageSize: fc.integer({ min: 3, max: 20 }),
    pageNumberEcho: fc.constantFrom('number', 'missing'),
    pageOverlap: fc.integer({ min: 0, max: 2 }),
    ignoresSort: fc.boolean(),
    ignoredBounds: fc.constantFrom('none', 'both'),
    contentEncoding: fc.constantFrom('identity', 'gzip'),
  } satisfies { [Name in keyof Quirks]?: fc.Arbitrary<Quirks[Name]> });
  const { sandbox, insert, read } = await setUp();
  await fc.assert(
    fc.asyncProperty(sizes, quirks, fc.boolean(), async (list, chosen, thorough) => {
      for (const { _id } of sandbox.inspections()) sandbox.removeInspection(_id);
      sandbox.resetQuirks();
      sandbox.changeQuirks(chosen);
      const ids = insert(list.length, (n) => list[n] ?? 0);
      const found = await read(thorough);
      expect(found.ids).toEqual(ids.filter((_, n) => list[n] !== GIANT).toSorted());
      const giants = new Set(ids.filter((_, n) => list[n] === GIANT));
      expect(new Set(found.malformed.map((raw) => (raw as { _id: string })._id))).toEqual(giants);
    }),
    { numRuns: 60 },
  );
});

test.each([false, true])('a service that takes no notice of the page size loses nothing unsaid (%s)', async (late) => {
  const { insert, read } = await setUp({ ignoresPageSize: true, defaultPageSize: 8 });
  insert(20, (n) => (n < 8 === !late ? LARGE : 10));
  const error = await failureOf(read());
  expect(error).toMatchObject({ reason: 'unreadable', bound: 'answer-bytes' });
  expect(error.message).toBe('main: GET inspections of "Vault": the answer is too large');
});

test('a listing whose assets are too large comes in smaller pages', async () => {
  const { sandbox, client, clock } = await setUp();
  const asset = (n: number) => ({
    chainId: 1,
    abi: '',
    address: `0x${n}`,
    admins: ['a'.repeat(LARGE)],
    descriptor: 'x',
  });
  const names = ['A', 'B', 'C', 'D', 'E'];
  for (const [n, name] of names.entries()) sandbox.addProtocol(API_KEY, { name, assets: [asset(n)] });
  const listed = await listAssets({ client, clock }, never);
  expect([...listed.assets.keys()]).toEqual([PROTOCOL, ...names]);
  expect(listed.unfinished).toBeUndefined();
});

test.each([0, 3, 9])(
  'a protocol that alone is too large is left out by its name, and hides no other (at %i)',
  async (at) => {
    const { sandbox, client, clock } = await setUp();
    const names = Array.from({ length: 9 }, (_, n) => `p${n}`);
    sandbox.removeProtocol({ protocol: PROTOCOL });
    for (const name of names.toSpliced(at, 0, 'Decoy')) {
      const contacts = name === 'Decoy' ? ['x'.repeat(GIANT)] : [];
      sandbox.addProtocol(API_KEY, { name, channels: [{ name: 'email', contacts }] });
    }
    const { protocols, malformed, unfinished } = await listProtocols({ client, clock }, never);
    expect(protocols.map(({ name }) => name)).toEqual(names);
    expect([unfinished, malformed]).toMatchObject([undefined, [{ name: 'Decoy', bound: 'answer-bytes' }]]);
  },
);

describe('the beginning of an answer with one item', () => {
  const rawOf = (start: string) =>
    pageOfOversized({ start, problem: 'larger than 100 bytes', bound: 'answer-bytes' })?.malformed[0]?.raw;

  test('tells what stands directly in the item', () => {
    const start = '{"total":9,"page":[{"a":{"_id":"no"},"s":"\\"}],","_id":"y\\"es","createdAt":17,"big":"xx';
    expect(rawOf(start)).toEqual({ _id: 'y"es', createdAt: 17 });
    expect(pageOfOversized({ start, problem: 'larger than 100 bytes', bound: 'answer-bytes' })).toMatchObject({
      items: [],
      malformed: [{ problem: 'larger than 100 bytes' }],
    });
  });

  test('of an item without id is shown', () => {
    expect(rawOf('{"page":[{"big":"xx')).toBe('{"big":"xx');
  });

  test.each(['{"page":[{"_id":"a"},{"_id":"b', '{"page":[]', '{"page":["x', '[[', '', ' '.repeat(1000)])(
    'says nothing where the item ends, or is none: %j',
    (start) => expect(rawOf(start)).toBeUndefined(),
  );
});
