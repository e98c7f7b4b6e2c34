import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test } from 'vitest';
import type { Alert, JsonObject } from '../../../src/alert.ts';
import type { Format } from '../../../src/channels/channel.ts';
import { checksumAddress } from '../../../src/channels/content/finding.ts';
import { createPresentation } from '../../../src/channels/content/presentation.ts';
import { createGuardedPost } from '../../../src/channels/http.ts';
import { webhookConfig } from '../../../src/channels/webhook/config.ts';
import { webhook } from '../../../src/channels/webhook/module.ts';
import { deriveSecret } from '../../../src/channels/webhook/receiver-settings.ts';
import { createWebhookChannel } from '../../../src/channels/webhook/transport.ts';
import { announcementAlert } from '../../../src/features/announcements/announce.ts';
import { deliveryId, messageId } from '../../../src/item.ts';
import {
  destinationOf,
  inspectionAlert,
  notificationAlert,
  sampleInspection,
  TX_HASH,
  TX_ORIGIN,
} from '../../support/alerts.ts';
import { createCertificate } from '../../support/certificate.ts';
import { startHttpReceiver } from '../../support/http-receiver.ts';
import { startProxy } from '../../support/proxy.ts';
import { anyCharacter } from '../../support/texts.ts';
import { composeAs, textOf } from '../../support/webhooks.ts';

const secretOf = (fill: string): string => `whsec_${Buffer.alloc(32, fill).toString('base64')}`;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const compose = (
  alert: Alert,
  { format = 'rich', address = 'https://hooks.example/in' }: { format?: Format; address?: string } = {},
) => {
  const parcel = { destination: destinationOf('webhook', address), alerts: [alert] };
  const context = { format, presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' };
  const [message] = composeAs('standard', parcel, context);
  if (message === undefined) throw new Error('nothing composed');
  return message;
};

const payload = (alert: Alert, format: Format = 'rich'): JsonObject => JSON.parse(textOf(compose(alert, { format })));

const openWebhook = async (config: object, now = () => Date.now()) => {
  const receiver = await startHttpReceiver();
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1', 'localhost'] });
  closers.push(receiver.close, guard.close);
  const channel = createWebhookChannel(webhookConfig.parse(config), { post: guard.post, now });
  const send = (alert: Alert, address = `${receiver.origin}/in`) =>
    channel.send(compose(alert, { address }), AbortSignal.timeout(20_000));
  return { receiver, channel, send };
};

interface Host {
  /** Of the receiver that speaks TLS. */
  origin: string;
  /** `host:port` of both. */
  hosts: readonly [secure: string, plain: string];
  ca: string;
}

/** A receiver that speaks TLS and, behind another port of the host, one of plain http. */
const openHost = async (configOf: (host: Host) => object) => {
  const { key, cert } = createCertificate();
  const receivers = [await startHttpReceiver(undefined, { key, cert }), await startHttpReceiver()] as const;
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
  closers.push(...receivers.map(({ close }) => close), guard.close);
  const [secure, plain] = [receivers[0].origin, receivers[1].origin];
  const hosts = [new URL(secure).host, new URL(plain).host] as const;
  const config = webhookConfig.parse(configOf({ origin: secure, hosts, ca: cert }));
  const channel = createWebhookChannel(config, { post: guard.post, now: Date.now });
  const arrivalAt = async (address: string) => {
    await channel.send(compose(inspectionAlert(), { address }), AbortSignal.timeout(20_000));
    const arrived = receivers.find(({ origin }) => address.startsWith(origin))?.arrived.at(-1);
    if (arrived === undefined) throw new Error('nothing arrived');
    return arrived;
  };
  return { secure, plain, arrivalAt };
};

describe('payload', () => {
  test('of an inspection', () => {
    expect(payload(inspectionAlert())).toStrictEqual({
      type: 'inspection.critical',
      timestamp: '2026-11-20T10:07:31.002Z',
      data: {
        service: 'main',
        protocol: 'Lending Pool',
        summary:
          'CRITICAL · Lending Pool · Lending vault: “Borrowed 12,400 ETH and repaid in the same transaction; Balance fell by 61.5 %”',
        severity: 'critical',
        detectors: ['flashLoan', 'drasticBalanceChange'],
        chain: { id: '8453', name: 'Base' },
        links: {
          transaction: `https://basescan.org/tx/${TX_HASH}`,
          origin: `https://basescan.org/address/${checksumAddress(TX_ORIGIN)}`,
          contracts: [`https://basescan.org/address/${checksumAddress(`0x${'ab'.repeat(20)}`)}`],
        },
        inspection: sampleInspection(),
        replay: false,
      },
    });
  });

  test('of a stored notification', () => {
    const alert = notificationAlert('Paused', { replay: true });
    expect(payload(alert)).toStrictEqual({
      type: 'notification.created',
      timestamp: '2026-11-20T11:22:33.000Z',
      data: {
        service: 'main',
        protocol: 'Lending Pool',
        summary: expect.stringContaining('Paused'),
        severity: 'error',
        detectors: [],
        links: {},
        notification: alert.item,
        replay: true,
      },
    });
  });

  test('of a sample', () => {
    expect(payload(inspectionAlert({ type: 'test.sample' })).type).toBe('test.sample');
  });

  test('of a follow-up names the webhook-id that the first came under', () => {
    const first = inspectionAlert();
    const change = { of: first.id, was: 'critical', is: 'ok' };
    const { data } = payload(inspectionAlert({ id: 'other', type: 'inspection.downgraded', followUp: change }));
    expect(data).toMatchObject({ followUp: { ...change, of: compose(first, { format: 'rich' }).id } });
  });

  test('of a sample, an announcement and a notice', () => {
    const message = 'Slack #ops is broken';
    const announcement = announcementAlert({ about: 'destination.broken', key: '1', message }, Date.UTC(2026, 10, 20));
    expect(payload(announcement)).toStrictEqual({
      type: 'tocsin.destination.broken',
      timestamp: '2026-11-20T00:00:00.000Z',
      data: {
        service: 'Tocsin',
        protocol: 'Tocsin',
        summary: expect.stringContaining(message),
        severity: 'error',
        detectors: [],
        links: {},
        announcement: { message, createdAt: '2026-11-20T00:00:00.000Z' },
        replay: false,
      },
    });
    const notice = 'Slack #ops did not take it within 60s.';
    expect(payload(inspectionAlert({ notice })).data).toMatchObject({ notice });
  });

  test('a refused one comes again with the fields that identify the item, and says so', () => {
    const item = { note: 'n'.repeat(5000) };
    for (const format of ['plain', 'minimal'] as const) {
      const { data } = payload(inspectionAlert({ item }), format);
      const { inspection, partial } = data as { inspection: JsonObject; partial: boolean };
      expect(partial).toBe(true);
      expect(inspection).toMatchObject({ _id: '673d2f0a1b2c3d4e5f607182', txHash: TX_HASH, chainId: 8453 });
      expect(inspection).not.toHaveProperty('detections');
      expect(JSON.stringify(data).length).toBeLessThan(2500);
    }
  });

  test('any item arrives as it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (item) => {
        const parsed = JSON.parse(textOf(compose({ ...inspectionAlert(), item: item as JsonObject })));
        // JSON itself knows no negative zero.
        expect(parsed.data.inspection).toEqual(JSON.parse(JSON.stringify(item)));
      }),
    );
  });
});

describe('batches', () => {
  const alerts = ['a', 'b', 'c', 'd', 'e'].map((_id, index) =>
    inspectionAlert({ item: { _id }, at: `2026-11-20T10:07:3${9 - index}.000Z` }),
  );
  const destination = destinationOf('webhook', 'https://hooks.example/in');
  const composeAll = (format: Format, batch: number, some = alerts) =>
    composeAs(
      'standard',
      { destination, alerts: some },
      { format, presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' },
      { batch },
    ).map((message) => ({
      id: message.id,
      told: message.alerts.map(({ itemId }) => itemId),
      payload: JSON.parse(textOf(message)),
    }));

  test('by default each alert comes by itself', () => {
    const messages = composeAll('rich', webhookConfig.parse({}).batch);
    expect(messages.map(({ told }) => told)).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
    expect(messages.map(({ payload: { type } }) => type)).toEqual(Array(5).fill('inspection.critical'));
  });

  test('as asked for, so many come in one message that has them as they would come alone', () => {
    const [first, second, third] = composeAll('rich', 2);
    expect(first?.payload).toStrictEqual({
      type: 'batch',
      timestamp: '2026-11-20T10:07:39.000Z',
      data: { items: alerts.slice(0, 2).map((alert) => payload(alert)) },
    });
    expect(first?.id).toBe(
      messageId(
        alerts.slice(0, 2).map(({ id }) => id),
        destination.id,
      ),
    );
    expect(second?.told).toEqual(['c', 'd']);
    expect(third).toEqual({
      id: deliveryId(alerts[4]?.id ?? '', destination.id),
      told: ['e'],
      payload: payload(alerts[4] ?? inspectionAlert()),
    });
  });

  test('one that was refused comes again in single ones, and these, refused, with less', () => {
    const single = composeAll('plain', 3, alerts.slice(0, 3));
    expect(single.map((message) => message.payload)).toStrictEqual(alerts.slice(0, 3).map((alert) => payload(alert)));
    expect(composeAll('plain', 3, alerts.slice(0, 1))[0]?.payload.data.partial).toBe(true);
    for (const message of composeAll('minimal', 3)) expect(message.payload.data.partial).toBe(true);
  });
});

describe('signature', () => {
  test('is what the reference library verifies, over the bytes that arrived', async () => {
    const { receiver, send } = await openWebhook({ secret: secretOf('a') });
    await send(inspectionAlert({ protocol: 'Ünïcode \ud83e\udde8 "quoted" \u2028' }));
    const [request] = receiver.arrived;
    const verified = new Webhook(secretOf('a')).verify(request?.body ?? '', request?.headers ?? {});
    expect(verified).toEqual(JSON.parse(request?.body ?? ''));
    expect(() => new Webhook(secretOf('b')).verify(request?.body ?? '', request?.headers ?? {})).toThrow();
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'tocsin' });
  });

  test('any body verifies', async () => {
    const verifier = new Webhook(secretOf('a'));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter }), async (text) => {
        const sent: { body: string; headers: Record<string, string> }[] = [];
        const channel = createWebhookChannel(webhookConfig.parse({ secret: secretOf('a') }), {
          post: async ({ body, headers }) => {
            sent.push({ body, headers });
            return { status: 200, headers: {}, text: '' };
          },
          now: Date.now,
        });
        await channel.send(compose(notificationAlert(text)), new AbortController().signal);
        const [request] = sent;
        expect(verifier.verify(request?.body ?? '', request?.headers ?? {})).toEqual(JSON.parse(request?.body ?? ''));
      }),
    );
  });

  test('a retry keeps the id and renews timestamp and signature', async () => {
    const clock = { now: Date.now() - 3_600_000 };
    const { receiver, send } = await openWebhook({ secret: secretOf('a') }, () => clock.now);
    receiver.script({ status: 503 });
    await expect(send(inspectionAlert())).rejects.toMatchObject({ name: 'DeliveryError', reason: 'unavailable' });
    clock.now += 3_600_000;
    await send(inspectionAlert());
    const [first, second] = receiver.arrived.map(({ headers }) => headers);
    const destination = destinationOf('webhook', `${receiver.origin}/in`);
    expect(first?.['webhook-id']).toBe(deliveryId(inspectionAlert().id, destination.id));
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(Number(second?.['webhook-timestamp']) - Number(first?.['webhook-timestamp'])).toBe(3600);
    expect(second?.['webhook-signature']).not.toBe(first?.['webhook-signature']);
    expect(receiver.arrived[0]?.body).toBe(receiver.arrived[1]?.body);
    const { body = '' } = receiver.arrived[1] ?? {};
    expect(new Webhook(secretOf('a')).verify(body, second ?? {})).toEqual(JSON.parse(body));
  });

  test('the secret of the URL wins over that of the host, and both over the common one', async () => {
    const { secure, plain, arrivalAt } = await openHost(({ origin, hosts: [host, plainHost], ca }) => ({
      secret: secretOf('a'),
      secrets: { [`${origin}/own`]: secretOf('b'), [host]: secretOf('c'), [plainHost]: secretOf('d') },
      receivers: { [host]: { ca } },
    }));
    const cases = [
      [`${secure}/own`, 'b'],
      [`${secure}/other`, 'c'],
      [`${plain}/other`, 'a'],
    ] as const;
    for (const [address, fill] of cases) {
      const { body, headers } = await arrivalAt(address);
      expect(new Webhook(secretOf(fill)).verify(body, headers), address).toEqual(JSON.parse(body));
    }
  });

  test.each([
    ['the common one', (_url: string, secret: unknown) => ({ secret })],
    ["the receiver's", (url: string, secret: unknown) => ({ secret: secretOf('x'), secrets: { [url]: secret } })],
  ])('while %s is rotated, whoever knows either secret can verify', async (_name, configOf) => {
    const receiver = await startHttpReceiver();
    const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
    closers.push(receiver.close, guard.close);
    const address = `${receiver.origin}/in`;
    const config = webhookConfig.parse(configOf(address, [secretOf('n'), secretOf('o')]));
    const channel = createWebhookChannel(config, { post: guard.post, now: Date.now });
    await channel.send(compose(inspectionAlert(), { address }), AbortSignal.timeout(20_000));
    const { body = '', headers = {} } = receiver.arrived[0] ?? {};
    const [newer = '', older = '', ...others] = (headers['webhook-signature'] ?? '').split(' ');
    expect(others).toEqual([]);
    for (const fill of ['n', 'o']) expect(new Webhook(secretOf(fill)).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => new Webhook(secretOf('x')).verify(body, headers)).toThrow();
    const verifyOnly = (fill: string, signature: string) =>
      new Webhook(secretOf(fill)).verify(body, { ...headers, 'webhook-signature': signature });
    expect(verifyOnly('n', newer)).toEqual(JSON.parse(body));
    expect(verifyOnly('o', older)).toEqual(JSON.parse(body));
    expect(() => verifyOnly('n', older)).toThrow();
  });

  test('derived, each URL verifies by its own secret, and by no other', async () => {
    const { receiver, channel, send } = await openWebhook({ secret: secretOf('a'), deriveSecrets: true });
    for (const path of ['/one', '/two', '/one']) await send(inspectionAlert(), `${receiver.origin}${path}`);
    const [one, two] = ['/one', '/two'].map((path) => deriveSecret(secretOf('a'), `${receiver.origin}${path}`));
    const verifiers = { '/one': new Webhook(one ?? ''), '/two': new Webhook(two ?? '') };
    expect(receiver.accepted).toHaveLength(3);
    for (const { path, body, headers } of receiver.accepted) {
      for (const [own, verifier] of Object.entries(verifiers)) {
        if (own === path) expect(verifier.verify(body, headers)).toEqual(JSON.parse(body));
        else expect(() => verifier.verify(body, headers)).toThrow();
      }
      expect(() => new Webhook(secretOf('a')).verify(body, headers)).toThrow();
    }
    expect(await channel.verify(new AbortController().signal)).toMatch(/each URL with a secret of its own/);
  });

  test('without a secret it is left out, and verify says so', async () => {
    const { receiver, channel, send } = await openWebhook({});
    await send(inspectionAlert());
    expect(receiver.arrived[0]?.headers).not.toHaveProperty('webhook-signature');
    expect(receiver.arrived[0]?.headers).toHaveProperty('webhook-id');
    expect(await channel.verify(new AbortController().signal)).toMatch(/unsigned/);
    const partly = await openWebhook({ secrets: { 'hooks.example': secretOf('a') } });
    expect(await partly.channel.verify(new AbortController().signal)).toMatch(/1 .*unsigned/);
    const signed = await openWebhook({ secret: secretOf('a') });
    expect(await signed.channel.verify(new AbortController().signal)).not.toMatch(/unsigned/);
  });
});

describe('receivers', () => {
  test('headers go to those for whom they are set, the URL before the host, and never in place of ours', async () => {
    const { secure, plain, arrivalAt } = await openHost(({ origin, hosts: [host, plainHost], ca }) => ({
      receivers: {
        [`${origin}/own`]: { headers: { 'X-Own': 'one', 'user-agent': 'ours' }, ca },
        [host]: { headers: { Authorization: 'Bearer two' }, ca },
        [plainHost]: { headers: { Authorization: 'Bearer three' } },
      },
    }));
    expect((await arrivalAt(`${secure}/own`)).headers).toMatchObject({
      'x-own': 'one',
      'user-agent': 'ours',
      'content-type': 'application/json',
    });
    const { headers: byHost } = await arrivalAt(`${secure}/other`);
    expect(byHost).toMatchObject({ authorization: 'Bearer two', 'user-agent': 'tocsin' });
    expect(byHost).not.toHaveProperty('x-own');
    expect((await arrivalAt(`${plain}/other`)).headers).not.toHaveProperty('authorization');
  });

  test('a proxy is asked for those for whom it is set', async () => {
    const proxy = await startProxy();
    closers.push(proxy.close);
    const { secure, plain, arrivalAt } = await openHost(({ hosts: [host, plainHost], ca }) => ({
      receivers: { [host]: { proxy: proxy.origin, ca }, [plainHost]: { proxy: proxy.origin } },
    }));
    await arrivalAt(secure);
    await arrivalAt(plain);
    expect(proxy.asked).toEqual([new URL(secure).host]);
  });
});

test('verify names the formats of receivers, and no path', async () => {
  const { channel } = await openWebhook({
    receivers: { 'discord.com': { format: 'discord' }, 'https://teams.example/s3cr3t': { format: 'teams' } },
  });
  const verified = await channel.verify(new AbortController().signal);
  expect(verified).toMatch(/; sends to discord\.com as discord, teams\.example \([0-9a-f]{4}\) as teams$/);
  expect(verified).not.toContain('s3cr3t');
});

test('another format is signed where a secret is meant for its receiver alone', async () => {
  const { receiver } = await openWebhook({});
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
  closers.push(guard.close);
  const address = `${receiver.origin}/in`;
  const channelWith = (secrets: Record<string, string>) =>
    createWebhookChannel(
      webhookConfig.parse({ secret: secretOf('a'), secrets, receivers: { [address]: { format: 'alertmanager' } } }),
      { post: guard.post, now: Date.now },
    );
  const context = { format: 'rich' as const, presentation: createPresentation(), sentAt: '2026-11-20T10:08:00.000Z' };
  const [message] = composeAs(
    'alertmanager',
    { destination: destinationOf('webhook', address), alerts: [inspectionAlert()] },
    context,
  );
  if (message === undefined) throw new Error('nothing composed');
  await channelWith({ [address]: secretOf('b') }).send(message, AbortSignal.timeout(20_000));
  await channelWith({}).send(message, AbortSignal.timeout(20_000));
  const [signed, unsigned] = receiver.arrived;
  expect(new Webhook(secretOf('b')).verify(signed?.body ?? '', signed?.headers ?? {})).toHaveLength(1);
  expect(Object.keys(unsigned?.headers ?? {}).filter((name) => name.startsWith('webhook-'))).toEqual([]);
});

describe('status', () => {
  const REASONS: Record<string, number[]> = {
    'rate-limited': [429],
    unavailable: [408, 425, 500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 525, 526, 527, 530],
    'bad-message': [400, 413, 422],
    'destination-dead': [300, 301, 302, 303, 304, 307, 308, 405, 406, 410, 411, 414, 415, 431, 451, 501],
    unknown: [401, 402, 403, 404, 407, 409, 412, 416, 417, 418, 421, 423, 424, 426, 428, 505, 599],
  };

  test.each(Object.entries(REASONS))('%s', async (reason, statuses) => {
    const { receiver, send } = await openWebhook({});
    for (const status of statuses) {
      receiver.script({ status });
      const error: unknown = await send(inspectionAlert()).catch((thrown: unknown) => thrown);
      expect(error, String(status)).toMatchObject({ name: 'DeliveryError', reason, code: String(status) });
    }
  });

  test('401 names our signature only where the webhook had one', async () => {
    const refused = async (config: object): Promise<unknown> => {
      const { receiver, send } = await openWebhook(config);
      receiver.script({ status: 401 });
      return send(inspectionAlert()).catch((thrown: unknown) => thrown);
    };
    expect(await refused({})).toMatchObject({ explanation: { is: 'wants a signature or other credentials' } });
    expect(await refused({ secret: secretOf('a') })).toMatchObject({
      explanation: { is: 'does not take the signature or credentials of Tocsin' },
    });
  });

  test.each([200, 201, 202, 204, 299])('%d is a receipt', async (status) => {
    const { receiver, send } = await openWebhook({});
    receiver.script({ status });
    await expect(send(inspectionAlert())).resolves.toEqual({});
  });

  test('a message of which the receiver has to be told nothing is not sent, and the receipt says so', async () => {
    const { receiver, channel } = await openWebhook({});
    const nothing = { ...compose(inspectionAlert(), { address: `${receiver.origin}/in` }), body: [] };
    expect(await channel.send(nothing, AbortSignal.timeout(20_000))).toEqual({ isUnsent: true });
    expect(receiver.arrived).toEqual([]);
  });

  test('only 410 says that nothing more is wanted', async () => {
    const { receiver, send } = await openWebhook({});
    for (const status of [404, 405, 410, 451]) {
      receiver.script({ status });
      const error: unknown = await send(inspectionAlert()).catch((thrown: unknown) => thrown);
      expect(error, String(status)).toMatchObject({ disables: status === 410 });
    }
  });

  test('a redirect names the host it leads to and nothing more', async () => {
    const { receiver, send } = await openWebhook({});
    receiver.script({ status: 307, headers: { location: 'https://user:s3cr3t@elsewhere.example/s3cr3t?s3cr3t' } });
    const error: unknown = await send(inspectionAlert()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'DeliveryError', reason: 'destination-dead', code: '307' });
    expect(String(error)).toContain('elsewhere.example');
    expect(String(error)).not.toContain('s3cr3t');
  });
});

describe('configuration', () => {
  const valid = (config: object): boolean => webhookConfig.safeParse(config).success;

  test('takes secrets of 24 to 64 bytes', () => {
    for (const bytes of [24, 25, 26, 32, 63, 64]) {
      expect(valid({ secret: `whsec_${Buffer.alloc(bytes, 7).toString('base64')}` }), `${bytes}`).toBe(true);
    }
    for (const bytes of [0, 8, 22, 70]) {
      expect(valid({ secret: `whsec_${Buffer.alloc(bytes, 7).toString('base64')}` }), `${bytes}`).toBe(false);
    }
    for (const secret of ['', 'plain', 'whsec_', `whsec_${'!'.repeat(40)}`, `whsk_${'A'.repeat(44)}`, 7]) {
      expect(valid({ secret }), String(secret)).toBe(false);
      expect(valid({ secret: [secretOf('a'), secret] }), String(secret)).toBe(false);
    }
  });

  test('defaults', () => {
    expect(webhookConfig.parse({})).toEqual({
      secrets: {},
      deriveSecrets: false,
      groupWait: 2000,
      receivers: {},
      batch: 1,
      allowHttp: false,
      allowNetworks: [],
      denyNetworks: [],
      rateLimit: {},
      concurrency: 50,
      timeout: 15_000,
      retry: { maxAge: 86_400_000 },
    });
  });

  test.each([
    [{ rateLimit: { perSecond: 0 } }],
    [{ rateLimit: { burst: 1.5 } }],
    [{ concurrency: 0 }],
    [{ timeout: '1ms' }],
    [{ retry: { maxage: '1h' } }],
    [{ allowNetworks: ['10.0.0.0/99'] }],
    [{ denyNetworks: ['10.0.0.0/99'] }],
    [{ denyNetworks: ['hooks.example'] }],
    [{ sceret: 'x' }],
    [{ secret: [] }],
    [{ secret: [secretOf('a'), secretOf('b'), secretOf('c')] }],
    [{ secrets: { 'hooks.example': [] } }],
    [{ secrets: { 'hooks.example/in': secretOf('a') } }],
    [{ batch: 0 }],
    [{ batch: 21 }],
  ])('refuses %j', (config) => {
    expect(valid(config)).toBe(false);
  });
});

describe('configuration of receivers', () => {
  const own = createCertificate();
  const problemsOf = (receiver: object, name = 'hooks.example') =>
    (webhookConfig.safeParse({ receivers: { [name]: receiver } }).error?.issues ?? []).map(
      ({ path, message, ...issue }) =>
        `${path.slice(2).join('.')}: ${issue.code === 'invalid_key' ? issue.issues[0]?.message : message}`,
    );

  test.each([
    [{}],
    [{ headers: { authorization: 'Bearer x', 'X-Team_1': 'a b' } }],
    [{ ca: own.cert }],
    [{ ca: `# two\n${own.cert}\n${createCertificate().cert}`.trim() }],
    [{ cert: own.cert.trim(), key: own.key.trim() }],
    [{ proxy: 'http://user:p%40ss@proxy.example:3128' }],
    [{ proxy: 'https://proxy.example/' }],
  ])('%#: it is right', (receiver) => {
    expect(problemsOf(receiver)).toEqual([]);
  });

  test.each([
    ['headers.webhook-id', { headers: { 'webhook-id': 'x' } }, /set by Tocsin/],
    ['headers.Webhook-Extra', { headers: { 'Webhook-Extra': 'x' } }, /set by Tocsin/],
    ['headers.Content-Type', { headers: { 'Content-Type': 'x' } }, /set by Tocsin/],
    ['headers.content-length', { headers: { 'content-length': '1' } }, /set by Tocsin/],
    ['headers.Host', { headers: { Host: 'x' } }, /set by Tocsin/],
    ['headers.connection', { headers: { connection: 'x' } }, /set by Tocsin/],
    ['headers.Transfer-Encoding', { headers: { 'Transfer-Encoding': 'chunked' } }, /set by Tocsin/],
    ['headers.proxy-authorization', { headers: { 'proxy-authorization': 'x' } }, /set by Tocsin/],
    ['headers.x y', { headers: { 'x y': 'x' } }, /a header's name/],
    ['headers.x:', { headers: { 'x:': 'x' } }, /a header's name/],
    ['headers.x', { headers: { x: 'a\r\nb: c' } }, /printable ASCII/],
    ['headers.x', { headers: { x: ' a' } }, /printable ASCII/],
    ['headers.x', { headers: { x: '' } }, /printable ASCII/],
    ['headers.x', { headers: { x: 'ü' } }, /printable ASCII/],
    ['headers', { headers: { x: 'a', X: 'b' } }, /twice/],
    ['ca', { ca: '/etc/ssl/ca.pem' }, /certificates in PEM.*\$\{file:PATH\}/],
    ['ca', { ca: own.cert.replace('MII', 'AAA') }, /certificates in PEM/],
    ['ca', { ca: own.key }, /certificates in PEM/],
    ['', { cert: own.cert }, /both or neither/],
    ['', { key: own.key }, /both or neither/],
    ['key', { cert: own.cert, key: createCertificate().key }, /is not the key of/],
    ['key', { cert: own.cert, key: own.cert }, /private key in PEM/],
    ['proxy', { proxy: 'socks5://proxy.example' }, /http or https URL of a proxy/],
    ['proxy', { proxy: 'proxy.example:3128' }, /http or https URL of a proxy/],
    ['proxy', { proxy: 'http://user:%zz@proxy.example' }, /http or https URL of a proxy/],
    ['proxy', { proxy: 'http://proxy.example/path' }, /http or https URL of a proxy/],
  ])('%#: %s has a problem', (path, receiver, rule) => {
    const [problem = '', ...others] = problemsOf(receiver);
    expect(others).toEqual([]);
    expect(problem.startsWith(`${path}: `), problem).toBe(true);
    expect(problem).toMatch(rule);
  });

  test.each(['https://hooks.example/in?a=b', 'hooks.example', 'HOOKS.example:8443', '[::1]:80', '10.0.0.1'])(
    'a receiver may be named %s',
    (name) => expect(problemsOf({}, name)).toEqual([]),
  );

  test.each(['', 'hooks.example/in', 'ftp://hooks.example', 'two hosts', 'user@hooks.example', 'https://'])(
    'none may be named %j',
    (name) => expect(problemsOf({}, name)).toEqual([expect.stringMatching(/a URL, a host or host:port/)]),
  );
});

describe('addresses', () => {
  test('one spelling for one address; fragments go, paths and queries stay', () => {
    const entry = {
      name: 'webhook',
      url: ' https://HOOKS.example:443/In?k=v#top ',
      contacts: ['https://hooks.example/In?k=v', 'https://hooks.example/in?k=v'],
    };
    expect(webhook.addressesOf(entry)).toEqual({
      addresses: ['https://hooks.example/In?k=v', 'https://hooks.example/in?k=v'],
      problems: [],
    });
  });

  test('a problem quotes the contact without what may be secret', () => {
    const { addresses, problems } = webhook.addressesOf({
      name: 'webhook',
      contacts: ['ftp://user:s3cr3t@files.example/x', 'whsec_c2VjcmV0c2VjcmV0', `${'long '.repeat(50)}\r\nend`],
    });
    expect(addresses).toEqual([]);
    expect(problems).toHaveLength(3);
    expect(problems.join('\n')).not.toMatch(/s3cr3t|c2VjcmV0/);
  });

  test('labels differ for addresses of one host', () => {
    const label = webhook.labelOf('https://hooks.example/services/s3cr3t');
    expect(label).toMatch(/^hooks\.example \([0-9a-f]{4}\)$/);
    expect(webhook.labelOf('https://hooks.example/services/other')).not.toBe(label);
  });
});
