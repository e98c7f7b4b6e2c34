/** Which secrets `tocsin webhook` uses: one that is given, one of the environment, or those of the config. */
import { existsSync } from 'node:fs';
import { webAddress, webLabel } from '../channels/address.ts';
import type { WebhookConfig } from '../channels/webhook/config.ts';
import { createSecretFinder, deriveSecret, type SigningConfig } from '../channels/webhook/receiver-settings.ts';
import { isSigningSecret } from '../channels/webhook/signature.ts';
import { loadConfig } from '../config/load.ts';
import { UsageError } from '../errors.ts';
import type { Secret } from '../secret.ts';
import { type Action, answer, type CommandContext, type CommonOptions } from './context.ts';

export interface SecretOptions extends CommonOptions {
  secret?: string;
}

type Shell = Pick<CommandContext, 'env'>;

const VARIABLE = 'TOCSIN_WEBHOOK_SECRET';

const checked = (secret: string, source: string): string => {
  if (isSigningSecret(secret)) return secret;
  throw new UsageError(`${source} must be whsec_ and the base64 of 24 to 64 bytes`);
};

/** The one that was given by hand, if one was. */
const givenSecret = (options: SecretOptions, { env }: Shell): string | undefined => {
  if (options.secret !== undefined) return checked(options.secret, '--secret');
  const fromEnvironment = env[VARIABLE];
  return fromEnvironment === undefined ? undefined : checked(fromEnvironment, VARIABLE);
};

const readWebhookConfig = async ({ config: file }: CommonOptions, { env }: Shell): Promise<WebhookConfig> => {
  const { webhook } = (await loadConfig(file, env)).channels;
  if (webhook !== undefined && (webhook.secret !== undefined || Object.keys(webhook.secrets).length > 0)) {
    return webhook;
  }
  throw new UsageError(`${file} has no channels.webhook.secret`);
};

/** Where another secret may be given by hand instead. */
const readOtherwiseGiven = async (options: SecretOptions, context: Shell): Promise<WebhookConfig> => {
  if (!existsSync(options.config)) {
    throw new UsageError(`there is no secret: give --secret, ${VARIABLE}, or a --config`);
  }
  return await readWebhookConfig(options, context);
};

/** The address of a receiver, in the form in which it is sent to. */
export const addressIn = (what: string, text: string): string => {
  const address = webAddress(text);
  if (address === undefined) throw new UsageError(`${what} must be an http or https URL (got '${text}')`);
  return address;
};

const signingFor = (address: string, webhook: SigningConfig): readonly string[] => {
  const found = createSecretFinder(webhook, (secret) => secret)(address);
  if (found.length === 0) throw new UsageError(`the config has no secret for ${webLabel(address)}`);
  return found;
};

type Named = [name: string, secret: string][];

const numbered = (name: string, secrets: readonly string[]): Named =>
  secrets.map((secret, index) => [`${name}, number ${index + 1}`, secret]);

const reveal = (some: readonly Secret[] = []): string[] => some.map((one) => one.reveal());

const configuredIn = ({ secret, secrets }: WebhookConfig): Named => [
  ...numbered('channels.webhook.secret', reveal(secret)),
  ...Object.entries(secrets).flatMap(([name, some]) => {
    const shown = webAddress(name) === undefined ? name : webLabel(name);
    return numbered(`channels.webhook.secrets of ${shown}`, reveal(some));
  }),
];

/** Those that may have signed, by what they are called: of a receiver that is named its own, else all. */
export const possibleSecrets = async (
  { url, ...options }: SecretOptions & { url?: string },
  context: Shell,
): Promise<Record<string, string>> => {
  const address = url === undefined ? undefined : addressIn('--url', url);
  const given = givenSecret(options, context);
  if (given !== undefined) return { 'this secret': given };
  const webhook = await readOtherwiseGiven(options, context);
  if (address !== undefined) {
    return Object.fromEntries(numbered(`the secret of ${webLabel(address)}`, signingFor(address, webhook)));
  }
  if (webhook.deriveSecrets && reveal(webhook.secret).length > 0) {
    throw new UsageError('give --url: by channels.webhook.deriveSecrets each URL has a secret of its own');
  }
  return Object.fromEntries(configuredIn(webhook));
};

/** All others that the config knows, by what they are called, also those of a URL if it had one of its own; none without a config. */
export const otherSecrets = async (
  { url, ...options }: SecretOptions & { url?: string },
  own: Readonly<Record<string, string>>,
  context: Shell,
): Promise<Record<string, string>> => {
  const webhook = await readWebhookConfig(options, context).catch(() => undefined);
  if (webhook === undefined) return {};
  const address = url === undefined ? undefined : webAddress(url);
  const derived = address === undefined ? [] : reveal(webhook.secret).map((one) => deriveSecret(one, address));
  const all = [
    ...configuredIn(webhook),
    ...numbered(`the secret that deriveSecrets makes for ${webLabel(address ?? '')}`, derived),
  ];
  return Object.fromEntries(all.filter(([, secret]) => !Object.values(own).includes(secret)));
};

/** Those that sign for one address. */
export const secretsFor = async (
  address: string,
  options: SecretOptions,
  context: Shell,
): Promise<readonly string[]> => {
  const given = givenSecret(options, context);
  return given === undefined ? signingFor(address, await readOtherwiseGiven(options, context)) : [given];
};

/**
 * Those by which the people of one receiver may verify; never one by which they could sign for others. `derived`: as they
 * will be, or would be, by `deriveSecrets`.
 */
const ownSecretsFor = async (
  address: string,
  { derived = false, ...options }: CommonOptions & { derived?: boolean },
  context: Shell,
): Promise<readonly string[]> => {
  const webhook = await readWebhookConfig(options, context);
  if (derived) return signingFor(address, { ...webhook, secrets: {}, deriveSecrets: true });
  const found = signingFor(address, webhook);
  const isCommon = found.some((one) => webhook.secret?.some((common) => common.reveal() === one));
  if (!isCommon) return found;
  throw new UsageError(
    `${webLabel(address)} has no secret of its own: channels.webhook.secret signs for every receiver. ` +
      'With channels.webhook.deriveSecrets each URL has one; --derived prints it',
  );
};

/** What to give the people of one receiver, so that they can verify what comes. */
export const secret: Action<{ url: string; derived?: boolean }> = async (options, context) => {
  const url = addressIn('the URL', options.url);
  const secrets = await ownSecretsFor(url, options, context);
  return answer(context, options, { url, secrets }, () => secrets.map((one) => `${one}\n`).join(''));
};
