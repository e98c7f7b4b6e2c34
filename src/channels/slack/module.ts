/** What is true of Slack as a kind. Its transport, and with it Slack's client, is loaded where Slack is configured. */
import { atOnce } from '../../chunks.ts';
import { addressesIn, webAddress, webLabel } from '../address.ts';
import type { ChannelModule } from '../channel.ts';
import { isHook, parseChannel } from './address.ts';
import type { SlackConfig } from './config.ts';

/** Slack, for the registry. */
export const slack: ChannelModule<SlackConfig> = {
  kind: 'slack',
  addressesOf: ({ contacts = [], url = '' }) =>
    addressesIn('slack', [
      {
        texts: contacts,
        parse: parseChannel,
        problem: (shown) => `the slack contact ${shown} is no channel id (C...) or name (#name)`,
      },
      { texts: [url], parse: webAddress, problem: (shown) => `the slack url ${shown} is no http or https URL` },
    ]),
  labelOf: (address) => (isHook(address) ? webLabel(address) : address),
  words: { place: 'Slack channel', every: 'every Slack channel', none: 'no Slack channel gets alerts' },
  entry: {
    keys: ['contacts', 'url'],
    contactsAre: 'channel ids, for the bot',
    missing: 'list channels in contacts, or give a url',
    contactsNeed: 'botToken',
  },
  ignoresCase: false,
  canBeDisabled: false,
  // An incoming webhook has a key of its own, and its answer names no message.
  sharesSender: (address) => !isHook(address),
  senderKey: 'channels.slack.botToken',
  acknowledgedBy: { way: 'button', key: 'appToken' },
  setup: {
    title: 'Slack',
    hangsOn: 'one bot token',
    questions: [
      {
        id: 'token',
        name: 'the bot token of the Slack app',
        text: 'Bot token of the Slack app, xoxb-... (does not show)',
        todo: 'It is the “Bot User OAuth Token” at api.slack.com/apps, your app, OAuth & Permissions; the app needs the scopes chat:write and files:write.',
        variable: 'SLACK_TOKEN',
        isHidden: true,
        like: /^xox[a-z]/,
        blamedBy: /channels\.slack\.botToken/,
      },
    ],
    address: {
      name: 'the Slack channel',
      text: 'Slack channel id, like C024BE91L, the bot being invited',
      todo: 'Slack shows the id at the end of the details of a channel. Invite the bot there with /invite.',
      like: /^([CGD][A-Z0-9]{7,20}|#\S+)$/,
    },
    linesOf: ({ apiUrl, token }, { quoted, secret }) => [
      '  # Slack through an app with the scopes chat:write and files:write. Invite its bot to the channels.',
      ...(token === undefined && apiUrl === undefined ? ['  slack: {}'] : ['  slack:']),
      ...(token === undefined ? [] : [`    botToken: ${secret('SLACK_TOKEN')}`]),
      ...(apiUrl === undefined ? [] : [`    apiUrl: ${quoted(apiUrl)}`]),
    ],
  },
  summaryOf: ({ botToken }) => `slack${botToken === undefined ? ', incoming webhooks only' : ''}`,
  connectionsOf: (config) => [['', config]],
  preview: {
    address: 'C024BE91L',
    load: async () => {
      const [{ composeSlack }, { slackButtons }] = await Promise.all([import('./message.ts'), import('./buttons.ts')]);
      return (parcel, context, { annotation }) =>
        atOnce(composeSlack(parcel, context, true)).map(({ body }) =>
          annotation === undefined ? body : slackButtons.put(body, annotation),
        );
    },
  },
  load: async () => (await import('./transport.ts')).createSlackChannel,
};
