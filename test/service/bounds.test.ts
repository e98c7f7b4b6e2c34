/** A service that gives more than anybody could want: each bound cuts it off, says so, and leaves the rest. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_PROTOCOLS } from '../../src/item.ts';
import { createServiceClock } from '../../src/service/client.ts';
import { MOST_VALUES, tooManyValuesAt } from '../../src/service/exchange.ts';
import { listAssets, listProtocols } from '../../src/service/listing.ts';
import { walkPages } from '../../src/service/paginate.ts';
import { MOST_ELEMENTS } from '../../src/service/wire.ts';
import { clientOf, failureOf, never, serve } from './harness.ts';

/** `answer` gets the page number and size that were asked for, and how often was asked before. */
const setUp = async (answer: (number: number, size: number, before: number) => string) => {
  const requests: string[] = [];
  const origin = await serve((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x');
    const before = requests.push(request.url ?? '') - 1;
    response.end(answer(Number(searchParams.get('pageNumber') ?? 0), Number(searchParams.get('pageSize')), before));
  });
  const client = clientOf(origin);
  const service = { client, clock: createServiceClock(Date.now) };
  const inspections = () => client.listInspections({ protocol: 'Vault' }, never);
  return { client, service, inspections, requests };
};

const tiny = (count: number, element: string): string => `{"page":[${Array(count).fill(element).join(',')}]}`;
const inspection = (id: string) => ({ _id: id, assessment: 'critical' });

test('a page of too many elements is not read', async () => {
  const { inspections } = await setUp(() => tiny(MOST_ELEMENTS + 1, '{}'));
  const error = await failureOf(inspections());
  expect(error).toMatchObject({ reason: 'unreadable', bound: 'page-elements' });
  expect(error.message).toMatch(/200, but a page with 100001 elements, more than 100000$/);
});

test('a page of just as many elements as may be is read', async () => {
  const { inspections } = await setUp(() => tiny(MOST_ELEMENTS, '{}'));
  expect((await inspections()).malformed).toHaveLength(MOST_ELEMENTS);
});

test('an answer of too many values is not even parsed', async () => {
  const { inspections } = await setUp(() => tiny(MOST_VALUES, '0'));
  const error = await failureOf(inspections());
  expect(error).toMatchObject({ reason: 'unreadable', bound: 'answer-values' });
  expect(error.message).toMatch(/the answer has more than 2000000 values$/);
});

test('where smaller pages have fewer, nothing is lost', async () => {
  const all = Array.from({ length: 100 }, (_, n) => inspection(`i-${n}`));
  const { client } = await setUp((number, size) =>
    size > 40 ? tiny(MOST_ELEMENTS + 1, '{}') : JSON.stringify({ page: all.slice(number * size, (number + 1) * size) }),
  );
  const ids: string[] = [];
  const fetchPage = (pageNumber: number | undefined, pageSize: number | undefined) =>
    client.listInspections({ protocol: 'Vault', pageNumber, pageSize }, never);
  for await (const { items } of walkPages(fetchPage, ({ id }) => id, { pageSize: 100 }))
    ids.push(...items.map(({ id }) => id));
  expect(ids).toEqual(all.map(({ _id }) => _id));
});

/** What is huge is asked for many times, and written once. */
const written = new WeakMap<object, string>();
const textOf = (protocol: object): string => {
  const text = written.get(protocol) ?? JSON.stringify(protocol);
  written.set(protocol, text);
  return text;
};

const listingOf = (protocols: object[]): string =>
  `[{"page":[${protocols.map((protocol) => `{"protocols":${textOf(protocol)}}`).join(',')}]}]`;

test.each(['listProtocols', 'listAssets'])('an endless listing is read so far (%s)', async (which) => {
  const { service, requests } = await setUp((_number, _size, before) =>
    listingOf(Array.from({ length: 1500 }, (_, n) => ({ descriptor: `p-${before}-${n}`, assets: [] }))),
  );
  if (which === 'listProtocols') {
    const { protocols, unfinished } = await listProtocols(service, never);
    expect(new Set(protocols.map(({ name }) => name)).size).toBe(MOST_PROTOCOLS);
    expect(unfinished).toMatchObject({ bound: 'protocols' });
    expect(unfinished?.message).toBe('the listing has more than 10000 protocols');
  } else {
    const { assets, unfinished } = await listAssets(service, never);
    expect(assets.size).toBe(MOST_PROTOCOLS);
    expect(unfinished).toMatchObject({ bound: 'protocols' });
  }
  expect(requests).toHaveLength(7);
});

test('a listing of just as many protocols as may be is whole', async () => {
  const { service } = await setUp((number) =>
    listingOf(
      Array.from({ length: number > 10 ? 0 : 1000 }, (_, n) => ({ descriptor: `p-${Math.max(1, number)}-${n}` })),
    ),
  );
  const { protocols, unfinished } = await listProtocols(service, never);
  expect(protocols).toHaveLength(MOST_PROTOCOLS);
  expect(unfinished).toBeUndefined();
});

test('what cannot be read counts as well', async () => {
  const { service } = await setUp((_number, _size, before) =>
    listingOf(Array.from({ length: 6000 }, (_, n) => ({ protocolId: `${before}-${n}` }))),
  );
  const { malformed, unfinished } = await listProtocols(service, never);
  expect(malformed).toHaveLength(MOST_PROTOCOLS);
  expect(unfinished).toMatchObject({ bound: 'protocols' });
});

test('a listing that is large by its contacts is read so far', async () => {
  const { service, requests } = await setUp((_number, _size, before) => {
    const notificationChannels = [{ name: 'email', contacts: Array(1000).fill('x'.repeat(450)) }];
    const settings = { notificationChannels };
    return listingOf(Array.from({ length: 15 }, (_, n) => ({ descriptor: `p-${before}-${n}`, settings })));
  });
  const { protocols, unfinished } = await listProtocols(service, never);
  expect(protocols).toHaveLength(120);
  expect(unfinished).toMatchObject({ bound: 'listing-size' });
  expect(requests).toHaveLength(8);
});

test('of a protocol with too many contacts the first are used, and the bound is reported', async () => {
  const contacts = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}-${n}@x.example`);
  const notificationChannels = [
    { name: 'webhook', url: 'https://x.example' },
    { name: 'email', contacts: contacts(3000, 'a') },
    { name: 'email', contacts: contacts(3000, 'b') },
    { name: 'email', contacts: contacts(3000, 'c') },
    { name: 'slack', url: 'https://y.example' },
  ];
  const crowded = { descriptor: 'Crowded', settings: { notificationChannels } };
  const { service } = await setUp((number) => listingOf(number > 1 ? [] : [crowded, { descriptor: 'Vault' }]));
  const { protocols, malformed, unfinished } = await listProtocols(service, never);
  expect(unfinished).toBeUndefined();
  expect(protocols.map(({ name }) => name)).toEqual(['Crowded', 'Vault']);
  expect(protocols[0]?.channels).toEqual([
    notificationChannels[0],
    notificationChannels[1],
    { name: 'email', contacts: contacts(1999, 'b') },
  ]);
  expect(malformed).toEqual([
    {
      name: 'Crowded',
      problem: '9002 contacts, of which the first 5000 are used',
      raw: { descriptor: 'Crowded' },
      bound: 'contacts',
    },
  ]);
});

/** A list of protocols that is read page by page. */
const listProtocolsOf = async (all: object[]) => {
  const { service, requests } = await setUp((number, asked) =>
    listingOf(all.slice(number * asked, (number + 1) * asked)),
  );
  return { ...(await listProtocols(service, never)), requests: requests.length };
};

const NAMES = Array.from({ length: 12 }, (_, n) => `p${n}`);

test.each([0, 5, 12])(
  'a decoy with too many contacts is left out by its name, and hides no other (at %i)',
  async (at) => {
    const contacts = Array<string>(2_100_000).fill('');
    const huge = { descriptor: 'Decoy', setttings: { notificationChannels: [{ name: 'email', contacts }] } };
    const all = NAMES.map((descriptor) => ({ descriptor }));
    const { protocols, malformed, unfinished } = await listProtocolsOf(all.toSpliced(at, 0, huge));
    expect(protocols.map(({ name }) => name)).toEqual(NAMES);
    expect(unfinished).toBeUndefined();
    expect(malformed).toMatchObject([{ name: 'Decoy', problem: 'more than 2000000 values', bound: 'answer-values' }]);
  },
);

test.each([0, 1, 777, 1999])(
  'behind a decoy that is too large pages grow again, and no other protocol is lost (at %i)',
  async (at) => {
    const names = Array.from({ length: 2000 }, (_, n) => `p${n}`);
    const huge = { descriptor: 'Decoy', settings: { notificationChannels: Array(2_100_000).fill(0) } };
    const all: object[] = names.map((descriptor) => ({ descriptor }));
    const answered = await listProtocolsOf(all.toSpliced(at, 0, huge));
    expect(answered.protocols.map(({ name }) => name)).toEqual(names);
    expect(answered.unfinished).toBeUndefined();
    expect(answered.requests).toBeLessThan(100);
  },
);

test('decoys in many places cost less than reading one by one, and hide nothing', async () => {
  const names = Array.from({ length: 600 }, (_, n) => `p${n}`);
  const huge = JSON.stringify({ descriptor: 'Decoy', settings: { notificationChannels: Array(2_100_000).fill(0) } });
  const all = names.flatMap((descriptor, n) => (n % 150 === 0 ? ['huge', descriptor] : [descriptor]));
  const { service, requests } = await setUp((number, size) => {
    const some = all.slice(number * size, (number + 1) * size);
    return `[{"page":[${some.map((one) => `{"protocols":${one === 'huge' ? huge : JSON.stringify({ descriptor: one })}}`)}]}]`;
  });
  const { protocols, malformed, unfinished } = await listProtocols(service, never);
  expect(protocols.map(({ name }) => name)).toEqual(names);
  expect([unfinished, new Set(malformed.map(({ name }) => name))]).toEqual([undefined, new Set(['Decoy'])]);
  expect(requests.length).toBeLessThan(300);
});

test('settings that are large leave room for the others, and are seen to change', async () => {
  const [long, other] = ['a', 'b'].map((word) => word.repeat(600_000));
  const items = Array.from({ length: 60 }, (_, n) => ({
    name: `large ${n}`,
    channels: [{ name: 'email', contacts: ['a@x.example', long ?? '', 'b@x.example'] }],
    triggers: { critical: { detectionsGroup: [[(n === 7 ? other : long) ?? '']], actions: ['notification'] } },
    detectors: [{ name: 'mixer', config: (n === 7 ? other : long) ?? '' }],
    raw: {},
  }));
  const pages = [
    { items: items.slice(0, 30), malformed: [] },
    { items: items.slice(30), malformed: [] },
  ];
  const client = { pageSize: 30, listProtocols: async () => pages.shift() ?? { items: [], malformed: [] } };
  const listing = await listProtocols({ client, clock: createServiceClock(Date.now) }, never);
  const { protocols, settings, malformed, unfinished } = listing;
  expect([protocols.length, unfinished]).toEqual([60, undefined]);
  expect(protocols[0]).toMatchObject({
    channels: [{ contacts: ['a@x.example', 'b@x.example'] }],
    notifyOn: ['critical'],
  });
  expect(malformed.slice(0, 2)).toMatchObject([
    { name: 'large 0', problem: '3 contacts, of which the first 2 are used' },
    { name: 'large 0', bound: 'listing-size' },
  ]);
  const [first, , third, changed] = [0, 1, 2, 7].map((n) => [settings[n]?.triggers, settings[n]?.detectors]);
  expect(third).toEqual(first);
  expect(changed?.[0]).not.toEqual(first?.[0]);
  expect(changed?.[1]).not.toEqual(first?.[1]);
});

test('a list that does not end by its pages or by its items is given up', async () => {
  let asked = 0;
  const walk = async (options: { maxPages: number } | { maxItems: number }) => {
    asked = 0;
    const fetchPage = async () => {
      asked += 1;
      return { items: [`${asked}-a`, `${asked}-b`], malformed: [] };
    };
    for await (const { items } of walkPages(fetchPage, (id: string) => id, options)) expect(items).toHaveLength(2);
  };
  await expect(walk({ maxPages: 5 })).rejects.toMatchObject({ bound: 'list-pages' });
  expect(asked).toBe(5);
  await expect(walk({ maxItems: 6 })).rejects.toMatchObject({ bound: 'list-items', reason: 'unreadable' });
  expect(asked).toBe(3);
});

test('long identities are told apart by all of their characters', async () => {
  const long = 'x'.repeat(1000);
  const pages = [[`${long}1`, `${long}2`], [`${long}2`, `${long}3`], []];
  const found: string[] = [];
  const fetchPage = async () => ({ items: pages.shift() ?? [], malformed: [] });
  for await (const { items } of walkPages(fetchPage, (id: string) => id)) found.push(...items);
  expect(found).toEqual([`${long}1`, `${long}2`, `${long}3`]);
});

/** What precedes each value, counted after parsing. */
const countOf = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return Math.max(1, inner.length) + inner.reduce((sum: number, one) => sum + countOf(one), 0);
};

test('values are counted whatever the texts among them hold', () => {
  const text = fc.string({ unit: fc.constantFrom('"', '\\', ',', '[', '{', 'é', 'a', '\n') });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  }));
  fc.assert(
    fc.property(value, (json) => {
      const written = JSON.stringify(json);
      const count = countOf(json);
      // An answer too short to hold that many is not searched.
      expect(tooManyValuesAt(written, count)).toBeUndefined();
      if (count > 0) expect(tooManyValuesAt(written, count - 1)).toBeDefined();
    }),
    { numRuns: 300 },
  );
});
