/** The eight endpoints, as the interface document words them. */
import { describe, expect, test } from 'vitest';
import { API_KEY, ASSETS, nameOf, startService } from '../client.ts';

const POOL = nameOf('Lending Pool');

describe('protocols', () => {
  test('are listed as an array with one element, each under its own key, settings with three t', async () => {
    const { client, service } = await startService();
    service.replaceChannels({ protocol: 'Vault' }, [{ name: 'email', contacts: ['a@example.com'] }]);
    const listed = await client.json('/protocols');
    const [pool, vault] = service.protocols();
    expect(listed).toEqual([
      {
        page: [
          {
            protocols: expect.objectContaining({
              protocolId: pool?.protocolId,
              descriptor: 'Lending Pool',
              createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
              assets: [
                expect.objectContaining({ ...ASSETS[0], protocol: pool?.protocolId, methods: {}, exposedMethods: [] }),
                expect.objectContaining({ ...ASSETS[1], protocol: pool?.protocolId }),
              ],
            }),
          },
          {
            protocols: expect.objectContaining({
              protocolId: vault?.protocolId,
              setttings: {
                triggers: { critical: { detectionsGroup: expect.any(Array), actions: ['notification'] } },
                notificationChannels: [{ name: 'email', contacts: ['a@example.com'] }],
                tracking: true,
                detectors: expect.arrayContaining([
                  { name: 'drasticBalanceChange', config: { threshold: 0.2 }, external: false },
                  { name: 'mixer', config: null, external: true },
                ]),
              },
            }),
          },
        ],
        pageNumber: 1,
        total: 2,
      },
    ]);
  });

  test('hide their assets only when asked with true, and come in pages', async () => {
    const { client } = await startService();
    const shown = JSON.stringify(await client.json('/protocols?hideAssets=false&pageSize=1&pageNumber=1'));
    expect(shown).toContain('"assets"');
    expect(shown).not.toContain('Vault');
    const hidden = JSON.stringify(await client.json('/protocols?hideAssets=true&pageSize=1&pageNumber=1'));
    expect(hidden).toContain('Lending Pool');
    expect(hidden).not.toContain('"assets"');
    expect(await client.json('/protocols?pageSize=1&pageNumber=3')).toEqual([{ page: [], pageNumber: 3, total: 2 }]);
  });

  test('are created, extended and given channels', async () => {
    const { client, service } = await startService();
    const channels = [{ name: 'webhook', url: 'https://hooks.example.com/x' }];
    const asset = { chainId: 8453, abi: '[]', address: '0xCc', admins: ['0x1'], descriptor: 'New' };
    const created = await client.send('POST', '/protocols/create', {
      protocolName: 'Fresh',
      assets: [asset],
      notificationChannels: channels,
    });
    expect(created.status).toBe(200);
    const { protocolId, message } = JSON.parse(created.text);
    expect(message).toEqual(expect.any(String));
    const fresh = service.protocols().find(({ name }) => name === 'Fresh');
    expect(fresh).toMatchObject({ protocolId, channels, apiKey: API_KEY, assets: [asset] });

    const added = await client.send('PUT', '/protocols/assets/add', {
      protocolId,
      assets: [
        { ...asset, address: '0xcC', descriptor: 'Renamed' },
        { ...asset, chainId: 10 },
      ],
    });
    expect(JSON.parse(added.text)).toEqual({ message: expect.any(String), changes: { added: 1, modified: 1 } });
    expect(fresh?.assets.map(({ descriptor, chainId }) => [descriptor, chainId])).toEqual([
      ['Renamed', 8453],
      ['New', 10],
    ]);

    const replaced = await client.send('PATCH', '/protocols/notification-channels/replace', {
      protocolId,
      notificationChannels: [{ name: 'slack', contacts: ['C024BE91L'] }],
    });
    expect(JSON.parse(replaced.text)).toEqual({ message: expect.any(String) });
    expect(await client.json('/Fresh/settings')).toMatchObject({
      notificationChannels: [{ name: 'slack', contacts: ['C024BE91L'] }],
    });
  });

  test.each([
    ['POST', '/protocols/create', {}, 400],
    ['POST', '/protocols/create', { protocolName: 'Vault' }, 409],
    ['POST', '/protocols/create', { protocolName: 'X', assets: [{ chainId: 1 }] }, 400],
    ['POST', '/protocols/create', { protocolName: 'X', notificationChannels: [{ name: 'pager' }] }, 400],
    ['PUT', '/protocols/assets/add', { protocolId: 'nobody', assets: [] }, 404],
    ['PATCH', '/protocols/notification-channels/replace', { protocolId: 'nobody', notificationChannels: [] }, 404],
    ['PATCH', '/protocols/create', {}, 405],
    ['DELETE', `/${POOL}/inspections`, undefined, 405],
    ['GET', '/nowhere/at/all/of/it', undefined, 404],
    ['GET', '/Nobody/inspections', undefined, 404],
    ['GET', '/Nobody/settings', undefined, 404],
    ['GET', '/%E0%A4/inspections', undefined, 400],
  ] as const)('%s %s with %j is refused with %i', async (method, path, body, status) => {
    const { client } = await startService();
    const reply = await client.send(method, path, body);
    expect([reply.status, JSON.parse(reply.text)]).toEqual([
      status,
      { statusCode: status, message: expect.any(String) },
    ]);
  });
});

describe('inspections and what belongs to them', () => {
  test('one inspection is written with every documented field and no other', async () => {
    const { client, service } = await startService();
    const item = service.insertInspection({
      assessment: 'critical',
      detections: {
        reentrancy: { status: 'detected', message: 'twice' },
        mixer: { status: 'notDetected', message: '' },
      },
    });
    expect(await client.json(`/${POOL}/inspections`)).toEqual({
      page: [
        {
          _id: item._id,
          chainId: 1,
          txHash: item.txHash,
          txTimestamp: new Date(item.txTimestamp).toISOString(),
          txOrigin: item.txOrigin,
          assets: [{ address: ASSETS[0]?.address, descriptor: 'Pool' }],
          protocol: 'Lending Pool',
          invokedMethodName: 'transfer',
          assessment: 'critical',
          actions: [],
          detections: {
            reentrancy: { status: 'detected', message: 'twice' },
            mixer: { status: 'notDetected', message: '' },
          },
          createdAt: new Date(item.createdAt).toISOString(),
          updatedAt: new Date(item.updatedAt).toISOString(),
        },
      ],
      pageNumber: 1,
      total: 1,
    });
    expect(item._id).toMatch(/^[0-9a-f]{24}$/);
    expect(item.txHash).toMatch(/^0x[0-9a-f]{64}$/);
  });

  test('statistics count what the filters leave', async () => {
    const { client, service } = await startService();
    for (const assessment of ['ok', 'ok', 'suspecious', 'critical']) service.insertInspection({ assessment });
    service.insertInspection({ assessment: 'critical', chainId: 10 });
    expect(await client.json(`/${POOL}/inspections/stats?pageSize=2`)).toEqual({
      page: 3,
      critical: 2,
      suspicious: 1,
      total: 5,
    });
    expect(await client.json(`/${POOL}/10/inspections/stats`)).toMatchObject({ critical: 1, total: 1 });
    expect(await client.json(`/${POOL}/10/${ASSETS[1]?.address}/inspections/stats`)).toMatchObject({ total: 0 });
  });

  test('settings give chain ids as text', async () => {
    const { client } = await startService();
    expect(await client.json(`/${POOL}/settings`)).toEqual({
      detectors: expect.arrayContaining(['adminCall', 'failedTransaction']),
      assets: [
        { ...ASSETS[0], chainId: '1', admins: [] },
        { ...ASSETS[1], chainId: '10', admins: [] },
      ],
      notificationChannels: [],
    });
  });

  test('notifications of several protocols come in one list, without an id', async () => {
    const { client, service } = await startService();
    service.insertNotification({ protocol: 'Lending Pool', message: 'one', createdAt: 1000 });
    service.insertNotification({ protocol: 'Vault', message: 'two', createdAt: 2000 });
    const both = await client.page(`/notifications?protocolName=${POOL}&protocolName=Vault&sort=asc`);
    expect(both).toEqual({
      page: [
        {
          message: 'one',
          protocol: 'Lending Pool',
          createdAt: '1970-01-01T00:00:01.000Z',
          updatedAt: '1970-01-01T00:00:01.000Z',
        },
        expect.objectContaining({ message: 'two', protocol: 'Vault' }),
      ],
      pageNumber: 1,
      total: 2,
    });
    expect(await client.names('/notifications?protocolName=Vault')).toEqual(['two']);
    expect((await client.get('/notifications')).status).toBe(400);
  });

  test.each(['A/B <b>&_*', 'Größe 漢字 🏦', '100% ?#', 'protocols', 'a+b'])(
    'a protocol may be called %s',
    async (name) => {
      const { client, service } = await startService({ apiKeys: [{ apiKey: API_KEY, protocols: [{ name }] }] });
      const { _id } = service.insertInspection();
      const { message } = service.insertNotification();
      expect(await client.names(`/${nameOf(name)}/inspections`)).toEqual([_id]);
      expect(await client.names(`/${nameOf(name)}/1/inspections`)).toEqual([_id]);
      expect(await client.names(`/notifications?protocolName=${nameOf(name)}`)).toEqual([message]);
    },
  );
});

describe('keys', () => {
  test('each sees its own protocols only, also where names are equal', async () => {
    const { client, service } = await startService({
      apiKeys: [
        { apiKey: 'key-one', protocols: [{ name: 'Shared' }] },
        { apiKey: 'key-two', protocols: [{ name: 'Shared' }, { name: 'Second' }] },
      ],
    });
    service.insertInspection({ protocol: 'Shared', apiKey: 'key-two' });
    const total = async (apiKey: string): Promise<number> =>
      JSON.parse((await client.send('GET', '/Shared/inspections', undefined, apiKey)).text).total;
    expect([await total('key-one'), await total('key-two')]).toEqual([0, 1]);
    expect((await client.get('/Second/inspections')).status).toBe(404);
    expect((await client.send('GET', '/protocols', undefined, 'key-two')).text).toContain('Second');
    expect((await client.get('/protocols')).text).not.toContain('Second');
  });

  test('without a known one every path is 401', async () => {
    const { client, service } = await startService();
    const { protocolId = '' } = service.protocols()[0] ?? {};
    const replies = [
      await client.send('GET', '/protocols', undefined, 'wrong'),
      await client.send('GET', `/${POOL}/inspections`, undefined, 'wrong'),
      await client.send('PUT', '/protocols/assets/add', { protocolId, assets: [] }, 'wrong'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401]);
  });
});

test('the log has what was asked, with which key, and what was answered', async () => {
  const { client, service } = await startService({ requestLimit: 4 });
  await client.get(`/${POOL}/inspections?id=a&id=b%2Cc&status=critical`);
  await client.get('/Nobody/inspections');
  const [first, second] = service.requests();
  expect(first).toMatchObject({
    method: 'GET',
    path: '/api/Lending%20Pool/inspections',
    query: { id: ['a', 'b,c'], status: ['critical'] },
    headers: { authorization: `Bearer ${API_KEY}`, accept: 'application/json' },
    endpoint: 'listInspections',
    protocols: ['Lending Pool'],
    status: 200,
  });
  expect(second).toMatchObject({ protocols: ['Nobody'], status: 404 });
  for (let index = 0; index < 20; index += 1) await client.get('/protocols');
  expect(service.requests().length).toBeLessThanOrEqual(5);
  service.clearRequests();
  expect(service.requests()).toEqual([]);
});

test('items can be changed, removed and listed, and listeners hear of each', async () => {
  const { client, service } = await startService();
  const told: string[] = [];
  const end = service.onProduced(({ source, item }) => told.push(`${source} ${item.protocol}`));
  const item = service.insertInspection({ createdAt: 1000 });
  expect(await client.names(`/${POOL}/inspections?status=critical`)).toEqual([]);
  service.changeInspection(item._id, { assessment: 'critical' });
  expect(await client.names(`/${POOL}/inspections?status=critical`)).toEqual([item._id]);
  expect(item.updatedAt).toBeGreaterThan(item.createdAt);
  const notification = service.insertNotification({ protocol: 'Vault' });
  expect(told).toEqual(['inspections Lending Pool', 'inspections Lending Pool', 'notifications Vault']);
  end();
  service.insertInspection();
  expect(told).toHaveLength(3);
  expect(service.inspections({ protocol: 'Lending Pool' })).toHaveLength(2);
  service.removeInspection(item._id);
  service.removeNotification(notification.id);
  expect([service.inspections().length, service.notifications().length]).toEqual([1, 0]);
  expect(() => service.changeInspection('nobody', {})).toThrow('no inspection');
  expect(() => service.insertInspection({ protocol: 'nobody' })).toThrow('no protocol');
});

test('an owner of many items keeps the newest', async () => {
  const { client, service } = await startService({ keepPerProtocol: 4 });
  const ids = Array.from({ length: 11 }, (_, index) => service.insertInspection({ createdAt: index })._id);
  const kept = await client.names(`/${POOL}/inspections?sort=asc`);
  expect(kept).toEqual(ids.slice(-kept.length));
  expect(kept.length).toBeGreaterThanOrEqual(4);
  expect(kept.length).toBeLessThanOrEqual(5);
});

test('start and stop may be called at any time, and a restart keeps the port and the items', async () => {
  const { client, service, url } = await startService();
  service.insertInspection();
  expect((await service.start()).url).toBe(url);
  await service.stop();
  await service.stop();
  await expect(client.get('/protocols')).rejects.toThrow();
  expect((await service.start()).url).toBe(url);
  expect((await client.page(`/${POOL}/inspections`)).total).toBe(1);
});
