/** Every filter of inspections and of notifications, alone and together. */
import { describe, expect, test } from 'vitest';
import type { SandboxInspection } from '../../../src/sandbox/service/model.ts';
import { API_KEY, ASSETS, type Client, startService } from '../client.ts';

const at = (second: number): number => Date.UTC(2026, 0, 1, 0, 0, second);
const iso = (second: number): string => new Date(at(second)).toISOString();

interface Filled {
  client: Client;
  items: SandboxInspection[];
}

/** Three inspections, one a second, oldest first. */
const fill = async (): Promise<Filled> => {
  const { client, service } = await startService({
    apiKeys: [{ apiKey: API_KEY, protocols: [{ name: 'P', assets: ASSETS }] }],
  });
  const fired = { status: 'detected', message: 'x' };
  const quiet = { status: 'notDetected', message: '' };
  const items = [
    service.insertInspection({ createdAt: at(1), assessment: 'ok', detections: { mixer: quiet, flashLoan: quiet } }),
    service.insertInspection({
      createdAt: at(2),
      assessment: 'suspecious',
      detections: { mixer: fired, flashLoan: quiet },
    }),
    service.insertInspection({
      createdAt: at(3),
      assessment: 'critical',
      chainId: 10,
      assets: [{ address: ASSETS[1]?.address ?? '', descriptor: 'Oracle' }],
      detections: { mixer: quiet, reentrancy: fired },
    }),
  ];
  return { client, items };
};

const CASES: [name: string, query: (items: readonly SandboxInspection[]) => string, expected: number[]][] = [
  ['nothing', () => '', [2, 1, 0]],
  ['sort=asc', () => 'sort=asc', [0, 1, 2]],
  ['sort=dsc', () => 'sort=dsc', [2, 1, 0]],
  ['one id', (items) => `id=${items[1]?._id}`, [1]],
  ['several ids', (items) => `id=${items[0]?._id}&id=${items[2]?._id}&id=nobody`, [2, 0]],
  ['a hash in capitals', (items) => `hash=${items[0]?.txHash.toUpperCase().replace('0X', '0x')}`, [0]],
  ['another hash', () => 'hash=0x00', []],
  ['an origin', (items) => `origin=${items[2]?.txOrigin}`, [2]],
  ['status=ok', () => 'status=ok', [0]],
  ['status=suspecious', () => 'status=suspecious', [1]],
  ['status=critical', () => 'status=critical', [2]],
  ['a detector that fired', () => 'detected=mixer', [1]],
  ['detectors of which one fired', () => 'detected=mixer&detected=reentrancy', [2, 1]],
  ['a detector that is silent', () => 'detected=flashLoan', []],
  ['startDate, which excludes itself', () => `startDate=${iso(2)}`, [2]],
  ['startDate a moment before', () => `startDate=${new Date(at(2) - 1).toISOString()}`, [2, 1]],
  ['startDate with an offset', () => `startDate=${encodeURIComponent('2026-01-01T02:00:02.000+02:00')}`, [2]],
  ['endDate, which excludes itself', () => `endDate=${iso(2)}`, [0]],
  ['both dates', () => `startDate=${iso(1)}&endDate=${iso(3)}`, [1]],
  ['status and date', () => `status=critical&endDate=${iso(3)}`, []],
];

describe('inspections by', () => {
  test.each(CASES)('%s', async (_name, query, expected) => {
    const { client, items } = await fill();
    expect(await client.names(`/P/inspections?${query(items)}`)).toEqual(expected.map((index) => items[index]?._id));
  });

  test('chain and contract in the path', async () => {
    const { client, items } = await fill();
    expect(await client.names('/P/10/inspections')).toEqual([items[2]?._id]);
    expect(await client.names(`/P/10/${ASSETS[1]?.address.toLowerCase()}/inspections`)).toEqual([items[2]?._id]);
    expect(await client.names(`/P/1/${ASSETS[1]?.address}/inspections`)).toEqual([]);
  });

  test.each([
    'status=suspicious',
    'sort=desc',
    'startDate=1735689600000',
    'endDate=2026-01-01',
    'pageSize=0',
    'pageSize=many',
  ])('%s is refused', async (query) => {
    const { client } = await fill();
    expect((await client.get(`/P/inspections?${query}`)).status).toBe(400);
  });

  test('a chain that is no number is refused', async () => {
    const { client } = await fill();
    expect((await client.get(`/P/${ASSETS[1]?.address}/inspections`)).status).toBe(400);
  });
});

test('notifications by date and order', async () => {
  const { client, service } = await startService();
  for (const second of [1, 2, 3]) service.insertNotification({ message: `m${second}`, createdAt: at(second) });
  const names = (query: string): Promise<string[]> =>
    client.names(`/notifications?protocolName=${encodeURIComponent('Lending Pool')}&${query}`);
  expect(await names('')).toEqual(['m3', 'm2', 'm1']);
  expect(await names('sort=asc')).toEqual(['m1', 'm2', 'm3']);
  expect(await names(`startDate=${iso(1)}&endDate=${iso(3)}`)).toEqual(['m2']);
});

describe('lists in the query', () => {
  const ask = async (style: 'repeat' | 'brackets' | 'comma', query: string): Promise<string[]> => {
    const { client, service } = await startService({ quirks: { arrayParams: style } });
    for (const _id of ['a', 'b', 'c']) service.insertInspection({ _id });
    return client.names(`/${encodeURIComponent('Lending Pool')}/inspections?sort=asc&${query}`);
  };

  test.each([
    ['repeat', 'id=a&id=c'],
    ['brackets', 'id[]=a&id%5B%5D=c'],
    ['comma', 'id=a,c'],
    ['comma', 'id=a%2Cc'],
  ] as const)('%s: %s', async (style, query) => {
    expect(await ask(style, query)).toEqual(['a', 'c']);
  });

  test('another style than the service knows is not seen', async () => {
    expect(await ask('repeat', 'id[]=a')).toEqual(['a', 'b', 'c']);
    expect(await ask('repeat', 'id=a,b')).toEqual([]);
    expect(await ask('brackets', 'id=a')).toEqual(['a', 'b', 'c']);
    expect(await ask('comma', 'id[]=a')).toEqual(['a', 'b', 'c']);
  });
});
