/** The whole sandbox: both ends, their events, and that nothing of it stays behind. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { WebClient } from '@slack/web-api';
import nodemailer from 'nodemailer';
import { Webhook } from 'standardwebhooks';
import { Telegram } from 'telegraf';
import { fetch } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SandboxEvent } from '../../src/sandbox/events.ts';
import { CRITICAL, createSandbox, type SandboxAddresses, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import type { SandboxChannel } from '../../src/sandbox/service/model.ts';
import { until } from '../support/until.ts';

const start = async (options: SandboxOptions = {}) => {
  const sandbox = createSandbox(options);
  onTestFinished(() => sandbox.stop());
  return { sandbox, addresses: await sandbox.start() };
};

const portsOf = ({ service, slack, telegram, smtp, webhook }: SandboxAddresses): number[] => [
  ...[service.url, slack.apiUrl, telegram.apiRoot, webhook.url].map((url) => Number(new URL(url).port)),
  smtp.port,
];

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

const ask = async (addresses: SandboxAddresses, path: string): Promise<unknown> => {
  const { url, apiKey } = addresses.service;
  return (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } })).json();
};

/** Sends a text to where a channel entry points, as a daemon would. */
const deliver = async (channel: SandboxChannel, addresses: SandboxAddresses, text: string): Promise<void> => {
  const [contact = ''] = channel.contacts ?? [];
  if (channel.name === 'email') {
    const transport = nodemailer.createTransport({ host: addresses.smtp.host, port: addresses.smtp.port });
    await transport.sendMail({ from: 'tocsin@example.com', to: contact, subject: 's', text });
    transport.close();
  }
  if (channel.name === 'slack')
    await new WebClient(addresses.slack.botToken, { slackApiUrl: addresses.slack.apiUrl }).chat.postMessage({
      channel: contact,
      text,
    });
  if (channel.name === 'telegram') {
    const [chat = '', topic] = contact.split('/');
    const bot = new Telegram(addresses.telegram.botToken, { apiRoot: addresses.telegram.apiRoot });
    await bot.sendMessage(chat, text, topic === undefined ? {} : { message_thread_id: Number(topic) });
  }
  if (channel.name === 'webhook') {
    const body = JSON.stringify({ type: 'inspection.critical', data: { text } });
    const at = new Date();
    await fetch(channel.url ?? '', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(addresses.webhook.secret).sign('msg_1', at, body),
      },
      body,
    });
  }
};

describe('from the service to the receivers', () => {
  test('the listed channels of every protocol lead to our own receivers', async () => {
    const { sandbox, addresses } = await start();
    const [listing] = (await ask(addresses, '/protocols')) as [{ page: { protocols: unknown }[] }];
    expect(listing.page).toHaveLength(5);
    for (const { channels } of sandbox.service.protocols())
      for (const channel of channels) await deliver(channel, addresses, 'hello');
    const kinds = sandbox.received().map(({ kind }) => kind);
    expect(kinds).toHaveLength(20);
    expect(new Set(kinds)).toEqual(new Set(['email', 'slack', 'telegram', 'webhook']));
    const destinations = new Set(sandbox.received().map(({ kind, destination }) => `${kind} ${destination}`));
    expect(destinations.size).toBe(20);
    expect(destinations).toContain('telegram -1004200000002/7');
  });

  test('listeners hear of what is produced and what arrives, and the two match by transaction and id', async () => {
    const { sandbox, addresses } = await start();
    const events: SandboxEvent[] = [];
    const end = sandbox.onEvent((event) => events.push(event));
    const { channels } = sandbox.service.protocols()[0] ?? { channels: [] };
    const item = sandbox.service.insertInspection({ assessment: 'critical', txHash: `0x${'AB'.repeat(32)}` });
    const notification = sandbox.service.insertNotification({ message: `see ${item.txHash}!` });
    for (const channel of channels) await deliver(channel, addresses, `${item._id} ${item.txHash}\n${item.txHash}`);
    end();
    sandbox.service.insertInspection();
    const txHash = item.txHash.toLowerCase();
    expect(events.slice(0, 2)).toEqual([
      {
        type: 'produced',
        source: 'inspections',
        protocol: item.protocol,
        id: item._id,
        txHash,
        assessment: 'critical',
        at: item.createdAt,
      },
      {
        type: 'produced',
        source: 'notifications',
        protocol: item.protocol,
        id: notification.id,
        message: notification.message,
        txHash,
        at: notification.createdAt,
      },
    ]);
    const arrived = events.slice(2);
    expect(arrived.map((event) => event.type === 'received' && event.kind).toSorted()).toEqual([
      'email',
      'slack',
      'telegram',
      'webhook',
    ]);
    for (const event of arrived) expect(event).toMatchObject({ ids: [item._id], txHashes: [txHash] });
  });

  test('traffic runs until it is stopped, and only one at a time', async () => {
    const { sandbox, addresses } = await start({ seed: 5 });
    let produced = 0;
    sandbox.onEvent(() => {
      produced += 1;
    });
    sandbox.startTraffic({ everyMs: 100_000 });
    sandbox.startTraffic({ everyMs: 5, critical: 1, notified: 0, announced: 0 });
    await until('some traffic', () => produced >= 5);
    sandbox.stopTraffic();
    const count = produced;
    sandbox.produce({ critical: 0, suspecious: 0, announced: 0 });
    expect(produced).toBe(count + 1);
    const [first, ...others] = sandbox.service.inspections();
    expect([first, ...others].filter((item) => item?.assessment === 'critical')).toHaveLength(count);
    const { page } = (await ask(addresses, `/${encodeURIComponent(first?.protocol ?? '')}/inspections?sort=asc`)) as {
      page: { _id: string }[];
    };
    expect(page.map(({ _id }) => _id)).toContain(first?._id);
  });

  test('the same seed produces the same, through a running service', async () => {
    const run = async (seed: string): Promise<unknown[]> => {
      const { sandbox } = await start({ seed, now: () => 1_000_000_000_000 });
      for (let index = 0; index < 50; index += 1) sandbox.produce();
      return [...sandbox.service.inspections(), ...sandbox.service.notifications(), sandbox.service.protocols().length];
    };
    expect(await run('a')).toEqual(await run('a'));
    expect(await run('a')).not.toEqual(await run('b'));
  });
});

describe('addresses', () => {
  test('tokens and keys given are the ones that open', async () => {
    const { addresses } = await start({
      apiKey: 'k',
      slackToken: 'xoxb-1',
      telegramToken: '1:t',
      smtpAuth: { user: 'u', pass: 'p' },
    });
    expect(addresses).toMatchObject({
      service: { apiKey: 'k' },
      slack: { botToken: 'xoxb-1' },
      telegram: { botToken: '1:t' },
      smtp: { user: 'u', pass: 'p' },
    });
    expect(await ask(addresses, '/protocols')).toMatchObject([{ total: 5 }]);
    const slack = new WebClient('xoxb-1', { slackApiUrl: addresses.slack.apiUrl });
    expect(await slack.auth.test()).toMatchObject({ ok: true });
    const { apiRoot } = addresses.telegram;
    expect(await new Telegram('1:t', { apiRoot }).getMe()).toMatchObject({ is_bot: true });
    const transport = nodemailer.createTransport({ ...addresses.smtp, auth: { user: 'u', pass: 'p' } });
    expect(await transport.verify()).toBe(true);
    transport.close();
  });

  test('a public host stands in every address, also in the webhooks that the service lists', async () => {
    const { sandbox, addresses } = await start({ host: '0.0.0.0', publicHost: 'sandbox.test' });
    const urls = [
      addresses.service.url,
      addresses.slack.apiUrl,
      addresses.slack.webhookUrl,
      addresses.telegram.apiRoot,
    ];
    expect([...urls, addresses.webhook.url].map((url) => new URL(url).hostname)).toEqual(Array(5).fill('sandbox.test'));
    expect(addresses.smtp.host).toBe('sandbox.test');
    expect(addresses.service.url).toMatch(/^http:\/\/sandbox\.test:\d+\/api$/);
    expect(addresses.telegram.apiRoot).toMatch(/:\d+$/);
    const webhooks = sandbox.service.protocols().flatMap(({ channels }) => channels.flatMap(({ url }) => url ?? []));
    expect(webhooks.every((url) => url.startsWith(`${addresses.webhook.url}/hooks/`))).toBe(true);
    expect(await Promise.all(portsOf(addresses).map(accepts))).toEqual(Array(5).fill(true));
  });

  test('channels that a protocol brings stay, other keys are served as well', async () => {
    const channels = [{ name: 'email', contacts: ['own@example.com'] }];
    const { sandbox } = await start({
      protocols: [{ name: 'Own', channels }, { name: 'Silent', channels: [] }, { name: 'Linked' }],
      moreKeys: [{ apiKey: 'second', protocols: [{ name: 'Linked' }] }],
    });
    const byName = (apiKey: string, name: string) =>
      sandbox.service.protocols(apiKey).find((protocol) => protocol.name === name)?.channels;
    expect(byName('sandbox-key', 'Own')).toEqual(channels);
    expect(byName('sandbox-key', 'Silent')).toEqual([]);
    expect(byName('sandbox-key', 'Linked')).toHaveLength(4);
    expect(byName('second', 'Linked')).toHaveLength(4);
    sandbox.service.replaceChannels({ protocol: 'Linked', apiKey: 'second' }, channels);
    await sandbox.stop();
    await sandbox.start();
    expect(byName('second', 'Linked')).toEqual(channels);
  });

  test('ports given are taken, and the same after a restart', async () => {
    const first = await start();
    const [service, slack, telegram, webhook, smtp] = portsOf(first.addresses);
    await first.sandbox.stop();
    const ports = { service, slack, telegram, webhook, smtp } as Required<NonNullable<SandboxOptions['ports']>>;
    const { sandbox, addresses } = await start({ ports });
    expect(portsOf(addresses)).toEqual(portsOf(first.addresses));
    await sandbox.stop();
    expect(await sandbox.start()).toEqual(addresses);
  });
});

test('a POST makes one critical, whatever the traffic', async () => {
  const { sandbox, addresses } = await start();
  const at = new URL(CRITICAL, addresses.service.url);
  const answer = await fetch(at, { method: 'POST' });
  const { protocol, txHash } = (await answer.json()) as { protocol: string; txHash: string };
  const [found, ...others] = sandbox.service.inspections();
  expect([found?.assessment, found?.protocol, found?.txHash, others]).toEqual(['critical', protocol, txHash, []]);
  expect((await fetch(at)).status).toBe(404);
});

describe('start and stop', () => {
  test('may be repeated; afterwards nothing listens and no connection is left', async () => {
    const { sandbox, addresses } = await start();
    expect(await sandbox.start()).toEqual(addresses);
    sandbox.receivers.webhook.script.next({ kind: 'hang' });
    const hanging = fetch(`${addresses.webhook.url}/x`, { method: 'POST', body: '{}' }).then(
      () => 'answered',
      () => 'broken',
    );
    const idle = connect(addresses.smtp.port, addresses.smtp.host);
    const closed = new Promise<string>((resolve) => {
      idle.on('error', () => undefined).on('close', () => resolve('closed'));
      idle.resume();
    });
    await until('both arrived', () => sandbox.receivers.webhook.attempts().length === 1 && idle.readyState === 'open');
    sandbox.startTraffic({ everyMs: 1 });
    await sandbox.stop();
    await sandbox.stop();
    expect([await hanging, await closed]).toEqual(['broken', 'closed']);
    expect(await Promise.all(portsOf(addresses).map(accepts))).toEqual(Array(5).fill(false));
  });

  test('stop is legal before start', async () => {
    const sandbox = createSandbox();
    await expect(sandbox.stop()).resolves.toBeUndefined();
  });

  test('a port in use fails by name, and takes down what was started', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', () => resolve()));
    onTestFinished(() => new Promise<void>((resolve) => taken.close(() => resolve())));
    const address = taken.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const free = await start();
    const [, , , webhook = 0] = portsOf(free.addresses);
    await free.sandbox.stop();
    const sandbox = createSandbox({ ports: { service: port, webhook } });
    await expect(sandbox.start()).rejects.toThrow('EADDRINUSE');
    expect(await accepts(webhook)).toBe(false);
  });
});
