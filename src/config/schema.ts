/** The whole configuration, as one schema: strict for the operator, typed for the program. */
import { z } from 'zod';
import { emailConfig } from '../channels/email/config.ts';
import { slackConfig } from '../channels/slack/config.ts';
import { telegramConfig } from '../channels/telegram/config.ts';
import { webhookConfig } from '../channels/webhook/config.ts';
import type { ProxyVariables } from '../connection/proxy-variables.ts';
import { destinationsSection } from './destinations.ts';
import { mutesSection } from './mutes.ts';
import {
  alertsSection,
  auditSection,
  chainSection,
  fallbackSection,
  logSection,
  opsSection,
  pollSection,
  protocolsSection,
  redisSection,
  serviceSection,
  watchdogSection,
} from './sections.ts';

const channelsSection = z.strictObject({
  email: emailConfig.exactOptional().describe('E-mail by SMTP.'),
  telegram: telegramConfig.exactOptional().describe('Telegram through a bot.'),
  slack: slackConfig.exactOptional().describe('Slack.'),
  webhook: webhookConfig.exactOptional().describe('Signed webhooks.'),
});

const chainId = z.string().regex(/^[1-9]\d{0,19}$/, { error: 'must be a chain id in decimal digits' });

export const configSchema = z.strictObject({
  services: z
    .array(serviceSection)
    .min(1, { error: 'must list at least one service, else nothing is forwarded' })
    .describe('The monitoring services, one entry for each API key.'),
  redis: redisSection.prefault({}).describe('Where the queue lives; left out: a private redis-server under dataDir.'),
  dataDir: z
    .string()
    .min(1, { error: 'must not be empty' })
    .default('./data')
    .describe('Directory of the embedded Redis and of the cursor mirror; relative to this file.'),
  poll: pollSection.prefault({}).describe('When and how far the services are read.'),
  alerts: alertsSection.prefault({}).describe('What is forwarded.'),
  protocols: protocolsSection.prefault({}).describe('For which protocols, and where to.'),
  channels: channelsSection.prefault({}).describe('How each kind of channel is reached; a kind left out is not sent.'),
  fallback: fallbackSection.exactOptional().describe('The last resort; left out: none.'),
  mutes: mutesSection.prefault({}).describe('What is kept from being sent for a time.'),
  destinations: destinationsSection.prefault({}).describe('Whether new destinations have to be approved.'),
  audit: auditSection.prefault({}).describe('The regular comparison of the ledger with what the service lists.'),
  watchdog: watchdogSection.prefault({}).describe('How Tocsin tells of its own troubles.'),
  ops: opsSection.prefault({}).describe('Health, metrics and status page.'),
  log: logSection.prefault({}).describe('The log on stdout.'),
  chains: z.record(chainId, chainSection).prefault({}).describe('Chains besides the well-known ones, by decimal id.'),
});

/** A configuration that was read and found right. Every duration is a number of milliseconds, every secret a `Secret`. */
export type Config = z.infer<typeof configSchema> & {
  /** HTTPS_PROXY and its like, where one is set. */
  proxyVariables?: ProxyVariables;
};

/** JSON Schema (draft 2020-12) of what the operator writes: durations as text, defaults filled in later. */
export const inputJsonSchema = () => z.toJSONSchema(configSchema, { io: 'input' });
