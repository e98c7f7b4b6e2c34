/** Secrets stay secret on every surface, while everything that knows them fails in the ways that repeat them. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { HttpVerdict } from '../../src/sandbox/receivers/http-receiver.ts';
import { telegramVerdict } from '../../src/sandbox/receivers/telegram/telegram.ts';
import type { Fault } from '../../src/sandbox/service/faults.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { until } from '../support/until.ts';
import type { RunningDaemon } from './daemons.ts';
import { startWorld, type World } from './world.ts';

const SECRETS = {
  apiKey: 'key-4f9ZqHush/7+apiKEY',
  smtpPassword: 'pässHush"w\\rd<7>',
  telegramToken: '700700700:HushTelegramTokenHushHush',
  slackToken: 'xoxb-700700-hushSlackToken',
  webhookSecret: `whsec_${Buffer.from('hush hush hush hush hush hush').toString('base64')}`,
  webhookPath: '/hooks/hush-webhook-path',
  slackHookPath: '/services/T0HUSH/B0HUSH/hushIncomingHook',
  urlPassword: 'hushUrlPassword',
  headerValue: 'Token hushHeaderToken',
  headerToken: 'hushHeaderToken',
  proxyPassword: 'hushProxy@Password',
  proxyCredentials: Buffer.from('tocsin:hushProxy@Password').toString('base64'),
  pastedToken: 'xoxb-711711-hushPastedToken',
};

/** As they are, as JSON and HTML and URLs write them, and as their beginnings. */
const spellings = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  secret.replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
];

const leaksIn = (text: string, names: readonly (keyof typeof SECRETS)[]): string[] =>
  names.filter((name) => spellings(SECRETS[name]).some((spelling) => text.includes(spelling)));

const ALL = Object.keys(SECRETS) as (keyof typeof SECRETS)[];
/** The others are addresses, which have to be kept with what is sent to them. */
const CONFIGURED = [
  'apiKey',
  'smtpPassword',
  'telegramToken',
  'slackToken',
  'webhookSecret',
  'headerValue',
  'headerToken',
  'proxyPassword',
] as const;

/** What anybody may say back to us: all that the config holds. */
const everything = CONFIGURED.map((name) => SECRETS[name]).join(' ');

/** Answers that repeat what was sent to the receiver, in every form there is; it knows the path it is reached by, too. */
const echoes = (ownPath: string): HttpVerdict[] => {
  const said = `${everything} ${ownPath}`;
  const location = `https://moved.example.com${ownPath}?${encodeURIComponent(said)}`;
  return [
    { kind: 'answer', status: 500, body: said },
    { kind: 'answer', status: 200, body: `<html>${said}</html>` },
    { kind: 'answer', status: 418, headers: { 'x-echo': encodeURIComponent(said) }, body: { error: said } },
    { kind: 'answer', status: 302, headers: { location } },
    { kind: 'reset' },
  ];
};

const startHushed = async (): Promise<World & { proxy: TestProxy }> => {
  const proxy = await startProxy();
  onTestFinished(proxy.close);
  const receiver = {
    headers: { authorization: SECRETS.headerValue },
    proxy: proxy.origin.replace('//', `//tocsin:${encodeURIComponent(SECRETS.proxyPassword)}@`),
  };
  const world = await startWorld({
    names: ['Vault'],
    apiKey: SECRETS.apiKey,
    telegramToken: SECRETS.telegramToken,
    slackToken: SECRETS.slackToken,
    webhookSecret: SECRETS.webhookSecret,
    smtpAuth: { user: 'tocsin', pass: SECRETS.smtpPassword },
    config: ({ webhook }) => ({
      channels: {
        email: { smtp: { user: 'tocsin', pass: SECRETS.smtpPassword } },
        webhook: { receivers: { [`${webhook.url}${SECRETS.webhookPath}`]: receiver } },
      },
    }),
  });
  return { ...world, proxy };
};

const readKey = async (redis: Redis, key: string): Promise<unknown> => {
  switch (await redis.type(key)) {
    case 'hash':
      return redis.hgetall(key);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'none':
      return undefined;
    default:
      return redis.get(key);
  }
};

/** The daemon goes on meanwhile: a key may be another one by the time it is read. */
const readSettledKey = async (redis: Redis, key: string): Promise<unknown> => {
  for (;;) {
    const value = await readKey(redis, key).catch((error: unknown) => error);
    if (value instanceof Error && value.message.startsWith('WRONGTYPE')) continue;
    if (value instanceof Error) throw value;
    return value;
  }
};

/** Everything of this world that Redis holds, as text. */
const dumpRedis = async ({ redisUrl, prefix }: World): Promise<string> => {
  const redis = new Redis({ path: redisUrl });
  onTestFinished(async () => void (await redis.quit()));
  const keys = await redis.keys(`*${prefix.slice(1, -1)}*`);
  // Quarantine keeps what the service gave, as it gave it.
  const ours = keys.filter((key) => !key.endsWith(':quarantine'));
  const values = await Promise.all(
    ours.map(async (key) => `${key} ${JSON.stringify(await readSettledKey(redis, key))}`),
  );
  return values.join('\n');
};

/** Channels whose addresses are secrets, or hold some that somebody pasted there. */
const nameSecretAddresses = ({ sandbox, addresses }: World): void => {
  const [protocol] = sandbox.service.protocols();
  sandbox.service.replaceChannels({ protocol: 'Vault' }, [
    ...(protocol?.channels.filter(({ name }) => name !== 'webhook') ?? []),
    { name: 'webhook', url: `${addresses.webhook.url}${SECRETS.webhookPath}` },
    { name: 'slack', url: `${new URL(addresses.slack.apiUrl).origin}${SECRETS.slackHookPath}` },
    { name: 'webhook', url: `http://tocsin:${SECRETS.urlPassword}@hush.invalid/` },
    { name: 'email', contacts: [SECRETS.pastedToken] },
  ]);
};

const breakVerifying = ({ sandbox }: World): void => {
  for (const { callScript } of [sandbox.receivers.slack, sandbox.receivers.telegram]) {
    callScript.always({ kind: 'answer', status: 500, body: `<html>${everything}</html>` });
  }
};

const breakReceivers = ({ sandbox }: World): void => {
  const { webhook, slack, telegram, smtp } = sandbox.receivers;
  for (const verdict of echoes('')) {
    for (const { script } of [slack, telegram]) script.next(verdict);
  }
  for (const verdict of echoes(SECRETS.slackHookPath)) {
    slack.script.next(verdict, { destination: SECRETS.slackHookPath });
  }
  for (const verdict of echoes(SECRETS.webhookPath)) webhook.script.next(verdict);
  telegram.script.next(telegramVerdict(401, `Unauthorized: bot${SECRETS.telegramToken}`));
  slack.script.next({ kind: 'answer', status: 200, body: { ok: false, error: everything } });
  webhook.script.always({ kind: 'answer', status: 410, body: everything });
  for (const stage of ['mail', 'rcpt', 'data'] as const) {
    smtp.script.next({ kind: 'reply', stage, code: 451, text: `4.0.0 ${everything}` });
  }
  smtp.script.next({ kind: 'reply', stage: 'rcpt', code: 550, text: `5.1.1 ${everything}` });
};

const breakService = ({ sandbox }: World): void => {
  const faults: Fault[] = [
    { kind: 'status', status: 500, body: everything },
    { kind: 'status', status: 403, body: JSON.stringify({ everything }) },
    { kind: 'redirect', location: `https://moved.example.com/${SECRETS.apiKey}` },
    { kind: 'wrong-shape', body: { everything } },
    { kind: 'malformed-item', item: { echoed: SECRETS.apiKey } },
  ];
  for (const endpoint of ['listInspections', 'listNotifications', 'listProtocols'] as const) {
    for (const fault of faults) sandbox.service.addFault({ endpoint, fault });
  }
};

/** Produces until everything that was laid down has struck. */
const wearOut = async (world: World, daemon: RunningDaemon): Promise<void> => {
  for (let round = 0; round < 4; round += 1) {
    world.critical('Vault', 2);
    const seen = daemon.log().length;
    await until('it goes on', () => daemon.log().length > seen + 4);
  }
  await until('every fault was met', () => world.sandbox.service.pendingFaults() === 0);
  await until('every kind has failed', () => {
    const failed = daemon.log().filter(({ outcome }) => outcome === 'retrying' || outcome === 'dead');
    return new Set(failed.map(({ kind }) => kind)).size === 4;
  });
  await until('something is dead', async () => (await daemon.status()).dead > 0);
  await until('the channels are known to be unwell', async () => (await daemon.ask('/readyz')).status === 503);
};

test('no secret is on any surface, whatever fails and however it says so', async () => {
  const world = await startHushed();
  nameSecretAddresses(world);
  breakVerifying(world);
  const daemon = await world.start();
  await daemon.watching();
  breakReceivers(world);
  world.proxy.refuse(407, 502);
  breakService(world);
  await wearOut(world, daemon);

  const paths = ['/', '/?tx=0xabc', '/status.json', '/metrics', '/readyz', '/livez'];
  const pages = await Promise.all(paths.map((path) => daemon.ask(path)));
  expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200, 503, 200]);
  expect(leaksIn(pages.map(({ text }) => text).join('\n'), ALL)).toEqual([]);
  expect(leaksIn(daemon.logText(), ALL)).toEqual([]);
  expect(daemon.logText()).toContain('proxy-407');
  const stored = await dumpRedis(world);
  expect(stored).toContain(SECRETS.webhookPath);
  expect(leaksIn(stored, CONFIGURED)).toEqual([]);
});
