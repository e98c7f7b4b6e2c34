/** The webhook receiver: signatures judged against the standard's own library, doubles, scripts and rates. */
import { Webhook } from 'standardwebhooks';
import { fetch } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createWebhookReceiver, type WebhookReceiverOptions } from '../../../src/sandbox/receivers/webhook.ts';
import { until } from '../../support/until.ts';

const SECRET = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another secret of 32 bytes, yes!').toString('base64')}`;
const BODY = '{"type":"test.sample","data":{"txt":"é"}}';

const start = async (options: WebhookReceiverOptions = {}) => {
  const receiver = createWebhookReceiver(options);
  onTestFinished(() => receiver.stop());
  const { url } = await receiver.start();
  const post = async (headers: Record<string, string> = {}, body = BODY, path = '/hook') => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
  };
  return { receiver, post, url };
};

const sign = (id: string, body = BODY, secret = SECRET, at = new Date()): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign(id, at, body),
});

describe('signatures', () => {
  test('what the standard library signs is accepted and kept', async () => {
    const { receiver, post } = await start({ secret: SECRET });
    expect((await post(sign('msg_1'))).status).toBe(200);
    const [message] = receiver.received();
    expect(message).toMatchObject({
      kind: 'webhook',
      destination: '/hook',
      id: 'msg_1',
      text: BODY,
      at: expect.any(Number),
      raw: { id: 'msg_1', body: { type: 'test.sample', data: { txt: 'é' } }, occurrence: 1 },
    });
    expect(message?.raw.headers).toMatchObject({ 'webhook-id': 'msg_1' });
  });

  test('one of several signatures and one of several secrets is enough', async () => {
    const { receiver, post } = await start({ secret: [OTHER, SECRET] });
    const headers = sign('msg_1');
    headers['webhook-signature'] = `v1a,abc v1,${'A'.repeat(44)} ${headers['webhook-signature']}`;
    expect((await post(headers)).status).toBe(200);
    expect(receiver.received()).toHaveLength(1);
  });

  const now = Date.now();
  test.each([
    ['another secret', sign('m', BODY, OTHER), 'no matching signature'],
    ['another body', sign('m', '{}'), 'no matching signature'],
    ['another id', { ...sign('m'), 'webhook-id': 'n' }, 'no matching signature'],
    ['an old timestamp', sign('m', BODY, SECRET, new Date(now - 400_000)), 'webhook-timestamp out of tolerance'],
    ['a timestamp ahead', sign('m', BODY, SECRET, new Date(now + 400_000)), 'webhook-timestamp out of tolerance'],
    ['milliseconds', { ...sign('m'), 'webhook-timestamp': String(now) }, 'webhook-timestamp'],
    ['a dot in the id', sign('m.1'), 'invalid webhook-id'],
    ['no headers', {}, 'missing required headers'],
    [
      'no version',
      { ...sign('m'), 'webhook-signature': sign('m')['webhook-signature']?.slice(3) ?? '' },
      'no matching',
    ],
  ])('%s is refused with 401', async (_name, headers, problem) => {
    const { receiver, post } = await start({ secret: SECRET });
    const reply = await post(headers);
    expect([reply.status, reply.text]).toEqual([401, expect.stringContaining(problem)]);
    expect(receiver.received()).toEqual([]);
    expect(receiver.attempts()).toMatchObject([{ destination: '/hook', outcome: 'refused' }]);
  });

  test('a path may have a secret of its own', async () => {
    const { post } = await start({ secret: SECRET, secrets: { '/own': OTHER } });
    expect((await post(sign('m'), BODY, '/own')).status).toBe(401);
    expect((await post(sign('m', BODY, OTHER), BODY, '/own')).status).toBe(200);
    expect((await post(sign('m'), BODY, '/hook')).status).toBe(200);
  });
});

test.each([
  ['no JSON', { 'content-type': 'application/json' }, '{', 400],
  ['a list', { 'content-type': 'application/json' }, '[]', 400],
  ['text', { 'content-type': 'text/plain' }, BODY, 415],
])('%s is refused', async (_name, headers, body, status) => {
  const { receiver, post } = await start();
  expect((await post(headers, body)).status).toBe(status);
  expect(receiver.received()).toEqual([]);
});

test('GET is refused', async () => {
  const { url } = await start();
  expect((await fetch(`${url}/hook`)).status).toBe(405);
});

test('doubles are accepted and counted by id', async () => {
  const { receiver, post } = await start({ secret: SECRET });
  for (const id of ['a', 'b', 'a', 'a']) await post(sign(id));
  expect(receiver.occurrences()).toEqual(
    new Map([
      ['a', 3],
      ['b', 1],
    ]),
  );
  expect(receiver.received().map(({ id, raw }) => [id, raw.occurrence])).toEqual([
    ['a', 1],
    ['b', 1],
    ['a', 2],
    ['a', 3],
  ]);
  receiver.clear();
  expect([receiver.received().length, receiver.attempts().length, receiver.occurrences().size]).toEqual([0, 0, 0]);
});

describe('scripts', () => {
  test('answer the next messages, of one destination where it is named', async () => {
    const { receiver, post } = await start();
    receiver.script.next({ kind: 'answer', status: 503, headers: { 'retry-after': '9' }, body: 'later' }, { times: 2 });
    receiver.script.next({ kind: 'answer', status: 410 }, { destination: '/gone' });
    expect(await post()).toEqual({ status: 503, retryAfter: '9', text: 'later' });
    expect((await post({}, BODY, '/gone')).status).toBe(503);
    expect((await post()).status).toBe(200);
    expect((await post({}, BODY, '/gone')).status).toBe(410);
    expect((await post({}, BODY, '/gone')).status).toBe(200);
    expect(receiver.attempts().map(({ outcome, code }) => `${outcome} ${code}`)).toEqual([
      'scripted 503',
      'scripted 503',
      'accepted 200',
      'scripted 410',
      'accepted 200',
    ]);
    expect(receiver.received()).toHaveLength(2);
  });

  test('answer always until taken back, after those that are queued', async () => {
    const { receiver, post } = await start();
    const end = receiver.script.always({ kind: 'answer', status: 500 });
    receiver.script.next({ kind: 'answer', status: 429 });
    expect([(await post()).status, (await post()).status, (await post()).status]).toEqual([429, 500, 500]);
    end();
    expect((await post()).status).toBe(200);
    receiver.script.always({ kind: 'answer', status: 500 });
    receiver.script.clear();
    expect((await post()).status).toBe(200);
  });

  test('accept and reset, as a connection lost too late', async () => {
    const { receiver, post } = await start({ secret: SECRET });
    receiver.script.next({ kind: 'reset', recorded: true });
    await expect(post(sign('m'))).rejects.toThrow();
    expect((await post(sign('m'))).status).toBe(200);
    expect(receiver.received().map(({ raw }) => raw.occurrence)).toEqual([1, 2]);
    receiver.script.next({ kind: 'reset' });
    await expect(post(sign('n'))).rejects.toThrow();
    expect(receiver.received()).toHaveLength(2);
  });

  test('hang until the receiver stops', async () => {
    const { receiver, post } = await start();
    receiver.script.next({ kind: 'hang' });
    const answer = post().then(
      () => 'answered',
      () => 'broken',
    );
    await until('the post arrived', () => receiver.attempts().length === 1);
    await receiver.stop();
    expect(await answer).toBe('broken');
  });

  test('answer late', async () => {
    const { receiver, post } = await start();
    receiver.script.next({ kind: 'slow', durationMs: 50 });
    const answer = post();
    await until('it was taken', () => receiver.received().length === 1);
    expect((await answer).status).toBe(200);
  });
});

test('a rate lets a burst through, then answers 429 with the wait', async () => {
  let now = 1_000_000;
  const rates = [
    { limit: 1, windowMs: 1000, burst: 2, scope: 'destination' },
    { limit: 4, windowMs: 4000, scope: 'all' },
  ] as const;
  const { receiver, post } = await start({ rates, now: () => now });
  const statuses = async (...paths: string[]): Promise<(number | string | null)[]> => {
    const seen: (number | string | null)[] = [];
    for (const path of paths) {
      const { status, retryAfter } = await post({}, BODY, path);
      seen.push(status === 429 ? `429 after ${retryAfter}` : status);
    }
    return seen;
  };
  expect(await statuses('/a', '/a', '/a')).toEqual([200, 200, '429 after 1']);
  expect(await statuses('/b', '/b', '/c')).toEqual([200, 200, '429 after 1']);
  now += 1000;
  expect(await statuses('/a', '/a')).toEqual([200, '429 after 1']);
  expect(receiver.received()).toHaveLength(5);
  expect(receiver.attempts().filter(({ outcome }) => outcome === 'limited')).toHaveLength(3);
});

test('listeners hear of every message that is accepted', async () => {
  const { receiver, post } = await start();
  const told: string[] = [];
  const end = receiver.onReceived(({ destination }) => told.push(destination));
  await post({}, BODY, '/x?y=1');
  await post({}, '{');
  end();
  await post();
  expect(told).toEqual(['/x?y=1']);
});
