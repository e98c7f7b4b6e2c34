/** Every text of the configuration that must not be seen in a log, for the scrubber. */
import type { Secret } from '../secret.ts';
import type { Config } from './schema.ts';

const isSecret = (value: object): value is Secret => 'reveal' in value && typeof value.reveal === 'function';

const revealed = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return isSecret(value) ? [value.reveal()] : Object.values(value).flatMap(revealed);
};

/** The parts of a URL that programs show on their own: user and password, and the path by which a webhook is known. */
const partsOf = (text: string): string[] => {
  const url = text.includes('://') ? URL.parse(text) : null;
  if (url === null) return [];
  const secretPath = /^https?:$/.test(url.protocol) ? [url.pathname + url.search] : [];
  const credentials = url.password === '' ? [] : [url.password, `${url.username}:${url.password}`];
  return [...credentials, ...secretPath].filter((part) => part.length > 1);
};

const decoded = (text: string): string[] => {
  try {
    return [text, decodeURIComponent(text)];
  } catch {
    return [text];
  }
};

const addressesIn = (config: Config): string[] => {
  const overrides = Object.values(config.protocols.overrides).flatMap(({ channels = [], extraChannels }) => [
    ...channels,
    ...extraChannels,
  ]);
  return [...overrides, ...(config.fallback?.channels ?? []), ...(config.watchdog.channels ?? [])]
    .flatMap(({ url, contacts = [] }) => [...(url === undefined ? [] : [url]), ...contacts])
    .filter((address) => address.includes('://'));
};

/** Receivers that are named by URL. */
const namedReceivers = ({ channels: { webhook } }: Config): string[] =>
  [...Object.keys(webhook?.secrets ?? {}), ...Object.keys(webhook?.receivers ?? {})].filter((name) =>
    name.includes('://'),
  );

/** What follows a scheme in a header's value: `Bearer TOKEN`. */
const credentialsIn = ({ channels: { webhook } }: Config): string[] =>
  Object.values(webhook?.receivers ?? {})
    .flatMap(({ headers }) => Object.values(headers))
    .flatMap((value) => /^[\w-]+ +(\S{8,})$/.exec(value.reveal())?.[1] ?? []);

/** The bytes of a signing secret, which libraries print without their prefix. */
const keysIn = ({ channels: { webhook } }: Config): string[] =>
  [...(webhook?.secret ?? []), ...Object.values(webhook?.secrets ?? {}).flat()].map((secret) =>
    secret.reveal().replace(/^whsec_/, ''),
  );

/** Secrets as they were given, and the parts of them that other programs print; each once, none empty. */
export const collectSecrets = (config: Config): string[] => {
  const parts = [credentialsIn, keysIn].flatMap((find) => find(config));
  const whole = [...revealed(config), ...addressesIn(config), ...namedReceivers(config), ...parts];
  const all = whole.flatMap((text) => [text, ...partsOf(text)]).flatMap(decoded);
  return [...new Set(all)].filter((text) => text !== '');
};
