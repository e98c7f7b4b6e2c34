/** Every piece of YAML in the documents is a config, or a part of one, that loads; every key that they name is one. */
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { inputJsonSchema } from '../../src/config/schema.ts';
import { ConfigError } from '../../src/errors.ts';
import { blocksOf, codeIn, GUIDES, readDocument } from './documents.ts';

/** What a part of a config is added to. */
const LEAST = {
  services: '[{ name: main, baseUrl: "https://monitor.example.com/api", apiKey: key }]',
  channels: '{ email: { from: tocsin@example.com, smtp: { host: relay } }, webhook: { allowNetworks: [10.0.0.0/8] } }',
};

const VALUES: Readonly<Record<string, string>> = {
  TELEGRAM_TOKEN: '123456:token',
  WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  OLD_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  PAGERDUTY_KEY: 'R0123456789abcdefghijklmnopqrstu',
  SLACK_APP_TOKEN: 'xapp-1-token',
  TOCSIN_REDIS_URL: 'redis://127.0.0.1:6379/0',
};

const standIn = (name: string): string =>
  VALUES[name] ?? (name.endsWith('_URL') ? 'https://example.com/value' : 'a-value-of-the-reader');

const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, standIn(name)]));

const whole = (block: string): string => {
  const given = Object.keys(parse(block) as object);
  const rest = Object.entries(LEAST).filter(([key]) => !given.includes(key));
  return [...rest.map(([key, value]) => `${key}: ${value}\n`), block].join('');
};

/** The reader's own files are not here. */
const isMissingFile = (rule: string): boolean => rule.includes('names a file that cannot be read');

const problemsOf = (text: string): string[] => {
  try {
    parseConfig(text, 'tocsin.yaml', variablesIn(text));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.filter(({ rule }) => !isMissingFile(rule)).map(({ path, rule }) => `${path}: ${rule}`);
  }
};

const cases = GUIDES.flatMap((file) => blocksOf(readDocument(file), 'yaml').map((block) => ({ file, block })));

test('the documents show configs', () => {
  expect(cases.length).toBeGreaterThan(5);
});

test.each(cases)('$file:\n$block', ({ block }) => {
  expect(problemsOf(whole(block))).toEqual([]);
});

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
  anyOf?: Schema[];
}

/** Whether a config may have this; a name in capitals stands for any key. */
const isKey = ({ properties = {}, additionalProperties, items, anyOf }: Schema, path: readonly string[]): boolean => {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  const named = /^[A-Z]+$/.test(name) ? Object.values(properties) : [properties[name]];
  const below = [...named, additionalProperties || undefined].filter((each) => each !== undefined);
  const beside = [items, ...(anyOf ?? [])].filter((each) => each !== undefined);
  return below.some((each) => isKey(each, rest)) || beside.some((each) => isKey(each, path));
};

const schema = inputJsonSchema() as Schema;
const TOP = Object.keys(schema.properties ?? {});
/** `redis.conf` is a file. */
const FILE = /\.(conf|yaml|yml|env|md)$/;

test.each(GUIDES)('keys of the config that %s names are there', (file) => {
  const named = codeIn(readDocument(file))
    .map((code) => code.replace(/:.*$/, ''))
    .filter(
      (code) => /^[a-zA-Z]+(\.[a-zA-Z]+)+$/.test(code) && TOP.includes(code.split('.')[0] ?? '') && !FILE.test(code),
    );
  expect(named.filter((key) => !isKey(schema, key.split('.')))).toEqual([]);
});
