/** The `channels.slack` slice of the configuration. */
import { z } from 'zod';
import { connectionFields, pairedKey } from '../../schema/connection.ts';
import { httpUrl, secret } from '../../schema/fields.ts';
import { channelOptions, senderOption } from '../options.ts';

/**
 * Slack takes about one message a second for each channel and allows short bursts, like a digest and the file in its
 * thread.
 * Source: https://docs.slack.dev/apis/web-api/rate-limits
 */
const PACE = { perSecond: 1, burst: 3 };

/** Slack by bot token, by incoming webhook, or both. */
export const slackConfig = z
  .strictObject({
    botToken: secret()
      .exactOptional()
      .describe(
        'Bot token with the scopes chat:write and files:write. The second is for the files of large digests. Without it, or if the bot was not invited, a large digest is several messages. With channels:read and groups:read, names of channels are shown beside their ids, and only members of a channel can press its buttons. Left out: only incoming webhooks work.',
      ),
    appToken: secret({ pattern: /^xapp-\S+$/, rule: 'must be an app-level token, which begins with xapp-' })
      .exactOptional()
      .describe(
        'App-level token with the scope connections:write, of the same app, with Socket Mode and Interactivity on. By it presses of the buttons of alerts.acknowledge come in, over a connection that Tocsin opens. Left out: messages on Slack have no buttons.',
      ),
    apiUrl: httpUrl()
      .prefault('https://slack.com/api/')
      .describe('Base URL of the Web API. Change it for a proxy, or for GovSlack.'),
    ...connectionFields('Slack'),
    ...channelOptions({ rateLimit: PACE, concurrency: 50 }),
    ...senderOption({}),
  })
  .superRefine(pairedKey);

export type SlackConfig = z.infer<typeof slackConfig>;
