/** The client against the sandbox's own idea of the service: all eight endpoints, its quirks and its faults. */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Fault } from '../../src/sandbox/service/faults.ts';
import type { Quirks } from '../../src/sandbox/service/quirks.ts';
import { createSandboxService, type SandboxService } from '../../src/sandbox/service/service.ts';
import { createSecret } from '../../src/secret.ts';
import type { ServiceClient } from '../../src/service/client.ts';
import { walkPages } from '../../src/service/paginate.ts';
import { type Inspection, notificationId, type Page } from '../../src/service/wire.ts';
import { clientOf, failureOf, never } from './harness.ts';

const API_KEY = 'sandbox-test-key';
const T0 = Date.UTC(2026, 10, 20, 10);
const NAMES = ['Vault', 'A/B <b>&_*', 'Ünï 漢字 🧨'];
const [VAULT = '', SLASH = '', UNICODE = ''] = NAMES;

const startSandbox = async (quirks: Partial<Quirks> = {}): Promise<{ sandbox: SandboxService; url: string }> => {
  const protocols = NAMES.map((name) => ({ name, channels: [{ name: 'slack', contacts: ['C1'] }] }));
  const sandbox = createSandboxService({ apiKeys: [{ apiKey: API_KEY, protocols }], quirks });
  onTestFinished(() => sandbox.stop());
  return { sandbox, url: (await sandbox.start()).url };
};

const setUp = async (quirks: Partial<Quirks> = {}, changes: Parameters<typeof clientOf>[1] = {}) => {
  const { sandbox, url } = await startSandbox(quirks);
  return { sandbox, client: clientOf(url, { apiKey: createSecret(API_KEY), ...changes }) };
};

const fill = (sandbox: SandboxService, count: number, protocol = VAULT): string[] =>
  Array.from({ length: count }, (_, n) => {
    const at = T0 + n * 1000;
    const dates = { createdAt: at, updatedAt: at + 10, txTimestamp: at - 300 };
    return sandbox.insertInspection({ protocol, assessment: 'critical', ...dates })._id;
  });

const walkInspections = async (client: ServiceClient, protocol = VAULT): Promise<Inspection[]> => {
  const fetchPage = (pageNumber: number | undefined): Promise<Page<Inspection>> =>
    client.listInspections({ protocol, sort: 'asc', pageNumber }, never);
  const found: Inspection[] = [];
  for await (const { items, malformed } of walkPages(fetchPage, ({ id }) => id)) {
    expect(malformed).toEqual([]);
    found.push(...items);
  }
  return found;
};

describe('endpoints', () => {
  test('protocols are created, extended, given channels, and listed so', async () => {
    const { client, sandbox } = await setUp();
    const asset = { chainId: 8453, abi: '[]', address: '0xaa', admins: ['0xbb'], descriptor: 'Pool' };
    const notificationChannels = [{ name: 'email', contacts: ['ops@example.com'] }];
    const created = await client.createProtocol({ protocolName: 'New', assets: [asset], notificationChannels }, never);
    const protocolId = created.protocolId ?? '';
    const more = { ...asset, address: '0xcc' };
    expect((await client.addAssets({ protocolId, assets: [asset, more] }, never)).changes?.added).toBe(1);
    const channels = [{ name: 'webhook', url: 'https://hooks.example.com/x' }];
    await client.replaceChannels({ protocolId, notificationChannels: channels }, never);

    const listed = (await client.listProtocols({ hideAssets: true }, never)).items;
    expect(listed.map(({ name }) => name).toSorted()).toEqual([...NAMES, 'New'].toSorted());
    const { raw, ...last } = listed.find(({ id }) => id === protocolId) ?? { raw: {} };
    expect(last).toMatchObject({ name: 'New', channels, tracking: true, triggers: { critical: {} } });
    expect(raw).not.toHaveProperty('assets');
    const [own] = sandbox.protocols(API_KEY).filter(({ name }) => name === 'New');
    expect(own?.assets.map(({ address }) => address)).toEqual(['0xaa', '0xcc']);
  });

  test('settings, statistics, inspections and notifications of names that need encoding', async () => {
    const { client, sandbox } = await setUp();
    for (const name of NAMES) {
      const [id] = fill(sandbox, 1, name);
      sandbox.insertNotification({ protocol: name, message: `of ${name}`, createdAt: T0, updatedAt: T0 });
      expect((await client.settings(name, never)).channels).toEqual([{ name: 'slack', contacts: ['C1'] }]);
      expect(await client.inspectionStats({ protocol: name }, never)).toMatchObject({ critical: 1, total: 1 });
      const { items } = await client.listInspections({ protocol: name }, never);
      expect(items).toMatchObject([{ id, protocol: name, assessment: 'critical', dates: { createdAt: T0 } }]);
    }
    const two = await client.listNotifications({ protocols: [SLASH, UNICODE], sort: 'asc' }, never);
    expect(two.items.map(({ message }) => message).toSorted()).toEqual([`of ${SLASH}`, `of ${UNICODE}`]);
    expect(new Set(two.items.map(notificationId)).size).toBe(2);
  });

  test('every filter of inspections finds what it names', async () => {
    const { client, sandbox } = await setUp();
    const [first = '', second = ''] = fill(sandbox, 3);
    const wanted = sandbox.insertInspection({
      protocol: VAULT,
      assessment: 'suspecious',
      chainId: 10,
      txOrigin: '0xfeed',
      assets: [{ address: '0xc0de', descriptor: 'Pool' }],
      detections: { mixer: { status: 'detected', message: 'm' } },
      createdAt: T0 + 60_000,
    });
    const ids = async (query: Partial<Parameters<ServiceClient['listInspections']>[0]>) =>
      (await client.listInspections({ protocol: VAULT, ...query }, never)).items.map(({ id }) => id);
    for (const query of [
      { id: [wanted._id] },
      { hash: wanted.txHash },
      { origin: '0xfeed' },
      { status: 'suspecious' },
      { detected: ['mixer'], chainId: 10 },
      { chainId: 10, contractAddress: '0xc0de' },
      { startDate: T0 + 2000 },
    ] as const)
      expect(await ids(query)).toEqual([wanted._id]);
    expect(await ids({ id: [first, second], sort: 'asc' })).toEqual([first, second]);
    expect(await ids({ endDate: new Date(T0 + 1000).toISOString() })).toEqual([first]);
  });

  test('a wrong key and an unknown protocol', async () => {
    const { url } = await startSandbox();
    const stranger = clientOf(url);
    expect(await failureOf(stranger.listProtocols({}, never))).toMatchObject({ reason: 'unauthorized', status: 401 });
    const known = clientOf(url, { apiKey: createSecret(API_KEY) });
    expect(await failureOf(known.settings('Nothing', never))).toMatchObject({ reason: 'missing', status: 404 });
  });
});

test.each(['repeat', 'brackets', 'comma'] as const)('both sides write lists in the style %s', async (arrayParams) => {
  const { client, sandbox } = await setUp({ arrayParams }, { arrayParams });
  const ids = fill(sandbox, 3).slice(0, 2);
  const { items } = await client.listInspections({ protocol: VAULT, id: ids, sort: 'asc' }, never);
  expect(items.map(({ id }) => id)).toEqual(ids);
});

describe('quirks', () => {
  test('no way of paging and of writing dates loses an inspection', async () => {
    const { client, sandbox } = await setUp();
    const ids = fill(sandbox, 53);
    const quirks = fc.record({
      firstPage: fc.constantFrom<0 | 1>(0, 1),
      belowFirstPage: fc.constantFrom('first', 'empty', 'reject'),
      pageNumberEcho: fc.constantFrom('number', 'string', 'missing'),
      maxPageSize: fc.integer({ min: 5, max: 60 }),
      totalCounts: fc.constantFrom('items', 'pages', 'page'),
      pageOverlap: fc.integer({ min: 0, max: 4 }),
      dateFormat: fc.constantFrom('iso', 'offset', 'milliseconds', 'seconds'),
      extraFields: fc.boolean(),
      nullArrays: fc.boolean(),
      emptyPage: fc.constantFrom('list', 'missing'),
    } satisfies { [Name in keyof Quirks]?: fc.Arbitrary<Quirks[Name]> });
    await fc.assert(
      fc.asyncProperty(quirks, async (chosen) => {
        sandbox.resetQuirks();
        sandbox.changeQuirks(chosen);
        const found = await walkInspections(client);
        expect(found.map(({ id }) => id)).toEqual(ids);
        expect(found.map(({ dates }) => dates)).toEqual(
          ids.map((_, n) => ({ createdAt: T0 + n * 1000, ...otherDates(n, chosen.dateFormat) })),
        );
      }),
      { numRuns: 60 },
    );
  });

  const otherDates = (n: number, format: Quirks['dateFormat']) => {
    const at = T0 + n * 1000;
    const dates = { updatedAt: at + 10, txTimestamp: at - 300 };
    if (format !== 'seconds') return dates;
    return { updatedAt: at, txTimestamp: at - 1000 };
  };

  test('lists whose empty pages have no list are read to their end', async () => {
    const { client, sandbox } = await setUp({ emptyPage: 'missing' }, { pageSize: 2 });
    expect(await walkInspections(client)).toEqual([]);
    const ids = fill(sandbox, 4);
    expect((await walkInspections(client)).map(({ id }) => id)).toEqual(ids);
  });

  test.each(['gzip', 'br', 'deflate'] as const)(
    'an answer and a refusal compressed with %s',
    async (contentEncoding) => {
      const { client, sandbox } = await setUp({ contentEncoding });
      const [id] = fill(sandbox, 1, UNICODE);
      expect(await walkInspections(client, UNICODE)).toMatchObject([{ id, protocol: UNICODE }]);
      const { message } = await failureOf(client.settings('Nothing', never));
      expect(message).toBe('main: GET settings of "Nothing": 404: no such protocol');
      expect(sandbox.requests()[0]?.headers['accept-encoding']).toBe('gzip, br');
    },
  );

  test('pages that slide while they are walked', async () => {
    const { client, sandbox } = await setUp({ shiftPages: 6 }, { pageSize: 4 });
    const ids = fill(sandbox, 30);
    const found = await walkInspections(client);
    expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  });

  test.each<Partial<Quirks>>([
    { listing: 'split' },
    { listedSettings: 'settings' },
    { listedSettings: 'missing' },
    { listedSettings: 'null' },
    { nullArrays: true, extraFields: true, pageNumberEcho: 'string' },
    { extraChannels: [{ name: 'pager', contacts: ['x'] }] },
    { emptyPage: 'missing' },
    { emptyPage: 'missing', firstPage: 0, pageNumberEcho: 'missing' },
  ])('the listing is read with %j', async (quirks) => {
    const { client } = await setUp(quirks, { pageSize: 2 });
    const fetchPage = (pageNumber: number | undefined) => client.listProtocols({ pageNumber }, never);
    const names: string[] = [];
    const kinds = new Set<string>();
    for await (const { items } of walkPages(fetchPage, ({ name }) => name)) {
      names.push(...items.map(({ name }) => name));
      for (const { channels } of items) for (const { name } of channels) kinds.add(name);
    }
    expect(names.toSorted()).toEqual(NAMES.toSorted());
    const hidden = quirks.listedSettings === 'missing' || quirks.listedSettings === 'null';
    expect([...kinds]).toEqual(hidden ? [] : ['slack', ...(quirks.extraChannels ? ['pager'] : [])]);
  });

  test.each<[Quirks['stats'], object | 'unreadable']>([
    ['numbers', { critical: 2, total: 2 }],
    ['strings', { critical: 2, total: 2 }],
    ['negative', { critical: 2 }],
    ['empty', { raw: {} }],
    ['null', 'unreadable'],
  ])('statistics as %s', async (stats, expected) => {
    const { client, sandbox } = await setUp({ stats });
    fill(sandbox, 2);
    const answer = client.inspectionStats({ protocol: VAULT }, never);
    if (expected === 'unreadable') expect((await failureOf(answer)).reason).toBe(expected);
    else expect(await answer).toMatchObject(expected);
  });

  test('pages carry the clock of the service', async () => {
    const { client, sandbox } = await setUp({ clockSkewMs: 3_600_000 });
    const { serverTime = 0 } = await client.listInspections({ protocol: VAULT }, never);
    expect(Math.abs(serverTime - sandbox.now())).toBeLessThan(60_000);
  });

  test.each(['json', 'nested', 'array', 'text', 'html', 'empty'] as const)(
    'an error with the body %s',
    async (errorBody) => {
      const { client } = await setUp({ errorBody });
      const { message } = await failureOf(client.settings('Nothing', never));
      const said = 'main: GET settings of "Nothing": 404';
      if (errorBody === 'empty') expect(message).toBe(said);
      else expect(message).toMatch(new RegExp(`^${said}: \\S[^<>{}]*$`));
    },
  );
});

describe('faults', () => {
  test.each<[Fault, string]>([
    [{ kind: 'status', status: 429, retryAfter: 3 }, 'limited'],
    [{ kind: 'status', status: 503, retryAfter: 'Fri, 20 Nov 2026 10:00:00 GMT' }, 'failed'],
    [{ kind: 'reset' }, 'unreachable'],
    [{ kind: 'hang' }, 'unreachable'],
    [{ kind: 'slow', durationMs: 60_000 }, 'unreachable'],
    [{ kind: 'cut' }, 'unreachable'],
    [{ kind: 'truncated' }, 'unreadable'],
    [{ kind: 'invalid-json' }, 'unreadable'],
    [{ kind: 'huge', bytes: 1_000_000 }, 'unreadable'],
    [{ kind: 'empty' }, 'unreadable'],
    [{ kind: 'redirect', location: 'https://elsewhere.example/x' }, 'rejected'],
    [{ kind: 'wrong-shape', body: { items: [] } }, 'unreadable'],
  ])('%j', async (fault, reason) => {
    const time = { now: T0 };
    const { client, sandbox } = await setUp(
      {},
      { timeout: 500, maxBodyBytes: 500_000, now: () => time.now, monotonic: () => time.now },
    );
    fill(sandbox, 2);
    sandbox.addFault({ fault });
    const error = await failureOf(client.listInspections({ protocol: VAULT }, never));
    expect(error.reason).toBe(reason);
    time.now += error.retryAfterMs ?? 0;
    expect((await client.listInspections({ protocol: VAULT }, never)).items).toHaveLength(2);
  });

  test('another content type, and an item that cannot be understood', async () => {
    const { client, sandbox } = await setUp();
    fill(sandbox, 2);
    sandbox.addFault({ fault: { kind: 'wrong-type', contentType: 'text/html' } });
    sandbox.addFault({ fault: { kind: 'malformed-item', item: { what: 1 } } });
    expect((await client.listInspections({ protocol: VAULT }, never)).items).toHaveLength(2);
    const page = await client.listInspections({ protocol: VAULT }, never);
    expect(page.items).toHaveLength(2);
    expect(page.malformed).toMatchObject([{ problem: 'neither _id nor txHash' }]);
  });
});
