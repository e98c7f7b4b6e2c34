/** What can go wrong on the way, once or by chance, for some requests or for all. */
import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/service/faults.ts';
import { until } from '../../support/until.ts';
import { API_KEY, nameOf, startService } from '../client.ts';

const INSPECTIONS = `/${nameOf('Lending Pool')}/inspections`;

const startWith = async (fault: Fault) => {
  const rig = await startService();
  const item = rig.service.insertInspection();
  rig.service.addFault({ fault });
  return { ...rig, item };
};

describe('answers', () => {
  test('a status with its Retry-After and body, once', async () => {
    const { client, item } = await startWith({ kind: 'status', status: 429, retryAfter: 7, body: '{"slow":true}' });
    const refused = await client.get(INSPECTIONS);
    expect([refused.status, refused.headers.get('retry-after'), refused.text]).toEqual([429, '7', '{"slow":true}']);
    expect(await client.names(INSPECTIONS)).toEqual([item._id]);
  });

  test('Retry-After as a date', async () => {
    const date = 'Sat, 21 Nov 2026 10:00:00 GMT';
    const { client } = await startWith({ kind: 'status', status: 503, retryAfter: date, contentType: 'text/html' });
    const { headers } = await client.get(INSPECTIONS);
    expect([headers.get('retry-after'), headers.get('content-type')]).toEqual([date, 'text/html']);
  });

  test('a redirect, which is not followed for us', async () => {
    const { client } = await startWith({ kind: 'redirect', location: 'http://127.0.0.1:1/elsewhere' });
    const reply = await client.get(INSPECTIONS);
    expect([reply.status, reply.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/elsewhere']);
  });

  test.each([
    [{ kind: 'truncated' }, 200],
    [{ kind: 'invalid-json' }, 200],
    [{ kind: 'empty' }, 200],
  ] as const)('%j is a complete answer that is no JSON', async (fault, status) => {
    const { client } = await startWith(fault);
    const reply = await client.get(INSPECTIONS);
    expect(reply.status).toBe(status);
    expect(() => JSON.parse(reply.text)).toThrow();
  });

  test('another content type, with the right JSON', async () => {
    const { client, item } = await startWith({ kind: 'wrong-type', contentType: 'text/html' });
    const reply = await client.get(INSPECTIONS);
    expect(reply.headers.get('content-type')).toBe('text/html');
    expect(reply.text).toContain(item._id);
  });

  test('a huge body, still JSON', async () => {
    const { client } = await startWith({ kind: 'huge', bytes: 3_000_000 });
    const { text } = await client.get(INSPECTIONS);
    expect(text.length).toBeGreaterThan(3_000_000);
    expect(JSON.parse(text)).toMatchObject({ total: 1 });
  });

  test('JSON of another shape', async () => {
    const { client } = await startWith({ kind: 'wrong-shape', body: [] });
    expect(await client.json(INSPECTIONS)).toEqual([]);
  });

  test('a slow body arrives whole', async () => {
    const { client, item } = await startWith({ kind: 'slow', durationMs: 200 });
    expect(await client.names(INSPECTIONS)).toEqual([item._id]);
  });

  test('one malformed item between its neighbours', async () => {
    const { client, service } = await startService();
    service.insertInspection({ _id: 'a', createdAt: 1 });
    service.insertInspection({ _id: 'b', createdAt: 2 });
    service.addFault({ fault: { kind: 'malformed-item', item: null } });
    service.addFault({ fault: { kind: 'malformed-item' } });
    const page = async () => (await client.page(`${INSPECTIONS}?sort=asc`)).page;
    expect(await page()).toMatchObject([{ _id: 'a' }, null, { _id: 'b' }]);
    expect(await page()).toMatchObject([{ _id: 'a' }, { _id: 42 }, { _id: 'b' }]);
    expect(await page()).toHaveLength(2);
    service.addFault({ fault: { kind: 'malformed-item', item: 'x' } });
    expect(await client.json('/protocols')).toMatchObject([{ page: [{ protocols: {} }, 'x', { protocols: {} }] }]);
  });
});

describe('connections', () => {
  test('reset before an answer, then all is well', async () => {
    const { client, item, service } = await startWith({ kind: 'reset' });
    await expect(client.get(INSPECTIONS)).rejects.toThrow();
    expect(await client.names(INSPECTIONS)).toEqual([item._id]);
    expect(service.requests().map(({ fault, status }) => [fault, status])).toEqual([
      ['reset', undefined],
      [undefined, 200],
    ]);
  });

  test('cut in the middle of the body', async () => {
    const { client } = await startWith({ kind: 'cut' });
    await expect(client.get(INSPECTIONS)).rejects.toThrow();
  });

  test('a hanging answer ends when the service stops', async () => {
    const { client, service } = await startWith({ kind: 'hang' });
    const answer = client.get(INSPECTIONS).then(
      () => 'answered',
      () => 'broken',
    );
    await until('the request arrived', () => service.requests().length === 1);
    expect(await client.names(INSPECTIONS)).toHaveLength(1);
    await service.stop();
    expect(await answer).toBe('broken');
  });
});

describe('rules', () => {
  const fault = { kind: 'status', status: 500 } as const;

  test('hit a number of requests, after a number of others, and are then gone', async () => {
    const { client, service } = await startService();
    service.addFault({ fault, after: 1, times: 2 });
    const seen: number[] = [];
    for (let index = 0; index < 4; index += 1) seen.push((await client.get('/protocols')).status);
    expect(seen).toEqual([200, 500, 500, 200]);
    expect(service.pendingFaults()).toBe(0);
  });

  test('hit one endpoint, one protocol or one key', async () => {
    const { client, service } = await startService({
      apiKeys: [{ apiKey: API_KEY, protocols: [{ name: 'Lending Pool' }, { name: 'Vault' }] }, { apiKey: 'other' }],
    });
    const statuses = async (): Promise<number[]> => [
      (await client.get('/protocols')).status,
      (await client.get(INSPECTIONS)).status,
      (await client.get('/Vault/inspections')).status,
      (await client.get('/Vault/settings')).status,
      (await client.get(`/notifications?protocolName=x&protocolName=Vault`)).status,
      (await client.send('GET', '/protocols', undefined, 'other')).status,
    ];
    const times = Number.POSITIVE_INFINITY;
    const endFirst = service.addFault({ fault, times, endpoint: 'listInspections' });
    expect(await statuses()).toEqual([200, 500, 500, 200, 200, 200]);
    endFirst();
    const endSecond = service.addFault({ fault: { kind: 'status', status: 404 }, times, protocol: 'Vault' });
    expect(await statuses()).toEqual([200, 200, 404, 404, 404, 200]);
    endSecond();
    service.addFault({ fault, times, apiKey: 'other' });
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 500]);
    service.clearFaults();
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test('hit by chance, the same for the same seed', async () => {
    const run = async (seed: number): Promise<number[]> => {
      const { client, service } = await startService({ seed });
      service.addFault({ fault, times: Number.POSITIVE_INFINITY, probability: 0.5 });
      const seen: number[] = [];
      for (let index = 0; index < 40; index += 1) seen.push((await client.get('/protocols')).status);
      return seen;
    };
    const [first, again, other] = [await run(1), await run(1), await run(2)];
    expect(first).toEqual(again);
    expect(first).not.toEqual(other);
    expect(new Set(first)).toEqual(new Set([200, 500]));
  });

  test('can be given at creation, and replace the answer before anything is done', async () => {
    const { client, service } = await startService({ faults: [{ fault, endpoint: 'createProtocol' }] });
    expect((await client.send('POST', '/protocols/create', { protocolName: 'X' })).status).toBe(500);
    expect(service.protocols()).toHaveLength(2);
  });

  test('a fault that only spoils the answer does the work', async () => {
    const { client, service } = await startService();
    service.addFault({ fault: { kind: 'cut' }, endpoint: 'createProtocol' });
    await expect(client.send('POST', '/protocols/create', { protocolName: 'X' })).rejects.toThrow();
    expect(service.protocols()).toHaveLength(3);
  });
});

test('a body beyond all measure is refused', async () => {
  const { client } = await startService();
  const { status } = await client.send('POST', '/protocols/create', { protocolName: 'x'.repeat(9 * 1024 * 1024) });
  expect(status).toBe(413);
});
