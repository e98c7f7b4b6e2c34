/** The `channels.telegram` slice of the configuration. */
import { z } from 'zod';
import { connectionFields, pairedKey } from '../../schema/connection.ts';
import { httpUrl } from '../../schema/fields.ts';
import { createSecret } from '../../secret.ts';
import { channelOptions, senderOption } from '../options.ts';

/**
 * Telegram asks for at most one message a second in a chat and 20 a minute in a group; short bursts pass.
 * Source: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this
 */
const PACE = { perSecond: 1, perMinute: 20, burst: 3 };

/** About 30 messages a second in all, by the same source. */
const BOT_PACE = { perSecond: 25, burst: 5 };

const TOKEN_RULE = 'must be a bot token as BotFather gives it: digits, a colon, and letters';

const botToken = () =>
  z
    .string({ error: TOKEN_RULE })
    .regex(/^\d+:[A-Za-z0-9_-]+$/, { error: TOKEN_RULE })
    .meta({ writeOnly: true, description: 'Token of the bot.' })
    .transform(createSecret);

/** Telegram through a bot. */
export const telegramConfig = z
  .strictObject({
    botToken: botToken(),
    apiRoot: httpUrl()
      .prefault('https://api.telegram.org')
      .describe('Base URL of the Bot API. Change it for a Bot API server of your own.'),
    ...connectionFields('the Bot API'),
    ...channelOptions({ rateLimit: PACE, concurrency: 50 }),
    ...senderOption(BOT_PACE),
  })
  .superRefine(pairedKey);

export type TelegramConfig = z.infer<typeof telegramConfig>;
