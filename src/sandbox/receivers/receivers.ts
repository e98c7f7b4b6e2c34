/** One receiver of each kind, started and stopped together. */
import { createListeners } from '../listeners.ts';
import type { Received, ReceiverKind, ReceiverView } from './received.ts';
import { createSlackReceiver, SLACK_RATES, type SlackReceiver } from './slack/slack.ts';
import { createSmtpReceiver, type SmtpReceiver } from './smtp/smtp.ts';
import { createTelegramReceiver, TELEGRAM_RATES, type TelegramReceiver } from './telegram/telegram.ts';
import { createWebhookReceiver, type WebhookReceiver } from './webhook.ts';

export type ReceiverPorts = { [Name in keyof SandboxReceivers]?: number };

export interface ReceiversOptions {
  /** Where everything listens. Default 127.0.0.1; containers need 0.0.0.0. */
  host?: string;
  /** Host in every address given out, webhook URLs included. Default: the one listened on, or 127.0.0.1. */
  publicHost?: string;
  /** What is left out gets a free port. */
  ports?: ReceiverPorts;
  /** Slack and Telegram enforce their platforms' rates with 429. Default false. */
  enforceRates?: boolean;
  /** Default `xoxb-sandbox`. */
  slackToken?: string;
  /** Default `123456789:sandbox`. */
  telegramToken?: string;
  /** `whsec_...`; what it does not sign is refused. Default: one that is the same everywhere. */
  webhookSecret?: string;
  /** Default: no AUTH. */
  smtpAuth?: { user: string; pass: string };
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
}

/** Where the receivers are and what opens them. */
export interface ReceiverAddresses extends Record<Exclude<ReceiverKind, 'email'>, object> {
  slack: { apiUrl: string; botToken: string; webhookUrl: string };
  telegram: { apiRoot: string; botToken: string };
  smtp: { host: string; port: number; user?: string; pass?: string };
  /** Every path under `url` takes webhooks. */
  webhook: { url: string; secret: string };
}

export interface SandboxReceivers extends Record<Exclude<ReceiverKind, 'email'>, ReceiverView> {
  slack: SlackReceiver;
  telegram: TelegramReceiver;
  smtp: SmtpReceiver;
  webhook: WebhookReceiver;
}

interface ReceiverGroup {
  byKind: SandboxReceivers;
  start(): Promise<ReceiverAddresses>;
  stop(): Promise<void>;
  /** Accepted messages of all kinds, oldest first. */
  received(): Received[];
  onReceived(listener: (message: Received) => void): () => void;
}

/** Opens nothing but the sandbox. */
const WEBHOOK_SECRET = `whsec_${Buffer.from('sandbox sandbox sandbox sandbox!').toString('base64')}`;

/** The URL as others reach it. */
export const publicUrl = (url: string, publicHost: string | undefined): string => {
  if (publicHost === undefined) return url;
  const changed = new URL(url);
  changed.hostname = publicHost.includes(':') ? `[${publicHost}]` : publicHost;
  return url.endsWith('/') ? changed.href : changed.href.replace(/\/$/, '');
};

const createAll = (options: ReceiversOptions, webhookSecret: string): SandboxReceivers => {
  const { ports = {}, enforceRates = false, host, now, slackToken, telegramToken, smtpAuth } = options;
  const shared = { ...(host !== undefined && { host }), ...(now && { now }) };
  return {
    slack: createSlackReceiver({
      ...shared,
      port: ports.slack ?? 0,
      ...(enforceRates && { rates: SLACK_RATES }),
      ...(slackToken !== undefined && { botToken: slackToken }),
    }),
    telegram: createTelegramReceiver({
      ...shared,
      port: ports.telegram ?? 0,
      ...(enforceRates && { rates: TELEGRAM_RATES }),
      ...(telegramToken !== undefined && { botToken: telegramToken }),
    }),
    smtp: createSmtpReceiver({ ...shared, port: ports.smtp ?? 0, ...(smtpAuth && { auth: smtpAuth }) }),
    webhook: createWebhookReceiver({ ...shared, port: ports.webhook ?? 0, secret: webhookSecret }),
  };
};

export const createReceivers = (options: ReceiversOptions = {}): ReceiverGroup => {
  const { publicHost, smtpAuth, webhookSecret = WEBHOOK_SECRET } = options;
  const { slackToken = 'xoxb-sandbox', telegramToken = '123456789:sandbox' } = options;
  const byKind = createAll({ ...options, slackToken, telegramToken }, webhookSecret);
  const { slack, telegram, smtp, webhook } = byKind;
  const all = Object.values<SandboxReceivers[keyof SandboxReceivers]>({ ...byKind });
  const listeners = createListeners<Received>();
  for (const receiver of all) receiver.onReceived(listeners.emit);
  return {
    byKind,
    start: async () => {
      const [slackAt, telegramAt, smtpAt, webhookAt] = await Promise.all([
        slack.start(),
        telegram.start(),
        smtp.start(),
        webhook.start(),
      ]);
      return {
        slack: {
          apiUrl: publicUrl(slackAt.apiUrl, publicHost),
          webhookUrl: publicUrl(slackAt.webhookUrl, publicHost),
          botToken: slackToken,
        },
        telegram: { apiRoot: publicUrl(telegramAt.apiRoot, publicHost), botToken: telegramToken },
        smtp: { host: publicHost ?? smtpAt.host, port: smtpAt.port, ...smtpAuth },
        webhook: { url: publicUrl(webhookAt.url, publicHost), secret: webhookSecret },
      };
    },
    stop: async () => {
      await Promise.all(all.map((receiver) => receiver.stop()));
    },
    received: () => all.flatMap((receiver): Received[] => receiver.received()).toSorted((a, b) => a.at - b.at),
    onReceived: listeners.add,
  };
};
