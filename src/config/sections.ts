/** The sections of the configuration that belong to no channel kind. Each key's description is its help in an editor. */
import { z } from 'zod';
import { CHANNEL_KINDS, SOURCES } from '../alert.ts';
import { connectionFields, pairedKey, tlsFields } from '../schema/connection.ts';
import { count, duration, hostPort, httpUrl, parseDuration, SECRET_MARK, secret } from '../schema/fields.ts';
import { createSecret } from '../secret.ts';
import { iso } from '../time.ts';

/** The service's own spelling; `suspecious` is not our mistake. */
export const ASSESSMENTS = ['ok', 'suspecious', 'critical'] as const;

/** A longer duration is a mistake. */
const LONGEST_AGE_MS = 3650 * 86_400_000;

const NAME_RULE = 'must be a short id: letters, digits, - and _, at most 32';
const BASE_RULE = 'must be a base URL: no ? and no #';
const KEY_RULE = 'must be printable ASCII without spaces, as it goes into an HTTP header';

/** One key of a monitoring service. */
export const serviceSection = z
  .strictObject({
    name: z
      .string({ error: NAME_RULE })
      .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/, { error: NAME_RULE })
      .describe('Short id of this service, in logs, metrics and stored keys. Renaming it starts the service afresh.'),
    baseUrl: httpUrl()
      .refine((url) => !/[?#]/.test(url), { error: BASE_RULE })
      .describe('Address of the API, up to the part that its paths follow.'),
    apiKey: secret({ pattern: /^[\x21-\x7e]+$/, rule: KEY_RULE }).describe('The API key; sent as a bearer token.'),
    timeout: duration({ minMs: 100, maxMs: 600_000 }).prefault('10s').describe('One request, whole.'),
    pageSize: count({ max: 10_000 }).default(100).describe('Items a page asked for; the service may give fewer.'),
    arrayParams: z
      .enum(['repeat', 'brackets', 'comma'])
      .default('repeat')
      .describe('How a list is put into a query: repeat (k=a&k=b), brackets (k[]=a&k[]=b) or comma (k=a,b).'),
    ...connectionFields('the service'),
  })
  .superRefine(pairedKey);

const nodes = () => z.array(hostPort()).min(1).describe('host:port of those to ask first; one that answers is enough.');

const REDIS_URL = {
  pattern: /^(rediss?:\/\/|\/)\S+$/,
  rule: 'must be a redis:// or rediss:// URL, or the path of a unix socket',
};

/** Every key has to be in one slot of a Cluster. With several pairs of braces, Redis may take another one for the hash tag. */
const ONE_HASH_TAG = /^(?!.*\{.*\{)(?!.*\}.*\})/;

/** Where the queue lives. None of `url`, `sentinel`, `cluster`: a private redis-server under `dataDir`. */
export const redisSection = z
  .strictObject({
    url: secret(REDIS_URL)
      .exactOptional()
      .describe('One Redis: redis:// or rediss:// (TLS) with user and password, or the path of a unix socket.'),
    sentinel: z
      .strictObject({
        name: z.string().min(1).describe('Name of the master that the Sentinels watch.'),
        nodes: nodes(),
        username: z.string().min(1).exactOptional().describe('User at the Sentinels themselves.'),
        password: secret().exactOptional().describe('Password of the Sentinels themselves.'),
        tls: z.boolean().exactOptional().describe('TLS to the Sentinels themselves. Left out: as redis.tls.'),
      })
      .exactOptional()
      .describe('Redis behind Sentinel.'),
    cluster: z.strictObject({ nodes: nodes() }).exactOptional().describe('Redis Cluster.'),
    username: z.string().min(1).exactOptional().describe('User of Redis behind Sentinel or of a Cluster.'),
    password: secret().exactOptional().describe('Password of Redis behind Sentinel or of a Cluster.'),
    tls: z
      .boolean()
      .exactOptional()
      .describe('TLS to Redis behind Sentinel or to a Cluster; with url, rediss:// says so.'),
    database: count({ min: 0, max: 65_535 }).exactOptional().describe('Database of Redis behind Sentinel.'),
    ...tlsFields('Redis and its Sentinels'),
    prefix: z
      .string()
      .regex(/^[\w.:{}-]{1,64}$/, { error: 'must be 1 to 64 letters, digits or any of _ - . : { }', abort: true })
      .regex(ONE_HASH_TAG, { error: 'may hold one pair of braces at most: Redis takes the first for the hash tag' })
      .default('tocsin')
      .describe('First part of every key; two daemons with one prefix share their work.'),
  })
  .superRefine(pairedKey);

const START_RULE = 'must be now, a duration back like 24h, or a date-time like 2026-01-31T08:00:00Z';

/** `now`, this many milliseconds back, or a moment as ISO 8601 in UTC. */
export type StartFrom = 'now' | { agoMs: number } | { at: string };

const DATE_TIME = z.iso.datetime({ offset: true });

const readStart = (text: string): StartFrom | undefined => {
  if (text === 'now') return text;
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return agoMs <= LONGEST_AGE_MS ? { agoMs } : undefined;
  return DATE_TIME.safeParse(text).success && Number.isFinite(Date.parse(text))
    ? { at: iso(Date.parse(text)) }
    : undefined;
};

const startFrom = () =>
  z
    .string({ error: START_RULE })
    .refine((text) => readStart(text) !== undefined, { error: START_RULE })
    .meta({ description: 'Where reading begins at the very first start: now, a duration back, or a date-time.' })
    .transform((text): StartFrom => readStart(text) ?? 'now');

/** The rules compare with these where the operator gives only one of the two. */
export const POLL_DEFAULTS = { overlap: '5s', lookback: '15m' };

const INTERVAL_RULE = 'must be auto, or a whole number and a unit: 500ms, 15s, 10m, 24h or 7d';
const LEAST_INTERVAL_MS = 100;
const LONGEST_INTERVAL_MS = 24 * 86_400_000;

const readInterval = (text: string): number | 'auto' => (text === 'auto' ? text : (parseDuration(text) ?? Number.NaN));

const isInterval = (text: string): boolean => {
  const interval = readInterval(text);
  return interval === 'auto' || (interval >= LEAST_INTERVAL_MS && interval <= LONGEST_INTERVAL_MS);
};

const interval = () =>
  z
    .string({ error: INTERVAL_RULE })
    .regex(/^(auto|\d{1,12}(ms|s|m|h|d))$/, { error: INTERVAL_RULE, abort: true })
    .refine(isInterval, { error: 'must be from 100ms to 24d' })
    .transform(readInterval);

const BUDGET_RULE = 'must be a number from 0.1 to 1000';

export const pollSection = z.strictObject({
  interval: interval()
    .prefault('auto')
    .describe('Between two reads of one protocol and source. auto: as short as requestsPerSecond allows, 1s to 15s.'),
  requestsPerSecond: z
    .number({ error: BUDGET_RULE })
    .min(0.1, { error: BUDGET_RULE })
    .max(1000, { error: BUDGET_RULE })
    .default(4)
    .describe('Requests a second to one service, of all daemons together, where interval is auto.'),
  overlap: duration({ minMs: 0 }).prefault(POLL_DEFAULTS.overlap).describe('Read again on every poll.'),
  lookback: duration({ minMs: 0 })
    .prefault(POLL_DEFAULTS.lookback)
    .describe('How far back the sweep reads again, for items that arrive late or change.'),
  sweepEvery: duration({ minMs: 100 }).prefault('1m').describe('Between two sweeps.'),
  startFrom: startFrom().prefault('now'),
  concurrency: count({ max: 1000 }).default(20).describe('Requests in flight at once, in this process.'),
  catalogEvery: duration({ minMs: 100 }).prefault('5m').describe('Between two listings of protocols and channels.'),
});

const choices = <const T extends readonly [string, ...string[]]>(values: T) => {
  const list = z.array(z.enum(values)).min(1, { error: 'must name at least one' });
  return list.refine((given) => new Set(given).size === given.length, { error: 'must not name one twice' });
};

export const alertsSection = z.strictObject({
  assessments: choices(ASSESSMENTS).prefault(['critical']).describe('Which inspections are forwarded.'),
  sources: choices(SOURCES)
    .prefault([...SOURCES])
    .describe('What is read.'),
  triggers: z
    .enum(['ignore', 'honour'])
    .default('ignore')
    .describe('honour: forward only where a trigger of the protocol asks for a notification.'),
  correlate: z
    .boolean()
    .default(true)
    .describe('Do not send a stored notification that names the transaction of a forwarded inspection.'),
  incidentWindow: duration({ minMs: 0 })
    .prefault('10m')
    .describe(
      'How long a message still takes in other inspections of its transaction, where a channel can change messages.',
    ),
  secondLook: z
    .array(duration({ minMs: 100 }))
    .max(10, { error: 'must name at most ten' })
    .prefault(['2m', '15m', '2h'])
    .describe('How long after it was written a suspicious or forwarded inspection is read again; empty for never.'),
});

export const auditSection = z.strictObject({
  every: duration({ minMs: 100 })
    .prefault('5m')
    .describe('Between two comparisons of what the service lists with what became of it.'),
  lostAfter: duration({ minMs: 100 })
    .prefault('1m')
    .describe('How long a delivery may be on its way without a job in the queue before it is queued again.'),
});

/** Digits of a chat id go beyond 2^53; the reader gives whole numbers as they were written. */
const contact = () =>
  z
    .string()
    .regex(/^\S(.*\S)?$/, { error: 'must not be empty or have spaces around it' })
    .meta({ type: ['string', 'integer'] });

/** The service's own shape of a channel. */
export const channelEntry = z.strictObject({
  name: z.enum(CHANNEL_KINDS).describe('Kind of the channel.'),
  contacts: z
    .array(contact())
    .exactOptional()
    .describe('Addresses of the kind: mailboxes, chats, Slack channels, URLs.'),
  // Whoever knows an incoming webhook's URL may post to it.
  url: httpUrl()
    .meta(SECRET_MARK)
    .exactOptional()
    .describe('Address of a webhook, or of an incoming webhook of Slack.'),
});

export const watchdogSection = z.strictObject({
  after: duration({ minMs: 100 })
    .prefault('60s')
    .describe('How long a trouble of Tocsin itself has to last before it is announced.'),
  channels: z
    .array(channelEntry)
    .min(1, { error: 'must name at least one; leave it out for the channels of the fallback' })
    .exactOptional()
    .describe('Who hears of the troubles of Tocsin itself; left out: the channels of the fallback.'),
  // Whoever knows it can pretend that all is well.
  heartbeatUrl: httpUrl()
    .meta(SECRET_MARK)
    .transform(createSecret)
    .exactOptional()
    .describe("Called as long as all is well: the URL of a dead man's switch, outside of Tocsin. Left out: none."),
  heartbeatEvery: duration({ minMs: 1000 }).prefault('1m').describe('Between two calls of heartbeatUrl.'),
});

const override = z.strictObject({
  channels: z
    .array(channelEntry)
    .min(1, { error: 'must name at least one; leave it out for the channels of the service' })
    .exactOptional()
    .describe('Channels instead of those that the service lists.'),
  extraChannels: z.array(channelEntry).prefault([]).describe('Channels besides those.'),
  expectEvery: duration({ minMs: 100 })
    .exactOptional()
    .describe('How long it may be without an inspection of any assessment; left out: twice as long as is usual.'),
});

const glob = () => z.string().min(1, { error: 'must not be empty' });

export const protocolsSection = z.strictObject({
  include: z
    .array(glob())
    .min(1, { error: 'must name at least one, else nothing is forwarded' })
    .prefault(['*'])
    .describe('Globs on the name; a protocol is read when one of them fits.'),
  exclude: z.array(glob()).prefault([]).describe('Globs on the name; a protocol is left out when one of them fits.'),
  overrides: z
    .record(z.string().min(1), override)
    .prefault({})
    .describe('Other channels and expectations, by the exact name of a protocol.'),
});

export const fallbackSection = z.strictObject({
  after: duration().prefault('60s').describe('How long a human channel has to accept an item.'),
  channels: z
    .array(channelEntry)
    .min(1, { error: 'must name at least one' })
    .describe('Where an item goes that no human channel accepted in time, or that is dead.'),
});

export const opsSection = z.strictObject({
  listen: hostPort({ anyPort: true })
    .prefault('127.0.0.1:9464')
    .describe('Where health, metrics and the status page are served; port 0 takes a free one.'),
  publicUrl: httpUrl()
    .exactOptional()
    .describe('Where people reach that through a proxy. Requests for another host name than these are refused.'),
  token: secret({ pattern: /^\S.{14,}\S$/, rule: 'must have at least 16 characters' })
    .exactOptional()
    .describe(
      'Who signs in on the status page with it may retry, drop, mute, approve and test. Without it the page only reads.',
    ),
});

export const logSection = z.strictObject({
  level: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
    .default('info')
    .describe('The least that is logged.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe('auto: for people on a terminal, JSON lines elsewhere; json and pretty: always so.'),
});

export const chainSection = z.strictObject({
  name: z.string().min(1).describe('Name that people know the chain by.'),
  explorer: httpUrl().exactOptional().describe('Base URL of an explorer with /tx/HASH and /address/ADDRESS.'),
});
