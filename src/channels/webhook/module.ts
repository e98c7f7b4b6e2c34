/** What is true of webhooks as a kind. Their transport is loaded where webhooks are configured. */
import { randomBytes } from 'node:crypto';
import { atOnce } from '../../chunks.ts';
import { httpUrl } from '../../schema/fields.ts';
import { addressesIn, webAddress, webLabel } from '../address.ts';
import type { Certificates, ChannelModule } from '../channel.ts';
import type { WebhookConfig } from './config.ts';
import { WEBHOOK_FORMATS } from './formats/names.ts';

/** As the guard takes it: an IPv6 address without its brackets. */
const hostIn = (url: string): string => (URL.parse(url)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');

/** Webhooks, one signed JSON for each alert. */
export const webhook: ChannelModule<WebhookConfig> = {
  kind: 'webhook',
  addressesOf: ({ contacts = [], url = '' }) =>
    addressesIn('webhook', [
      {
        texts: [url, ...contacts],
        parse: webAddress,
        problem: (shown) => `the webhook address ${shown} is no http or https URL`,
      },
    ]),
  labelOf: webLabel,
  words: { place: 'webhook', every: 'every webhook', none: 'no webhook is sent' },
  entry: {
    keys: ['contacts', 'url'],
    contactsAre: 'URLs',
    missing: 'give a url',
    contact: {
      isPossible: (contact) => httpUrl().safeParse(contact).success,
      rule: 'must be an http or https URL, without user and password',
    },
  },
  ignoresCase: false,
  // By answering 410.
  canBeDisabled: true,
  // Receivers have nothing in common but the program that sends.
  sharesSender: () => false,
  senderKey: 'channels.webhook',
  setup: {
    title: 'Webhooks',
    isGuarded: true,
    questions: [],
    address: {
      name: 'the URL of the receiver',
      text: 'URL of the receiver',
      todo: 'It is the whole URL, with https:// before it.',
      variable: 'WEBHOOK_URL',
      like: /^https?:/i,
    },
    made: { variable: 'WEBHOOK_SECRET', make: () => `whsec_${randomBytes(32).toString('base64')}` },
    linesOf: (_answers, { quoted, secret, allowed }) => [
      '  # Webhooks, signed with this secret; their receivers need it, too.',
      '  webhook:',
      `    secret: ${secret('WEBHOOK_SECRET')}`,
      ...(allowed.length === 0
        ? []
        : [
            '    # Tocsin sends to public https addresses only, except for these.',
            `    allowHttp: ${allowed.some((url) => URL.parse(url)?.protocol === 'http:')}`,
            `    allowNetworks: [${[...new Set(allowed.map(hostIn))].map(quoted).join(', ')}]`,
          ]),
    ],
  },
  summaryOf: () => 'webhook',
  connectionsOf: (config) => [
    ['', config],
    ...Object.entries(config.receivers).map(([name, receiver]): [string, Certificates] => [
      `receivers.${name.includes('://') ? (URL.parse(name)?.host ?? '') : name}`,
      receiver,
    ]),
  ],
  preview: {
    address: 'https://hooks.example.com/tocsin',
    load: async () => {
      const { formatOf } = await import('./formats/registry.ts');
      return (parcel, context, { webhookFormat }) => {
        const format = formatOf(WEBHOOK_FORMATS.find((one) => one === webhookFormat) ?? 'standard');
        return atOnce(format.compose(parcel, context, { batch: parcel.alerts.length })).flatMap(({ body }) =>
          body.map(({ text }) => JSON.parse(text) as unknown),
        );
      };
    },
  },
  load: async () => (await import('./transport.ts')).createWebhookChannel,
};
