/** What is true of Telegram as a kind. Its transport, and with it telegraf, is loaded where Telegram is configured. */
import { atOnce } from '../../chunks.ts';
import { addressesIn } from '../address.ts';
import type { ChannelModule } from '../channel.ts';
import { formatChatAddress, parseChatAddress } from './address.ts';
import type { TelegramConfig } from './config.ts';

const parse = (text: string): string | undefined => {
  const address = parseChatAddress(text.trim());
  return address && formatChatAddress(address);
};

/** People have positive ids; groups and channels have negative ones, or names. */
const isPrivateChat = (address: string): boolean => /^\d/.test(address);

/** Telegram, for the registry. */
export const telegram: ChannelModule<TelegramConfig> = {
  kind: 'telegram',
  addressesOf: ({ contacts = [], url = '' }) =>
    addressesIn('telegram', [
      {
        texts: contacts,
        parse,
        problem: (shown) => `the telegram contact ${shown} is no chat id or @name, with or without /TOPIC`,
      },
      {
        texts: [url],
        parse: () => undefined,
        problem: () => 'the telegram entry has a url, which is not used: chats go into contacts',
      },
    ]),
  labelOf: (address) => address,
  words: { place: 'Telegram chat', every: 'every Telegram chat', none: 'no Telegram chat gets alerts' },
  entry: {
    keys: ['contacts'],
    contactsAre: 'chat ids or @names, with a topic as CHAT/TOPIC',
    missing: 'list chats in contacts',
  },
  ignoresCase: false,
  canBeDisabled: false,
  sharesSender: () => true,
  senderKey: 'channels.telegram.botToken',
  acknowledgedBy: { way: 'button' },
  rateOf: (address, { perMinute, ...rate }) =>
    perMinute === undefined || isPrivateChat(address) ? rate : { ...rate, perMinute },
  // The limits are those of the chat, and topics are places in one chat.
  sharesRateWith: (address) => parseChatAddress(address)?.chat ?? address,
  setup: {
    title: 'Telegram',
    hangsOn: 'one bot token',
    questions: [
      {
        id: 'token',
        name: 'the token of the Telegram bot',
        text: 'Token of the Telegram bot, from BotFather (does not show)',
        todo: '@BotFather shows it after /token: digits, a colon, and letters.',
        variable: 'TELEGRAM_TOKEN',
        isHidden: true,
        like: /^(bot)?\d{6,12}:[\w-]+$/,
        blamedBy: /channels\.telegram\.botToken/,
      },
    ],
    address: {
      name: 'the Telegram chat',
      text: 'Chat id or @name, the bot being a member',
      todo: 'Add the bot to the chat; the id of a group begins with a minus. A person has to press Start at the bot first.',
      like: /^(-?\d+|@\w+)(\/\d+)?$/,
    },
    linesOf: ({ apiUrl }, { quoted, secret }) => [
      '  # Telegram through a bot. It must be a member of the chats.',
      '  telegram:',
      `    botToken: ${secret('TELEGRAM_TOKEN')}`,
      ...(apiUrl === undefined ? [] : [`    apiRoot: ${quoted(apiUrl)}`]),
    ],
  },
  summaryOf: ({ apiRoot }) => `telegram by ${new URL(apiRoot).host}`,
  connectionsOf: (config) => [['', config]],
  preview: {
    address: '-1001234567890',
    load: async () => {
      const [{ composeTelegram }, { telegramButtons }] = await Promise.all([
        import('./message.ts'),
        import('./buttons.ts'),
      ]);
      return (parcel, context, { annotation }) =>
        atOnce(composeTelegram(parcel, context)).map(({ body }) =>
          annotation === undefined ? body : telegramButtons.put(body, annotation),
        );
    },
  },
  load: async () => (await import('./transport.ts')).createTelegramChannel,
};
