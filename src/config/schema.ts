/** The whole configuration, as one schema: strict for the operator, typed for the program. */
import { z } from 'zod';
import { type ChannelKind, isObject } from '../alert.ts';
import { emailConfig } from '../channels/email/config.ts';
import { slackConfig } from '../channels/slack/config.ts';
import { telegramConfig } from '../channels/telegram/config.ts';
import { webhookConfig } from '../channels/webhook/config.ts';
import type { ProxyVariables } from '../connection/proxy-variables.ts';
import { mutesSection } from './mutes.ts';
import { pollSection, serviceSection } from './poll-section.ts';
import { linksSection, templatesSection, timeZone } from './presentation-section.ts';
import type { Path } from './problems.ts';
import { redisSection } from './redis-section.ts';
import {
  alertsSection,
  auditSection,
  chainSection,
  destinationsSection,
  fallbackSection,
  logSection,
  opsSection,
  protocolsSection,
  watchdogSection,
} from './sections.ts';

const channelsSection = z.strictObject({
  email: emailConfig.exactOptional().describe('E-mail through an SMTP relay.'),
  telegram: telegramConfig
    .exactOptional()
    .describe('Telegram through a bot that is a member of the chats. It must be allowed to send documents.'),
  slack: slackConfig
    .exactOptional()
    .describe('Slack, through the bot token of an app that was invited to the channels, incoming webhooks, or both.'),
  webhook: webhookConfig.exactOptional().describe('Webhooks by Standard Webhooks 1.0, one signed POST for each alert.'),
} satisfies Record<ChannelKind, z.ZodType>);

const chainId = z.string().regex(/^[1-9]\d{0,19}$/, { error: 'must be a chain id in decimal digits' });

export const configSchema = z.strictObject({
  services: z
    .array(serviceSection)
    .min(1, { error: 'must list at least one service, else nothing is forwarded' })
    .describe('The monitoring services, one entry per API key.'),
  redis: redisSection
    .prefault({})
    .describe(
      'The Redis with the queue. Without url, sentinel and cluster, Tocsin starts a private redis-server under dataDir. That suits one daemon on one machine. For several daemons use a Redis of your own, with append-only on and noeviction set.',
    ),
  dataDir: z
    .string()
    .min(1, { error: 'must not be empty' })
    .default('./data')
    .describe(
      'Directory of the private Redis and of the cursor backup, relative to this file. Put it on a disk that survives a restart: it holds the alerts that are not delivered yet. If this key is left out, the variable TOCSIN_DATA_DIR counts; the container sets it.',
    ),
  poll: pollSection.prefault({}).describe('How often and how far back Tocsin polls the services.'),
  alerts: alertsSection.prefault({}).describe('Which items become alerts.'),
  protocols: protocolsSection.prefault({}).describe('Which protocols to poll, and where their alerts go.'),
  channels: channelsSection
    .prefault({})
    .describe(
      'How to reach each kind of channel. Delete the kinds that you do not use; at least one must stay. Tocsin does not send to a kind that is left out, and reports each protocol that uses it.',
    ),
  fallback: fallbackSection
    .exactOptional()
    .describe(
      "The last resort. It gets an item that no human channel has accepted in time, that is dead, or that has no destination. It also gets the announcements of channels that break and of services that cannot be read. Left out: no fallback; then those announcements go to the other people who get the protocol's alerts. Choose a kind, or at least a mailbox, that does not fail together with the others.",
    ),
  mutes: mutesSection
    .prefault({})
    .describe(
      'Mutes: for a time, Tocsin does not send alerts that match one. `tocsin mute add` adds more. When a mute ends, one message lists what it hid.',
    ),
  destinations: destinationsSection
    .prefault({})
    .describe(
      'Approval of the destinations that the service lists. Destinations in this config, under protocols.overrides or fallback, need no approval.',
    ),
  audit: auditSection
    .prefault({})
    .describe(
      "The daemon compares the service's list with its ledger; `tocsin audit` does the same at once. Every item that the service lists as critical must be delivered, waiting, muted or dead. Any other is queued again, counted and logged.",
    ),
  watchdog: watchdogSection
    .prefault({})
    .describe(
      'Tocsin announces its own troubles once, and once that they are over: a service or protocol that cannot be read, a channel that does not work, dead deliveries, a Redis that may lose its data, a config that was refused, and more; see docs/monitoring.md.',
    ),
  ops: opsSection
    .prefault({})
    .describe('Health checks, metrics and the status page, over plain HTTP. Reading needs no password.'),
  log: logSection.prefault({}).describe('The log on stdout. docs/logs.md has its fields.'),
  timeZone: timeZone()
    .default('UTC')
    .describe(
      "Time zone of the times in messages, as the IANA names it: Europe/Berlin. Slack and Telegram show each reader's own clock where they can; logs, commands and the status page keep UTC.",
    ),
  links: linksSection
    .prefault([])
    .describe(
      'Links in the messages of alerts, beside the explorer: a simulator, a dashboard, a runbook. Buttons on Slack and Telegram. A message has at most five.',
    ),
  templates: templatesSection
    .prefault([])
    .describe(
      'Your own words for single messages, in the template language Liquid; docs/templates.md lists the fields. The first that fits is taken. What it makes is plain text. One that fails is announced, and the message goes out in the words of Tocsin.',
    ),
  chains: z
    .record(chainId, chainSection)
    .prefault({})
    .describe(
      'More chains, by decimal chain id: a name and, for links, an explorer. An entry here replaces the built-in one of the same id.',
    ),
});

/** A configuration that was read and found right. Every duration is a number of milliseconds, every secret a `Secret`. */
export type Config = z.infer<typeof configSchema> & {
  /** HTTPS_PROXY and its like, where one is set. */
  proxyVariables?: ProxyVariables;
};

/** JSON Schema (draft 2020-12) of what the operator writes: durations as text, defaults filled in later. */
export const inputJsonSchema = () => z.toJSONSchema(configSchema, { io: 'input' });

type Node = Record<string, unknown>;

const child = (node: Node, key: string | number): Node[] => {
  if (typeof key === 'number') return isObject(node.items) ? [node.items] : [];
  const named = isObject(node.properties) && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
  const found = named ?? node.additionalProperties;
  return isObject(found) ? [found] : [];
};

const alternatives = (node: Node): Node[] => {
  const list = [node.anyOf, node.oneOf, node.allOf].filter(Array.isArray).flat().filter(isObject);
  return [node, ...list.flatMap(alternatives)];
};

/** What a schema says of a path. The reader asks it before there is a valid config. */
export type Shape = ReturnType<typeof createShape>;

/** Reads a JSON Schema without references, as zod makes it. */
export const createShape = (jsonSchema: unknown) => {
  const root = isObject(jsonSchema) ? alternatives(jsonSchema) : [];
  const nodesAt = (path: Path): Node[] =>
    path.reduce<Node[]>((nodes, key) => nodes.flatMap((node) => child(node, key)).flatMap(alternatives), root);
  const keysAt = (path: Path): string[] =>
    nodesAt(path).flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));
  const below = (path: Path, keys: readonly string[]): string[] =>
    keys.flatMap((key) => keysAt([...path, ...key.split('.')]).map((inner) => `${key}.${inner}`));
  return {
    /** JSON Schema types that the path may have; empty where the path is unknown. */
    typesAt: (path: Path): string[] =>
      nodesAt(path)
        .flatMap(({ type }) => type)
        .filter((type) => typeof type === 'string'),
    /** Keys that a map at this path may have; empty for a map with free keys. */
    keysAt,
    /** Keys of the maps in it, two deep, as `smtp.host`; the nearer first. */
    keysBelow: (path: Path): string[] => {
      const inner = below(path, keysAt(path));
      return [...inner, ...below(path, inner)];
    },
    /** True where the value, or the list or map that holds it, is a secret. */
    isSecret: (path: Path): boolean =>
      path.some((_, index) => nodesAt(path.slice(0, index + 1)).some((node) => node.writeOnly === true)),
  };
};

export const shape = createShape(inputJsonSchema());
