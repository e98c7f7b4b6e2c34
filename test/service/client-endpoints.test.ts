import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { createSecret } from '../../src/secret.ts';
import type { InspectionQuery } from '../../src/service/queries.ts';
import { type Arrived, type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { clientOf, KEY, never } from './harness.ts';

const VERSION: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;

let server: HttpReceiver;
let body: unknown;

beforeEach(async () => {
  body = { page: [], pageNumber: 1, total: 0 };
  server = await startHttpReceiver(() => ({ status: 200, body: JSON.stringify(body) }));
});
afterEach(() => server.close());

const only = (): Arrived => {
  expect(server.arrived).toHaveLength(1);
  const [arrived] = server.arrived;
  if (arrived === undefined) throw new Error('nothing arrived');
  return arrived;
};

const ASSET = { chainId: 1, abi: '[]', address: '0xabc', admins: [], descriptor: 'Pool' };

test('protocols are listed, with every header that is due and no body', async () => {
  body = [{ page: [{ protocols: { protocolId: 'p1', descriptor: 'Vault' } }], pageNumber: 3, total: 1 }];
  const page = await clientOf(server.origin).listProtocols({ pageNumber: 3, pageSize: 7, hideAssets: true }, never);
  const { method, path, headers, body: sent } = only();
  expect(`${method} ${path}`).toBe('GET /protocols?pageNumber=3&pageSize=7&hideAssets=true');
  expect(sent).toBe('');
  const { host, connection, ...rest } = headers;
  expect(rest).toEqual({
    authorization: `Bearer ${KEY}`,
    accept: 'application/json',
    'accept-encoding': 'gzip, br',
    'user-agent': `tocsin/${VERSION}`,
  });
  expect(page).toMatchObject({ items: [{ id: 'p1', name: 'Vault' }], malformed: [], pageNumber: 3, total: 1 });
});

test('lists ask for the configured page size and for no page number of their own', async () => {
  const client = clientOf(server.origin, { pageSize: 25 });
  await client.listProtocols({}, never);
  await client.listInspections({ protocol: 'Vault' }, never);
  await client.listNotifications({ protocols: ['Vault'] }, never);
  expect(server.arrived.map(({ path }) => path)).toEqual([
    '/protocols?pageSize=25',
    '/Vault/inspections?pageSize=25',
    '/notifications?protocolName=Vault&pageSize=25',
  ]);
});

test('a protocol is created', async () => {
  body = { protocolId: 'p9', message: 'created' };
  const asked = { protocolName: 'New', assets: [ASSET], notificationChannels: [{ name: 'slack', contacts: ['C1'] }] };
  const answer = await clientOf(server.origin).createProtocol(asked, never);
  const { method, path, headers, body: sent } = only();
  expect(`${method} ${path}`).toBe('POST /protocols/create');
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(sent)).toEqual(asked);
  expect(answer).toEqual({ protocolId: 'p9', message: 'created', raw: body });
});

test('assets are added', async () => {
  body = { message: 'done', changes: { added: 1, modified: '2' } };
  const asked = { protocolId: 'p1', assets: [ASSET] };
  const answer = await clientOf(server.origin).addAssets(asked, never);
  const { method, path, body: sent } = only();
  expect(`${method} ${path}`).toBe('PUT /protocols/assets/add');
  expect(JSON.parse(sent)).toEqual(asked);
  expect(answer).toEqual({ message: 'done', changes: { added: 1, modified: 2 }, raw: body });
});

test('channels are replaced, text outside ASCII arriving as it was', async () => {
  body = { message: 'replaced' };
  const asked = { protocolId: 'p1', notificationChannels: [{ name: 'email', contacts: ['ops@exämple.example'] }] };
  const answer = await clientOf(server.origin).replaceChannels(asked, never);
  const { method, path, body: sent } = only();
  expect(`${method} ${path}`).toBe('PATCH /protocols/notification-channels/replace');
  expect(JSON.parse(sent)).toEqual(asked);
  expect(answer).toEqual({ message: 'replaced', raw: body });
});

const EVERY_FILTER: InspectionQuery = {
  protocol: 'Vault',
  chainId: 8453,
  contractAddress: '0xAbC',
  id: ['a', 'b&c'],
  hash: '0x1',
  origin: '0x2',
  status: 'suspecious',
  detected: ['flashLoan', 'mixer'],
  startDate: Date.UTC(2026, 10, 20, 10, 0, 0, 7),
  endDate: '2026-11-21T00:00:00+02:00',
  pageNumber: 0,
  pageSize: 5,
  sort: 'dsc',
};
const EVERY_FILTER_WRITTEN =
  'id=a&id=b%26c&hash=0x1&origin=0x2&status=suspecious&detected=flashLoan&detected=mixer' +
  '&startDate=2026-11-20T10%3A00%3A00.007Z&endDate=2026-11-21T00%3A00%3A00%2B02%3A00&pageNumber=0&pageSize=5&sort=dsc';

test('inspections are listed with every filter there is', async () => {
  body = { page: [{ _id: 'i1', protocol: 'Vault', assessment: 'critical', txHash: '0xAB' }], pageNumber: 0, total: 9 };
  const page = await clientOf(server.origin).listInspections(EVERY_FILTER, never);
  const { method, path } = only();
  expect(`${method} ${path}`).toBe(`GET /Vault/8453/0xAbC/inspections?${EVERY_FILTER_WRITTEN}`);
  expect(page).toMatchObject({
    items: [{ id: 'i1', assessment: 'critical', txHash: '0xab' }],
    pageNumber: 0,
    total: 9,
  });
});

test('statistics take the same query', async () => {
  body = { page: 1, critical: 2, suspicious: 3, total: 6 };
  const client = clientOf(server.origin);
  expect(await client.inspectionStats(EVERY_FILTER, never)).toEqual({ ...(body as object), raw: body });
  await client.inspectionStats({ protocol: 'Vault' }, never);
  expect(server.arrived.map(({ path }) => path)).toEqual([
    `/Vault/8453/0xAbC/inspections/stats?${EVERY_FILTER_WRITTEN}`,
    '/Vault/inspections/stats',
  ]);
});

test('settings are read', async () => {
  body = { detectors: ['mixer'], assets: [], notificationChannels: [{ name: 'webhook', url: 'https://x.example' }] };
  const settings = await clientOf(server.origin).settings('Vault', never);
  expect(`${only().method} ${only().path}`).toBe('GET /Vault/settings');
  expect(settings).toEqual({
    detectors: ['mixer'],
    channels: [{ name: 'webhook', url: 'https://x.example' }],
    raw: body,
  });
});

test('notifications of several protocols are listed', async () => {
  body = { page: [{ message: 'm', protocol: 'B', createdAt: '2026-11-20T10:00:00Z' }], pageNumber: '2', total: 1 };
  const asked = { protocols: ['A, B', 'C'], startDate: 0, endDate: 1, pageNumber: 2, sort: 'asc' } as const;
  const page = await clientOf(server.origin).listNotifications(asked, never);
  const { method, path } = only();
  expect(`${method} ${path}`).toBe(
    'GET /notifications?protocolName=A%2C%20B&protocolName=C&startDate=1970-01-01T00%3A00%3A00.000Z' +
      '&endDate=1970-01-01T00%3A00%3A00.001Z&pageNumber=2&pageSize=100&sort=asc',
  );
  expect(page).toMatchObject({ items: [{ message: 'm', protocol: 'B' }], pageNumber: 2 });
});

test.each([
  ['repeat', 'protocolName=A%2CB&protocolName=C'],
  ['brackets', 'protocolName%5B%5D=A%2CB&protocolName%5B%5D=C'],
  ['comma', 'protocolName=A%2CB,C'],
] as const)('lists in a query are written in the style %s', async (arrayParams, written) => {
  await clientOf(server.origin, { arrayParams }).listNotifications({ protocols: ['A,B', 'C'] }, never);
  expect(only().path).toBe(`/notifications?${written}&pageSize=100`);
});

test.each(['repeat', 'brackets', 'comma'] as const)(
  'an empty list in a query is left out (%s)',
  async (arrayParams) => {
    await clientOf(server.origin, { arrayParams }).inspectionStats({ protocol: 'V', id: [], detected: [] }, never);
    expect(only().path).toBe('/V/inspections/stats');
  },
);

test.each([
  ['A/B', '/A%2FB/settings'],
  ['../../protocols', '/..%2F..%2Fprotocols/settings'],
  ['...', '/.../settings'],
  ['Lending Pool', '/Lending%20Pool/settings'],
  ['?x=1#y', '/%3Fx%3D1%23y/settings'],
  ['100%2F', '/100%252F/settings'],
  ['naïve 漢字 🧨', '/na%C3%AFve%20%E6%BC%A2%E5%AD%97%20%F0%9F%A7%A8/settings'],
  [' ', '/%20/settings'],
  ['a\r\nX-Evil: 1', '/a%0D%0AX-Evil%3A%201/settings'],
  ['half \ud83e', '/half%20%EF%BF%BD/settings'],
])('the protocol %j is one path segment', async (name, path) => {
  body = {};
  await clientOf(server.origin).settings(name, never);
  expect(only().path).toBe(path);
});

test.each(['.', '..', ''])('a protocol named %j is refused before anything is sent', async (name) => {
  const client = clientOf(server.origin);
  const calls = [client.settings(name, never), client.listInspections({ protocol: name }, never)];
  for (const call of calls) await expect(call).rejects.toThrow(UsageError);
  await expect(client.settings('..', never)).rejects.toThrow('the protocol name ".." cannot be written in a URL');
  await client.listProtocols({}, never);
  expect(only().path).toBe('/protocols?pageSize=100');
});

test('a contract without its chain, and notifications of no protocol, are refused', async () => {
  const client = clientOf(server.origin);
  const contract = client.listInspections({ protocol: 'V', contractAddress: '0x1' }, never);
  await expect(contract).rejects.toThrow('contractAddress needs a chainId');
  await expect(client.inspectionStats({ protocol: 'V', chainId: '..' }, never)).rejects.toThrow(UsageError);
  await expect(client.listNotifications({ protocols: [] }, never)).rejects.toThrow('at least one protocol');
  expect(server.arrived).toEqual([]);
});

test.each(['/api', '/api/', '/api//'])('the base URL keeps its path %s', async (path) => {
  await clientOf(`${server.origin}${path}`).listProtocols({}, never);
  expect(only().path).toBe('/api/protocols?pageSize=100');
});

test.each(['', 'two words', 'line\nbreak', 'schlüssel'])(
  'the key %j cannot be sent and is named by its service',
  (key) => {
    const make = () => clientOf(server.origin, { apiKey: createSecret(key) });
    expect(make).toThrow(UsageError);
    expect(make).toThrow('the API key of service "main" is empty or holds characters that no header can carry');
  },
);

test('the content type does not matter where the content is JSON', async () => {
  server.script({
    status: 200,
    headers: { 'content-type': 'text/html', date: 'Fri, 20 Nov 2026 10:00:00 GMT' },
    body: '\ufeff{"page":null}',
  });
  const page = await clientOf(server.origin).listInspections({ protocol: 'V' }, never);
  expect(page).toEqual({ items: [], malformed: [], serverTime: Date.UTC(2026, 10, 20, 10) });
});
