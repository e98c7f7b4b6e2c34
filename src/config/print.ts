/** Fingerprints of the keys that decide what is read, routed and sent: daemons compare them, and none tells a value. */
import { createHmac } from 'node:crypto';
import { isObject } from '../alert.ts';
import { isSecret } from '../secret.ts';
import { type Path, showPath } from './problems.ts';
import type { Config } from './schema.ts';
import { byName, revealed } from './source.ts';

/** The others may differ from daemon to daemon. */
const DECIDES = {
  ...{ services: true, alerts: true, protocols: true, channels: true, fallback: true, mutes: true, destinations: true },
  ...{ timeZone: true, links: true, templates: true, chains: true },
  ...{ redis: false, dataDir: false, poll: false, audit: false, watchdog: false, ops: false, log: false },
  proxyVariables: false,
} as const satisfies Record<keyof Config, boolean>;

/** Of a service or a channel: the way to it, which depends on the place where a daemon runs. */
const WAYS: ReadonlySet<unknown> = new Set([
  ...['baseUrl', 'apiUrl', 'apiRoot', 'smtp', 'proxy', 'ca', 'timeout', 'concurrency', 'pageSize', 'arrayParams'],
]);

/** Whether a change of this key puts another config into force. */
export const decides = ([section, ...keys]: Path): boolean =>
  (DECIDES[section as keyof Config] ?? true) &&
  !((section === 'services' || section === 'channels') && WAYS.has(keys[1]));

/** The same for the same value, whatever the order of its keys. */
const sorted = (_key: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

const deciding = (section: string, name: string, value: unknown): unknown =>
  isObject(value) && !isSecret(value)
    ? Object.fromEntries(Object.entries(value).filter(([key]) => decides([section, name, key])))
    : (value ?? null);

export interface ConfigPrint {
  /** Of the whole. */
  print: string;
  /** By key, like `channels.slack`: each has a part of its own. */
  keys: Readonly<Record<string, string>>;
}

/** `key`: without it a short value could be guessed from its print. */
export const printOfConfig = (config: Config, key: string): ConfigPrint => {
  const printOf = (value: unknown): string =>
    createHmac('sha256', key)
      .update(JSON.stringify(revealed(value), sorted))
      .digest('base64url')
      .slice(0, 16);
  const sections = Object.entries({ ...config, services: byName(config.services) });
  const keys = sections.flatMap(([section, value]): [string, string][] => {
    if (!decides([section]) || value === undefined) return [];
    if (!isObject(value)) return [[section, printOf(value)]];
    return Object.entries(value).map(([name, each]) => [
      showPath([section, name]),
      printOf(deciding(section, name, each)),
    ]);
  });
  return { print: printOf(Object.fromEntries(keys)), keys: Object.fromEntries(keys) };
};

/** Those that differ, as the operator wrote them. */
export const keysBetween = (one: ConfigPrint['keys'], other: ConfigPrint['keys']): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((key) => one[key] !== other[key]).toSorted();
