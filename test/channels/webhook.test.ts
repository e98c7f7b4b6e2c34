import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test } from 'vitest';
import { type Alert, deliveryId, type JsonObject } from '../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../src/channels/chains.ts';
import type { Format } from '../../src/channels/channel.ts';
import { createGuardedPost } from '../../src/channels/http.ts';
import { webhookConfig } from '../../src/channels/webhook/config.ts';
import { composeWebhook } from '../../src/channels/webhook/message.ts';
import { webhook } from '../../src/channels/webhook/transport.ts';
import { DeliveryError } from '../../src/errors.ts';
import { destinationOf, inspectionAlert, notificationAlert, sampleInspection, TX_HASH } from '../support/alerts.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';

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
  const [message] = composeWebhook(parcel, { format, chains: WELL_KNOWN_CHAINS, sentAt: '2026-11-20T10:08:00.000Z' });
  if (message === undefined) throw new Error('nothing composed');
  return message;
};

const payload = (alert: Alert, format: Format = 'rich'): JsonObject => JSON.parse(compose(alert, { format }).body);

const openWebhook = async (config: object, now = () => Date.now()) => {
  const receiver = await startHttpReceiver();
  const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1', 'localhost'] });
  closers.push(receiver.close, guard.close);
  const channel = webhook.create(webhookConfig.parse(config), { post: guard.post, now });
  const send = (alert: Alert, address = `${receiver.origin}/in`) =>
    channel.send(compose(alert, { address }), AbortSignal.timeout(20_000));
  return { receiver, channel, send };
};

describe('payload', () => {
  test('of an inspection', () => {
    expect(payload(inspectionAlert())).toStrictEqual({
      type: 'inspection.critical',
      timestamp: '2026-11-20T10:07:31.002Z',
      data: {
        service: 'main',
        protocol: 'Lending Pool',
        inspection: sampleInspection(),
        links: { transaction: `https://basescan.org/tx/${TX_HASH}` },
        replay: false,
      },
    });
  });

  test('of a stored notification', () => {
    const alert = notificationAlert('Paused', { replay: true });
    expect(payload(alert)).toStrictEqual({
      type: 'notification.created',
      timestamp: '2026-11-20T11:22:33.000Z',
      data: { service: 'main', protocol: 'Lending Pool', notification: alert.item, links: {}, replay: true },
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

  test('a refused one comes again with what tells the item apart, and says so', () => {
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
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (item) => {
        const parsed = JSON.parse(compose({ ...inspectionAlert(), item: item as JsonObject }).body);
        // JSON itself knows no negative zero.
        expect(parsed.data.inspection).toEqual(JSON.parse(JSON.stringify(item)));
      }),
    );
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
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const sent: { body: string; headers: Record<string, string> }[] = [];
        const channel = webhook.create(webhookConfig.parse({ secret: secretOf('a') }), {
          post: async ({ body, headers }) => {
            sent.push({ body, headers });
            return { status: 200, headers: {}, text: '' };
          },
          now: Date.now,
        });
        await channel.send(compose(notificationAlert(text)), new AbortController().signal);
        const [request] = sent;
        expect(() => verifier.verify(request?.body ?? '', request?.headers ?? {})).not.toThrow();
      }),
    );
  });

  test('a retry keeps the id and renews timestamp and signature', async () => {
    const clock = { now: Date.now() - 3_600_000 };
    const { receiver, send } = await openWebhook({ secret: secretOf('a') }, () => clock.now);
    receiver.script({ status: 503 });
    await expect(send(inspectionAlert())).rejects.toBeInstanceOf(DeliveryError);
    clock.now += 3_600_000;
    await send(inspectionAlert());
    const [first, second] = receiver.arrived.map(({ headers }) => headers);
    const destination = destinationOf('webhook', `${receiver.origin}/in`);
    expect(first?.['webhook-id']).toBe(deliveryId(inspectionAlert().id, destination.id));
    expect(second?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(Number(second?.['webhook-timestamp']) - Number(first?.['webhook-timestamp'])).toBe(3600);
    expect(second?.['webhook-signature']).not.toBe(first?.['webhook-signature']);
    expect(receiver.arrived[0]?.body).toBe(receiver.arrived[1]?.body);
    expect(() => new Webhook(secretOf('a')).verify(receiver.arrived[1]?.body ?? '', second ?? {})).not.toThrow();
  });

  test('the secret of the URL wins over that of the host, and both over the common one', async () => {
    const receiver = await startHttpReceiver();
    const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1', 'localhost'] });
    closers.push(receiver.close, guard.close);
    const { host } = new URL(receiver.origin);
    const config = webhookConfig.parse({
      secret: secretOf('a'),
      secrets: { [`${receiver.origin}/own`]: secretOf('b'), [host]: secretOf('c') },
    });
    const channel = webhook.create(config, { post: guard.post, now: Date.now });
    const local = receiver.origin.replace('127.0.0.1', 'localhost');
    const cases = [
      [`${receiver.origin}/own`, 'b'],
      [`${receiver.origin}/other`, 'c'],
      [`${local}/other`, 'a'],
    ] as const;
    for (const [address, fill] of cases) {
      await channel.send(compose(inspectionAlert(), { address }), AbortSignal.timeout(20_000));
      const { body, headers } = receiver.arrived.at(-1) ?? { body: '', headers: {} };
      expect(() => new Webhook(secretOf(fill)).verify(body, headers), address).not.toThrow();
    }
    expect(receiver.arrived).toHaveLength(3);
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

describe('status', () => {
  const REASONS: Record<string, number[]> = {
    'rate-limited': [429],
    retry: [408, 425, 500, 502, 503, 504, 507, 508, 520, 521, 522, 523, 524, 525, 526, 527, 530],
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

  test.each([200, 201, 202, 204, 299])('%d is a receipt', async (status) => {
    const { receiver, send } = await openWebhook({});
    receiver.script({ status });
    await expect(send(inspectionAlert())).resolves.toEqual({});
  });

  test('a redirect names the host it leads to and nothing more', async () => {
    const { receiver, send } = await openWebhook({});
    receiver.script({ status: 307, headers: { location: 'https://user:s3cr3t@elsewhere.example/s3cr3t?s3cr3t' } });
    const error: unknown = await send(inspectionAlert()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeliveryError);
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
    }
  });

  test('defaults', () => {
    expect(webhookConfig.parse({})).toEqual({
      secrets: {},
      allowHttp: false,
      allowNetworks: [],
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
    [{ sceret: 'x' }],
  ])('refuses %j', (config) => {
    expect(valid(config)).toBe(false);
  });
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

  test('labels tell addresses of one host apart', () => {
    const label = webhook.labelOf('https://hooks.example/services/s3cr3t');
    expect(label).toMatch(/^hooks\.example\/…[0-9a-f]{4}$/);
    expect(webhook.labelOf('https://hooks.example/services/other')).not.toBe(label);
  });
});
