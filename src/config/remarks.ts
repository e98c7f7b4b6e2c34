/** What is secret in a config, and what `check` remarks on one that is valid. */

import type { Certificates } from '../channels/channel.ts';
import { mayShowPassword } from '../channels/email/config.ts';
import { connectionsOf } from '../channels/registry.ts';
import { orUndefined } from '../errors.ts';
import { certificatesIn } from '../schema/connection.ts';
import { isSecret } from '../secret.ts';
import { DAY_MS, iso } from '../time.ts';
import type { Config } from './schema.ts';
import { LARGEST_CONFIG_BYTES, readText } from './variables.ts';

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

const decoded = (text: string): string[] => [text, orUndefined(() => decodeURIComponent(text)) ?? text];

const addressesIn = (config: Config): string[] => {
  const overrides = Object.values(config.protocols.overrides).flatMap(({ channels = [], extraChannels }) => [
    ...channels,
    ...extraChannels,
  ]);
  return [...overrides, ...(config.fallback?.channels ?? []), ...(config.watchdog.channels ?? [])]
    .flatMap(({ url, contacts = [] }) => [...(url === undefined ? [] : [url]), ...contacts])
    .filter((address) => address.includes('://'));
};

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

/**
 * Every text of the configuration that must not be seen in a log: secrets as they were given, and the parts of them that
 * other programs print. Each once, none empty.
 */
export const collectSecrets = (config: Config): string[] => {
  const parts = [credentialsIn, keysIn].flatMap((find) => find(config));
  const whole = [...revealed(config), ...addressesIn(config), ...namedReceivers(config), ...parts];
  const all = whole.flatMap((text) => [text, ...partsOf(text)]).flatMap(decoded);
  return [...new Set(all)].filter((text) => text !== '');
};

/** In upper case only: a secret that merely begins with the sign is not shown. */
const NAME = /^\$[A-Z_][A-Z0-9_]*$/;

/** It stands in the file as it is; `$$` in front of it would say that it is meant. */
const isWritten = (secret: string, text: string): boolean => new RegExp(`(?<!\\$)\\${secret}(?!\\w)`).test(text);

/** Says where a secret is the name of a variable, as shells write it: only braces make it the value. */
export const unbracedOf = (file: string, config: Config): string[] => {
  const secrets = new Set(collectSecrets(config).filter((secret) => NAME.test(secret)));
  if (secrets.size === 0) return [];
  const read = readText(file, LARGEST_CONFIG_BYTES);
  return [...secrets]
    .filter((secret) => read.ok && isWritten(secret, read.text))
    .map(
      (secret) => `a secret is the text ${secret} itself: write $\{${secret.slice(1)}} for the value of that variable`,
    );
};

const FEWEST_CHARACTERS = 8;

/** People think of words; what a program makes has many characters, and not of one kind. */
const looksThoughtOf = (secret: string): boolean =>
  new Set(secret).size < FEWEST_CHARACTERS || /^[a-z\s_-]*\d{0,4}[!.]?$/i.test(secret);

const guessableOf = ({ ops }: Config): string[] =>
  ops?.token !== undefined && looksThoughtOf(ops.token.reveal())
    ? ['ops.token looks like one that somebody thought of: `openssl rand -base64 24` makes one that nobody guesses']
    : [];

const SOON_MS = 14 * DAY_MS;

/** Every section with certificates, by its path. */
const sectionsOf = ({ services, redis, channels }: Config): [string, Certificates][] => [
  ...services.map((service, index): [string, Certificates] => [`services.${index}`, service]),
  ['redis', redis],
  ...connectionsOf(channels),
];

const dayOf = (date: Date): string => iso(date.getTime()).slice(0, 10);

const datesOf = (path: string, pem: string, now: number): string[] =>
  certificatesIn(pem).flatMap(({ validFromDate, validToDate }) => {
    if (validToDate.getTime() <= now) return [`${path} has a certificate that expired on ${dayOf(validToDate)}`];
    if (validFromDate.getTime() > now)
      return [`${path} has a certificate that is not valid before ${dayOf(validFromDate)}`];
    const isSoon = validToDate.getTime() - now < SOON_MS;
    return isSoon ? [`${path} has a certificate that expires on ${dayOf(validToDate)}`] : [];
  });

/** What may work, but not well: dates of certificates, a password in the clear, a token to be guessed. A sentence each. */
export const configNotes = (config: Config, now: number): string[] => {
  const dates = sectionsOf(config).flatMap(([section, { ca, cert }]) =>
    Object.entries({ ca, cert }).flatMap(([key, pem]) => datesOf(`${section}.${key}`, pem ?? '', now)),
  );
  const { email } = config.channels;
  const clear =
    email !== undefined && mayShowPassword(email.smtp)
      ? [
          'channels.email.smtp sends its password or token in the clear if TLS is not offered: replace requireTLS by tls: verify',
        ]
      : [];
  return [...dates, ...clear, ...guessableOf(config)];
};
