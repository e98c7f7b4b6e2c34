/** docs/every-key.yaml is what operators copy from: it has to load, to be complete, and to be true. And the example config. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isMap, isNode, isScalar, isSeq, LineCounter, parse, parseDocument } from 'yaml';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import { parseConfig } from '../../src/config/load.ts';
import { inputJsonSchema } from '../../src/config/schema.ts';
import { ConfigError } from '../../src/errors.ts';

const FILE = 'docs/every-key.yaml';
const EXAMPLE = 'config/tocsin.example.yaml';
const TEXT = readFileSync(new URL(`../../${FILE}`, import.meta.url), 'utf8');
/** With the keys that are off switched on. */
const FULL = TEXT.replace(/^( *)#(?=\S| {2})/gm, '$1');

const environment = {
  TOCSIN_API_KEY: 'key',
  SMTP_PASSWORD: 'password',
  TELEGRAM_TOKEN: '123456:token',
  SLACK_TOKEN: 'xoxb-token',
  WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
};

interface Schema {
  type?: string;
  description?: string;
  default?: unknown;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
}

interface Key {
  description: string;
  /** Dotted; `*` for an element of a list and for a free key. */
  path: string;
  required: boolean;
  /** Of the key itself, or by the default of the map that holds it. */
  fallback: unknown;
  isMap: boolean;
}

const propertyOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([name]) => name === key)?.[1] : undefined;

const keysOf = (schema: Schema, path: string[] = [], around: unknown = undefined): Key[] => {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    const fallback = child.default ?? propertyOf(around, key);
    const at = [...path, key];
    const required = schema.required?.includes(key) ?? false;
    const isMap = child.properties !== undefined;
    const { description = '' } = child;
    return [{ path: at.join('.'), description, required, fallback, isMap }, ...keysOf(child, at, fallback)];
  });
  const free = [schema.items, schema.additionalProperties].flatMap((child) =>
    child ? keysOf(child, [...path, '*']) : [],
  );
  return [...own, ...free];
};

const schemaKeys = keysOf(inputJsonSchema() as Schema);

/** Without what declares the keys, and without comments. */
const READERS = readdirSync(new URL('../../src', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.ts$/.test(file) && !/^(config|schema|sandbox)\/|\/config\.ts$/.test(file))
  .map((file) =>
    readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8').replace(/^ *(?:\/?\*|\/\/).*$/gm, ''),
  )
  .join('\n');

interface Shown {
  path: string;
  comment: string;
  value: unknown;
}

const lines = FULL.split('\n');

/** The block of comments right above a line, as one text. */
const commentAbove = (line: number): string => {
  const above = lines.slice(0, line - 1);
  const start = above.findLastIndex((text) => !/^ *#/.test(text)) + 1;
  return above
    .slice(start)
    .map((text) => text.replace(/^ *# ?/, ''))
    .join(' ');
};

/** Maps whose keys the operator chooses. */
const FREE = new Set([
  'protocols.overrides',
  'channels.webhook.secrets',
  'channels.webhook.receivers',
  'channels.webhook.receivers.*.headers',
  'chains',
]);

const counter = new LineCounter();

const shownIn = (node: unknown, path: string[] = []): Shown[] => {
  if (isSeq(node)) return node.items.flatMap((item) => shownIn(item, [...path, '*']));
  if (!isMap(node)) return [];
  return node.items.flatMap(({ key, value }) => {
    const at = [...path, FREE.has(path.join('.')) ? '*' : String(key)];
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const comment = commentAbove(counter.linePos(offset).line);
    return [{ path: at.join('.'), comment, value: isNode(value) ? value.toJSON() : null }, ...shownIn(value, at)];
  });
};

const shown = shownIn(parseDocument(FULL, { lineCounter: counter }).contents);

const statementOf = ({ required, fallback, isMap }: Key): string => {
  if (required) return 'Required.';
  if (fallback === undefined) return 'No default';
  return isMap ? '' : 'Default: ';
};

/** Fields that many sections share: general words in the schema, those of the section here. */
const SHARED = /\.(ca|cert|key|proxy|nodes|rateLimit|senderRateLimit|perSecond|perMinute|burst)$/;

/** `Required.` and `Default: 10s.` are facts of the schema itself. */
const withoutStatement = (comment: string): string =>
  comment
    .replace(/(^| )Required\.( |$)|(^| )No default\.( |$)|(^| )Default: (\S.*?)\.( |$)/, ' ')
    .replace('No default: ', 'Left out: ')
    .trim();

const problemsOf = (text: string, variables: Record<string, string>): string[] => {
  try {
    parseConfig(text, FILE, variables);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ path, rule }) => `${path}: ${rule}`);
    throw error;
  }
};

describe('the config with every key', () => {
  it('loads with the variables that it names, and with no other', () => {
    expect(problemsOf(TEXT, environment)).toEqual([]);
    const named = [...TEXT.matchAll(/^# - ([A-Z_]+): /gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(Object.keys(environment).toSorted());
  });

  it('does not load without any of them', () => {
    expect(problemsOf(TEXT, {})).toEqual(
      [
        'services.0.apiKey',
        'channels.email.smtp.pass',
        'channels.telegram.botToken',
        'channels.slack.botToken',
        'channels.webhook.secret',
      ].map((path, index) => `${path}: names the variable ${Object.keys(environment)[index]}, which is not set`),
    );
  });

  const missingFiles = (section: string, ...files: [string, string, string]): string[] =>
    files.map((file, index) => {
      const path = `${section}.${['ca', 'cert', 'key'][index]}`;
      return `${path}: names a file that cannot be read: ${file}.pem: there is no such file`;
    });

  it.each([FILE, EXAMPLE, 'config/demo.yaml'])('%s sets up every kind of channel', (file) => {
    const { channels } = parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')) as { channels: object };
    expect(Object.keys(channels).toSorted()).toEqual(CHANNEL_KINDS.toSorted());
  });

  it('is right in what is switched off, too', () => {
    expect(
      problemsOf(FULL, {
        ...environment,
        REDIS_PASSWORD: 'password',
        SENTINEL_PASSWORD: 'password',
        OAUTH2_CLIENT_SECRET: 'secret',
        OAUTH2_REFRESH_TOKEN: 'token',
        WEBHOOK_TOKEN: 'token',
        TOCSIN_OPS_TOKEN: 'a-token-of-the-team',
        SLACK_APP_TOKEN: 'xapp-1-token',
        PROXY_PASSWORD: 'password',
        PAGERDUTY_KEY: 'R0123456789abcdefghijklmnopqrstu',
        OPSGENIE_KEY: 'an-api-key',
        ALERTMANAGER_PASSWORD: 'password',
      }),
    ).toEqual([
      ...missingFiles('services.0', 'service-ca', 'tocsin-cert', 'tocsin-key'),
      'redis.sentinel: may not stand beside redis.url',
      'redis.cluster: may not stand beside redis.url',
      'redis.username: belongs into redis.url',
      'redis.password: belongs into redis.url',
      'redis.tls: belongs into redis.url: rediss:// is with TLS',
      'redis.database: belongs into redis.url',
      ...missingFiles('redis', 'redis-ca', 'tocsin-cert', 'tocsin-key'),
      ...missingFiles('channels.email.smtp', 'relay-ca', 'tocsin-cert', 'tocsin-key'),
      ...missingFiles('channels.email.smtp.oauth2', 'login-ca', 'tocsin-cert', 'tocsin-key'),
      ...missingFiles('channels.telegram', 'telegram-ca', 'tocsin-cert', 'tocsin-key'),
      ...missingFiles('channels.slack', 'slack-ca', 'tocsin-cert', 'tocsin-key'),
      ...missingFiles('channels.webhook.receivers.hooks.example.com', 'hooks-ca', 'hooks-cert', 'hooks-key'),
      ...missingFiles('channels.webhook', 'hooks-ca', 'tocsin-cert', 'tocsin-key'),
    ]);
  });

  it('has as many keys to show as the schema', () => {
    expect(schemaKeys.length).toBeGreaterThan(90);
    expect([...new Set(shown.map(({ path }) => path))].filter((path) => !path.endsWith('*')).toSorted()).toEqual(
      schemaKeys.map(({ path }) => path).toSorted(),
    );
  });

  it('has no key that nothing reads', () => {
    const isRead = ({ path }: Key): boolean => new RegExp(`\\b${path.split('.').at(-1)}\\b`).test(READERS);
    const unread = schemaKeys.filter((key) => !key.path.endsWith('*') && !isRead(key)).map(({ path }) => path);
    expect(unread).toEqual([]);
  });

  it.each(schemaKeys)('explains $path', (key) => {
    const comments = shown.filter(({ path }) => path === key.path).map(({ comment }) => comment);
    const explaining = comments.filter((comment) => comment.length > 10 && comment.includes(statementOf(key)));
    expect(explaining, `comments of ${key.path}: ${JSON.stringify(comments)}`).not.toEqual([]);
  });

  it.each(schemaKeys.filter(({ path }) => !SHARED.test(path)))('explains $path in the words of the schema', (key) => {
    // Where several keys have one schema, the first of them is explained in full.
    const paths = schemaKeys.filter(({ description }) => description === key.description).map(({ path }) => path);
    const comments = shown.filter(({ path }) => paths.includes(path)).map(({ comment }) => withoutStatement(comment));
    expect(comments).toContain(key.description);
  });

  it.each(schemaKeys.filter((key) => statementOf(key) === 'Default: '))(
    'states the real default of $path, and stands at it',
    ({ path, fallback }) => {
      const places = shown.filter((place) => place.path === path);
      const stated = places
        .map(({ comment }) => /Default: (\S.*?)\.( |$)/.exec(comment)?.[1])
        .filter((text) => text !== undefined)
        .map((text) => parse(text));
      expect(stated).not.toEqual([]);
      for (const value of stated) expect(value).toEqual(fallback);
    },
  );

  it('stands at the default wherever a key that has one is switched on', () => {
    const on = shownIn(parseDocument(TEXT, { lineCounter: new LineCounter() }).contents);
    const withDefault = new Map(
      schemaKeys.filter((key) => statementOf(key) === 'Default: ').map((key) => [key.path, key.fallback]),
    );
    const compared = on.filter(({ path }) => withDefault.has(path));
    expect(compared.length).toBeGreaterThan(30);
    for (const { path, value } of compared) expect({ path, value }).toEqual({ path, value: withDefault.get(path) });
  });
});

it('the example is short, loads with the same variables, and says nothing that is not so anyway', () => {
  const text = readFileSync(new URL(`../../${EXAMPLE}`, import.meta.url), 'utf8');
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
  expect(problemsOf(text, environment)).toEqual([]);
  const on = shownIn(parseDocument(text, { lineCounter: new LineCounter() }).contents);
  const defaults = new Map(
    schemaKeys.flatMap(({ path, fallback }) => (fallback === undefined ? [] : [[path, fallback]])),
  );
  const stated = on.filter(({ path, value }) => defaults.has(path) && typeof value !== 'object');
  expect(stated.map(({ path, value }) => [path, value])).toEqual(stated.map(({ path }) => [path, defaults.get(path)]));
  expect(stated.length).toBeGreaterThan(2);
});
