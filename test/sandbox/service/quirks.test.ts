/** Where the interface is silent, the service can be set up either way. */
import { describe, expect, test } from 'vitest';
import type { Quirks } from '../../../src/sandbox/service/quirks.ts';
import { API_KEY, type Client, type Page, type Rig, startService } from '../client.ts';

/** Protocol `P` with inspections named after their second, 1 to `count`. */
const startWith = async (quirks: Partial<Quirks>, count = 5): Promise<Rig> => {
  const rig = await startService({ quirks, apiKeys: [{ apiKey: API_KEY, protocols: [{ name: 'P' }] }] });
  for (let second = 1; second <= count; second += 1)
    rig.service.insertInspection({ _id: String(second), createdAt: second * 1000 });
  return rig;
};

/** Pages from `first` on until one is empty. */
const walk = async (client: Client, first: number, query = 'pageSize=2&sort=asc'): Promise<string[][]> => {
  const pages: string[][] = [];
  for (let pageNumber = first; ; pageNumber += 1) {
    const names = await client.names(`/P/inspections?${query}&pageNumber=${pageNumber}`);
    if (names.length === 0) return pages;
    pages.push(names);
  }
};

const firstPage = (client: Client, query = ''): Promise<Page> => client.page(`/P/inspections?${query}`);

describe('paging', () => {
  test.each([0, 1] as const)('the first page is %i, also where none is named', async (first) => {
    const { client } = await startWith({ firstPage: first });
    expect(await walk(client, first)).toEqual([['1', '2'], ['3', '4'], ['5']]);
    expect((await firstPage(client)).pageNumber).toBe(first);
  });

  test('a number below the first page gives the first page, none, or an error', async () => {
    const { client, service } = await startWith({ firstPage: 1 });
    expect(await client.names('/P/inspections?pageNumber=0&pageSize=1')).toEqual(['5']);
    service.changeQuirks({ belowFirstPage: 'empty' });
    expect(await client.names('/P/inspections?pageNumber=0')).toEqual([]);
    service.changeQuirks({ belowFirstPage: 'reject' });
    expect((await client.get('/P/inspections?pageNumber=0')).status).toBe(400);
  });

  test('a number behind the last page gives none, the last page, 404 or 400', async () => {
    const { client, service } = await startWith({});
    const behind = '/P/inspections?pageSize=2&sort=asc&pageNumber=4';
    expect(await client.names(behind)).toEqual([]);
    service.changeQuirks({ behindLastPage: 'last' });
    expect(await client.names(behind)).toEqual(['5']);
    for (const [behindLastPage, status] of [
      ['missing', 404],
      ['reject', 400],
    ] as const) {
      service.changeQuirks({ behindLastPage });
      expect((await client.get(behind)).status).toBe(status);
      expect(await client.names('/P/inspections?pageSize=2&sort=asc&pageNumber=3')).toEqual(['5']);
    }
    service.changeQuirks({ behindLastPage: 'missing' });
    expect(await client.names('/P/inspections?hash=0x0')).toEqual([]);
  });

  test('the page number comes as number, as text, or not at all', async () => {
    const { client, service } = await startWith({});
    expect((await firstPage(client, 'pageNumber=2')).pageNumber).toBe(2);
    service.changeQuirks({ pageNumberEcho: 'string' });
    expect((await firstPage(client, 'pageNumber=2')).pageNumber).toBe('2');
    service.changeQuirks({ pageNumberEcho: 'missing' });
    expect(await firstPage(client)).not.toHaveProperty('pageNumber');
  });

  test('pages have a default size and a silent maximum', async () => {
    const { client } = await startWith({ defaultPageSize: 2, maxPageSize: 3 });
    expect((await firstPage(client)).page).toHaveLength(2);
    expect((await firstPage(client, 'pageSize=100')).page).toHaveLength(3);
  });

  test.each([
    ['items', 5],
    ['pages', 3],
    ['page', 2],
  ] as const)('total counts %s', async (totalCounts, total) => {
    const { client } = await startWith({ totalCounts });
    expect((await firstPage(client, 'pageSize=2')).total).toBe(total);
  });

  test('pages repeat items of the page before', async () => {
    const { client } = await startWith({ pageOverlap: 1 }, 4);
    expect(await walk(client, 1)).toEqual([['1', '2'], ['2', '3'], ['3', '4'], ['4']]);
  });

  test('items inserted in front shift what follows, so that nothing but a repeat is seen', async () => {
    const { client, service } = await startWith({ shiftPages: 1 }, 4);
    const pages = await walk(client, 1, 'pageSize=2&sort=dsc');
    expect(pages).toEqual([['4', '3'], ['3', '2'], ['1']]);
    expect(service.inspections()).toHaveLength(5);
    const [newest] = await client.names('/P/inspections?pageSize=1');
    expect(newest).toBe(service.inspections().at(-1)?._id);
    service.changeQuirks({ shiftPages: 1 });
    expect(await walk(client, 1, 'pageSize=3&sort=asc')).toEqual([
      ['1', '2', '3'],
      ['3', '4', newest],
    ]);
    const [oldest] = await client.names('/P/inspections?pageSize=1&sort=asc');
    expect(oldest).toBe(service.inspections().at(-1)?._id);
  });

  test('equal dates come in another order at each request, with no item lost', async () => {
    const { client, service } = await startWith({ unstableTies: true }, 0);
    for (let index = 0; index < 30; index += 1) service.insertInspection({ _id: String(index), createdAt: 1000 });
    const orders = [await client.names('/P/inspections?pageSize=30'), await client.names('/P/inspections?pageSize=30')];
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders.map((order) => order.toSorted().length)).toEqual([30, 30]);
    expect(new Set(orders[0])).toEqual(new Set(orders[1]));
    service.changeQuirks({ unstableTies: false });
    expect(await client.names('/P/inspections?pageSize=30')).toEqual(
      Array.from({ length: 30 }, (_, index) => `${index}`),
    );
  });
});

test('the default order can be turned round', async () => {
  const { client, service } = await startWith({}, 2);
  expect(await client.names('/P/inspections')).toEqual(['2', '1']);
  service.changeQuirks({ defaultSort: 'asc' });
  expect(await client.names('/P/inspections')).toEqual(['1', '2']);
});

describe('dates', () => {
  test('filters and order may use different dates', async () => {
    const { client, service } = await startWith({}, 0);
    service.insertInspection({ _id: 'a', createdAt: 1000, updatedAt: 9000, txTimestamp: 500 });
    service.insertInspection({ _id: 'b', createdAt: 2000, updatedAt: 8000, txTimestamp: 100 });
    const ask = (): Promise<string[]> =>
      client.names(`/P/inspections?sort=asc&startDate=${new Date(1500).toISOString()}`);
    expect(await ask()).toEqual(['b']);
    service.changeQuirks({ dateField: 'updatedAt' });
    expect(await ask()).toEqual(['a', 'b']);
    service.changeQuirks({ sortField: 'updatedAt' });
    expect(await ask()).toEqual(['b', 'a']);
    service.changeQuirks({ dateField: 'txTimestamp' });
    expect(await ask()).toEqual([]);
    service.insertNotification({ message: 'm', createdAt: 2000 });
    const since = `startDate=${new Date(1500).toISOString()}`;
    expect(await client.names(`/notifications?protocolName=P&${since}`)).toEqual(['m']);
  });

  test.each([
    ['iso', '1970-01-01T00:00:01.234Z'],
    ['offset', '1970-01-01T02:00:01.234+02:00'],
    ['seconds', 1],
    ['milliseconds', 1234],
  ] as const)('are written as %s', async (dateFormat, written) => {
    const { client, service } = await startWith({ dateFormat }, 0);
    service.insertInspection({ createdAt: 1234 });
    expect((await firstPage(client)).page[0]?.createdAt).toBe(written);
    if (typeof written === 'string') expect(Date.parse(written)).toBe(1234);
  });

  test('follow the clock of the service, as its Date header does', async () => {
    const now = Date.UTC(2026, 0, 1);
    const service = await startService({ now: () => now, quirks: { clockSkewMs: -90_000 } });
    const { createdAt } = service.service.insertInspection();
    expect(createdAt).toBe(now - 90_000);
    expect(service.service.now()).toBe(now - 90_000);
    const { headers } = await service.client.get('/protocols');
    expect(headers.get('date')).toBe(new Date(now - 90_000).toUTCString());
    expect(service.service.requests()[0]?.at).toBe(now);
  });
});

describe('shapes', () => {
  test('every object may carry fields that nobody documented', async () => {
    const { client } = await startWith({ extraFields: true }, 1);
    const answer = await firstPage(client);
    expect(answer).toMatchObject({ __v: 0, page: [{ _id: '1', __v: 0 }] });
    expect(answer.page[0]?.detections).not.toHaveProperty('__v');
    expect(await client.json('/protocols')).toMatchObject([{ __v: 0, page: [{ protocols: { __v: 0 } }] }]);
  });

  test('empty arrays may be null', async () => {
    const { client } = await startWith({ nullArrays: true }, 1);
    expect((await firstPage(client)).page[0]).toMatchObject({ actions: null, assets: null });
    expect((await firstPage(client, 'status=critical')).page).toBeNull();
    expect(await client.json('/protocols')).toMatchObject([
      { page: [{ protocols: { assets: null, setttings: { notificationChannels: null } } }] },
    ]);
  });

  test('an empty page may leave its list out', async () => {
    const { client } = await startWith({ emptyPage: 'missing' }, 1);
    expect((await firstPage(client)).page).toHaveLength(1);
    expect(await firstPage(client, 'pageNumber=2')).toEqual({ pageNumber: 2, total: 1 });
    expect(await client.json('/protocols?pageNumber=2')).toEqual([{ pageNumber: 2, total: 1 }]);
  });

  test('words that nobody documented', async () => {
    const { client, service } = await startWith(
      {
        assessmentWords: { critical: 'SEVERE' },
        statusWords: { detected: 'flagged' },
        extraChannels: [{ name: 'pager', contacts: ['x'] }],
      },
      0,
    );
    service.insertInspection({ assessment: 'critical' });
    service.insertInspection({ assessment: 'undecided', createdAt: 0 });
    expect((await firstPage(client)).page).toMatchObject([
      {
        assessment: 'SEVERE',
        detections: { drasticBalanceChange: { status: 'flagged' }, adminCall: { status: 'notDetected' } },
      },
      { assessment: 'undecided' },
    ]);
    expect(await client.json('/P/settings')).toMatchObject({ notificationChannels: [{ name: 'pager' }] });
    expect(JSON.stringify(await client.json('/protocols'))).toContain('pager');
  });

  test.each([
    ['numbers', { page: 1, critical: 0, suspicious: 0, total: 1 }],
    ['strings', { page: '1', critical: '0', suspicious: '0', total: '1' }],
    ['empty', {}],
    ['null', null],
    ['negative', { page: 1, critical: 0, suspicious: 0, total: -1 }],
  ] as const)('statistics as %s', async (stats, expected) => {
    const { client } = await startWith({ stats }, 1);
    expect(await client.json('/P/inspections/stats')).toEqual(expected);
  });

  test('settings may be missing, empty or null', async () => {
    const { client, service } = await startWith({ settings: 'missing' });
    expect((await client.get('/P/settings')).status).toBe(404);
    service.changeQuirks({ settings: 'empty' });
    expect(await client.json('/P/settings')).toEqual({});
    service.changeQuirks({ settings: 'null' });
    expect(await client.json('/P/settings')).toBeNull();
    service.resetQuirks();
    expect((await client.get('/P/settings')).status).toBe(404);
  });

  test('a listed protocol may have its settings under the right spelling, null, or not at all', async () => {
    const { client, service } = await startWith({ listedSettings: 'settings' });
    const keys = async (): Promise<string> => JSON.stringify(await client.json('/protocols'));
    expect(await keys()).toContain('"settings":{"triggers"');
    service.changeQuirks({ listedSettings: 'null' });
    expect(await keys()).toContain('"setttings":null');
    service.changeQuirks({ listedSettings: 'missing' });
    expect(await keys()).not.toContain('ttings');
  });

  test('the listing may have one element a protocol', async () => {
    const { client } = await startService({ quirks: { listing: 'split' } });
    expect(await client.json('/protocols?hideAssets=true')).toMatchObject([
      { page: [{ protocols: { descriptor: 'Lending Pool' } }], total: 2 },
      { page: [{ protocols: { descriptor: 'Vault' } }], total: 2 },
    ]);
  });

  test.each([
    ['json', 'application/json', /^\{"statusCode":404,"message":"/],
    ['nested', 'application/json', /^\{"error":\{"errors":\[/],
    ['array', 'application/json', /^\["no such protocol"\]$/],
    ['text', 'text/plain', /^no such protocol$/],
    ['html', 'text/html', /^<!doctype html>/],
    ['empty', null, /^$/],
  ] as const)('errors as %s', async (errorBody, type, body) => {
    const { client } = await startWith({ errorBody });
    const reply = await client.get('/Nobody/settings');
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')?.split(';')[0] ?? null).toBe(type);
    expect(reply.text).toMatch(body);
  });
});

describe('what is not listened to', () => {
  const BOUNDS = 'startDate=1970-01-01T00:00:01.500Z&endDate=1970-01-01T00:00:04Z&sort=asc';

  test.each([
    ['none', ['2', '3']],
    ['startDate', ['1', '2', '3']],
    ['endDate', ['2', '3', '4', '5']],
    ['both', ['1', '2', '3', '4', '5']],
  ] as const)('bounds: %s', async (ignoredBounds, expected) => {
    const { client } = await startWith({ ignoredBounds });
    expect(await client.names(`/P/inspections?${BOUNDS}`)).toEqual(expected);
    expect((await client.get('/P/inspections?startDate=yesterday')).status).toBe(400);
  });

  test('the sort', async () => {
    const { client } = await startWith({ ignoresSort: true });
    expect(await client.names('/P/inspections?sort=asc')).toEqual(['5', '4', '3', '2', '1']);
    expect((await client.get('/P/inspections?sort=up')).status).toBe(400);
  });

  test('names in a style that is not understood give 400, nothing, or everything', async () => {
    const { client, service } = await startWith({ arrayParams: 'brackets' });
    service.insertNotification({ message: 'm' });
    expect((await client.get('/notifications?protocolName=P')).status).toBe(400);
    service.changeQuirks({ withoutNames: 'nothing' });
    expect((await client.page('/notifications?protocolName=P')).page).toEqual([]);
    service.changeQuirks({ withoutNames: 'everything' });
    expect((await client.page('/notifications?protocolName=P')).page).toHaveLength(1);
  });
});

test('what changes once a page is answered is seen by the next one', async () => {
  const { client, service } = await startWith({}, 2);
  const end = service.onAnswered(({ endpoint }) => {
    if (endpoint === 'listInspections') service.removeInspection('2');
  });
  expect(await client.names('/P/inspections')).toEqual(['2', '1']);
  expect(await client.names('/P/inspections')).toEqual(['1']);
  end();
});
