/** Which secrets `tocsin webhook` uses: one that is given, one of the environment, or those of the config. */
import { existsSync } from 'node:fs';
import { webAddress, webLabel } from '../channels/address.ts';
import { createReceiverFinder } from '../channels/webhook/receivers.ts';
import { isSigningSecret } from '../channels/webhook/signature.ts';
import { loadConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import type { CommandContext, CommonOptions } from './context.ts';

export interface SecretOptions extends CommonOptions {
  secret?: string;
}

const VARIABLE = 'TOCSIN_WEBHOOK_SECRET';

const checked = (secret: string, source: string): string => {
  if (isSigningSecret(secret)) return secret;
  throw new UsageError(`${source} must be whsec_ and the base64 of 24 to 64 bytes`);
};

/** The one that was given by hand, if one was. */
const givenSecret = (options: SecretOptions, { env }: Pick<CommandContext, 'env'>): string | undefined => {
  if (options.secret !== undefined) return checked(options.secret, '--secret');
  const fromEnvironment = env[VARIABLE];
  return fromEnvironment === undefined ? undefined : checked(fromEnvironment, VARIABLE);
};

const readWebhookConfig = async (
  { config: file }: SecretOptions,
  { env }: Pick<CommandContext, 'env'>,
): Promise<NonNullable<Config['channels']['webhook']>> => {
  if (!existsSync(file)) throw new UsageError(`there is no secret: give --secret, ${VARIABLE}, or a --config`);
  const { webhook } = (await loadConfig(file, env)).channels;
  if (webhook !== undefined && (webhook.secret !== undefined || Object.keys(webhook.secrets).length > 0)) {
    return webhook;
  }
  throw new UsageError(`${file} has no channels.webhook.secret; --secret takes another`);
};

/** All of them, by what they are called. */
export const allSecrets = async (
  options: SecretOptions,
  context: Pick<CommandContext, 'env'>,
): Promise<Record<string, string>> => {
  const given = givenSecret(options, context);
  if (given !== undefined) return { 'this secret': given };
  const { secret = [], secrets } = await readWebhookConfig(options, context);
  const shown = (name: string) => (webAddress(name) === undefined ? name : webLabel(name));
  const entries = [
    ...secret.map((one, index) => [`channels.webhook.secret, number ${index + 1}`, one.reveal()]),
    ...Object.entries(secrets).flatMap(([name, several]) =>
      several.map((one, index) => [`channels.webhook.secrets of ${shown(name)}, number ${index + 1}`, one.reveal()]),
    ),
  ];
  return Object.fromEntries(entries);
};

/** Those that sign for one address. */
export const secretsFor = async (
  address: string,
  options: SecretOptions,
  context: Pick<CommandContext, 'env'>,
): Promise<string[]> => {
  const given = givenSecret(options, context);
  if (given !== undefined) return [given];
  const { secret = [], secrets } = await readWebhookConfig(options, context);
  const found = createReceiverFinder(secrets)(address) ?? secret;
  if (found.length === 0) throw new UsageError(`the config has no secret for ${webLabel(address)}; --secret takes one`);
  return found.map((one) => one.reveal());
};
