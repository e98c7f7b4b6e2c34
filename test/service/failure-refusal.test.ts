import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { clientOf, failureOf, KEY, never } from './harness.ts';

let server: HttpReceiver;

beforeEach(async () => {
  server = await startHttpReceiver(() => ({ status: 200, body: '{"page":[]}' }));
});
afterEach(() => server.close());

const refused = async (answer: Answer, now?: () => number) => {
  server.script(answer);
  const client = clientOf(server.origin, now ? { now } : {});
  return await failureOf(client.listInspections({ protocol: 'Lending Pool' }, never));
};

test.each([
  [400, 'rejected'],
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [404, 'missing'],
  [408, 'rejected'],
  [410, 'missing'],
  [422, 'rejected'],
  [429, 'limited'],
  [500, 'failed'],
  [502, 'failed'],
  [503, 'failed'],
] as const)('%i is %s', async (status, reason) => {
  const error = await refused({ status, body: '{"message":"no"}' });
  expect(error).toMatchObject({ reason, status, retryAfterMs: undefined });
  expect(error.message).toBe(`main: GET inspections of "Lending Pool": ${status}: no`);
});

test.each([
  ['POST protocols/create of "P"', 'createProtocol'],
  ['PUT protocols/assets/add of "id-1"', 'addAssets'],
  ['PATCH protocols/notification-channels/replace of "id-1"', 'replaceChannels'],
  ['GET protocols', 'listProtocols'],
  ['GET inspections/stats of "P"', 'inspectionStats'],
  ['GET settings of "P"', 'settings'],
  ['GET notifications of "P, Q"', 'listNotifications'],
] as const)('an error names %s', async (label, verb) => {
  server.script({ status: 500 });
  const client = clientOf(server.origin);
  const calls = {
    createProtocol: () => client.createProtocol({ protocolName: 'P' }, never),
    addAssets: () => client.addAssets({ protocolId: 'id-1', assets: [] }, never),
    replaceChannels: () => client.replaceChannels({ protocolId: 'id-1', notificationChannels: [] }, never),
    listProtocols: () => client.listProtocols({}, never),
    inspectionStats: () => client.inspectionStats({ protocol: 'P' }, never),
    settings: () => client.settings('P', never),
    listNotifications: () => client.listNotifications({ protocols: ['P', 'Q'] }, never),
  };
  expect((await failureOf(calls[verb]())).message).toBe(`main: ${label}: 500 (it has a fault of its own)`);
});

describe('Retry-After', () => {
  const waitOf = async (headers: Record<string, string>, now?: () => number) =>
    (await refused({ status: 503, headers }, now)).retryAfterMs;

  test('in seconds', async () => {
    expect(await waitOf({ 'retry-after': '17' })).toBe(17_000);
    expect(await waitOf({ 'retry-after': '0' })).toBe(0);
    expect(await waitOf({ 'retry-after': ' 1.5 ' })).toBe(1500);
  });

  test("as a date, held against the service's own clock", async () => {
    const headers = { date: 'Fri, 20 Nov 2026 10:00:00 GMT', 'retry-after': 'Fri, 20 Nov 2026 10:02:00 GMT' };
    expect(await waitOf(headers, () => 0)).toBe(120_000);
    expect(await waitOf({ ...headers, 'retry-after': 'Fri, 20 Nov 2026 09:00:00 GMT' })).toBe(0);
  });

  test('as a date, compared with our clock where the service gives no readable time', async () => {
    const headers = { date: 'soon', 'retry-after': 'Fri, 20 Nov 2026 10:02:00 GMT' };
    expect(await waitOf(headers, () => Date.UTC(2026, 10, 20, 10))).toBe(120_000);
  });

  test.each(['', 'soon', '-5', '1.2.3', 'NaN'])('%j says nothing', async (value) => {
    expect(await waitOf({ 'retry-after': value })).toBeUndefined();
  });

  test('comes with 429 as well', async () => {
    expect(await refused({ status: 429, headers: { 'retry-after': '2' } })).toMatchObject({
      reason: 'limited',
      retryAfterMs: 2000,
    });
  });
});

describe('a refusal says what its body says', () => {
  test.each([
    ['{"message":"slow down"}', 'slow down'],
    ['{"error":{"code":7,"message":"bad filter"}}', 'bad filter'],
    ['{"errors":[{"detail":"no such page"}]}', 'no such page'],
    ['{"statusCode":400,"message":["a must be b","c"]}', 'a must be b'],
    ['[{"message":"in a list"}]', 'in a list'],
    ['"just text"', 'just text'],
    ['{"code":12}', '{"code":12}'],
    ['<html><head><title>502 Bad\n Gateway</title></head><body><h1>x</h1></body></html>', '502 Bad Gateway'],
    ['<!doctype html><body><p>Down for <b>maintenance</b></p></body>', 'Down for maintenance'],
    ['plain\ttext\r\n\u0000\u202eof hosts', 'plain text of hosts'],
    ['{"broken":', '{"broken":'],
  ])('%j', async (body, excerpt) => {
    expect((await refused({ status: 500, body })).message).toBe(
      `main: GET inspections of "Lending Pool": 500: ${excerpt}`,
    );
  });

  test('shortened, however long it is', async () => {
    const { message } = await refused({ status: 500, body: JSON.stringify({ message: '🧨'.repeat(50_000) }) });
    expect(message.length).toBeLessThanOrEqual(200);
    expect(message).toMatch(/🧨…$/u);
  });

  test('and keeps its status after a long and hostile protocol name', async () => {
    server.script({ status: 404, body: 'nothing here' });
    const protocol = `\u202e\n${'long '.repeat(100)}`;
    const { message } = await failureOf(clientOf(server.origin).settings(protocol, never));
    expect(message).toMatch(/^main: GET settings of "long long [^"\n\u202e]*…": 404: nothing here$/);
  });
});

describe('the key is in no error', () => {
  test.each([
    ['as it is', KEY],
    ['in JSON', JSON.stringify({ message: `bad key ${KEY}` })],
    ['in JSON with escaped slashes', JSON.stringify({ message: `bad key ${KEY}` }).replaceAll('/', '\\/')],
    ['in broken JSON', `{"key": ${JSON.stringify(KEY)}`],
    ['in broken JSON, fully escaped', `{"key": ${JSON.stringify(KEY).replaceAll('/', '\\/')}`],
    ['in broken JSON with escaped slashes', `{"key": "${KEY.replaceAll('/', '\\/')}`],
    ['in a URL', `https://x.example/?key=${encodeURIComponent(KEY)}`],
    ['in a header', `Authorization: Bearer ${KEY}`],
    ['at the cut', 'x'.repeat(150) + KEY],
  ])('that quotes it %s', async (_, body) => {
    expect((await refused({ status: 401, body })).message).toContain('main: GET inspections of "Lending Pool": 401: ');
    expect((await refused({ status: 200, body: `${body} ` })).reason).toBe('unreadable');
  });
});

describe('redirects', () => {
  test.each([301, 302, 303, 307, 308])('%i is not followed, and the key stays here', async (status) => {
    const elsewhere = await startHttpReceiver();
    try {
      const location = `${elsewhere.origin}/steal?token=${encodeURIComponent(KEY)}`;
      const error = await refused({ status, headers: { location } });
      expect(error).toMatchObject({ reason: 'rejected', status });
      expect(error.message).toContain(`a redirect to ${new URL(elsewhere.origin).host} is not followed`);
      expect(error.message).not.toContain('steal');
      expect(elsewhere.arrived).toEqual([]);
      expect(server.arrived).toHaveLength(1);
    } finally {
      await elsewhere.close();
    }
  });

  test.each([
    ['/login?next=1', /a redirect to 127\.0\.0\.1:\d+ is not followed$/],
    ['http://', /a redirect to an unreadable address is not followed$/],
    ['https://user:pass@other.example/x', /a redirect to other\.example is not followed$/],
  ])('a Location of %j', async (location, message) => {
    expect((await refused({ status: 302, headers: { location } })).message).toMatch(message);
  });

  test('without a Location', async () => {
    expect((await refused({ status: 304 })).message).toMatch(/304: a redirect that names no address$/);
  });
});
