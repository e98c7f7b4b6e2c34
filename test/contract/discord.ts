import { createDiscordReceiver } from '../../src/sandbox/receivers/formats/discord.ts';
import { readDiscord } from '../support/discord-reader.ts';
import { vendorContestant } from './vendor.ts';

const TOKEN = '3d89bb7572e0fb30d8128367b3b1b44f';

export const discordContestant = vendorContestant({
  format: 'discord',
  create: createDiscordReceiver,
  show: (body) => readDiscord(JSON.parse(JSON.stringify(body))),
  other: '?thread_id=41771983423143937',
  secrets: [TOKEN],
  refusals: [
    {
      says: '429 with parts of a second',
      step: { status: 429, headers: { 'retry-after': '1' }, body: { message: 'x', retry_after: 0.64, global: false } },
      reason: 'rate-limited',
      retryAfterMs: 640,
    },
    {
      says: '429 of the proxy before it',
      step: { status: 429, headers: { 'retry-after': '7' }, body: '<html>' },
      reason: 'rate-limited',
      retryAfterMs: 7000,
    },
    {
      says: 'a webhook that was deleted',
      step: { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } },
      reason: 'destination-dead',
      code: '404',
    },
    {
      says: 'a token that is none',
      step: { status: 401, body: { message: 'Invalid Webhook Token', code: 50_027 } },
      reason: 'destination-dead',
      code: '401',
    },
    { says: '404 of something else', step: { status: 404, body: '<html>' }, reason: 'unknown', code: '404' },
    {
      says: 'a body that Discord does not take',
      step: { status: 400, body: { message: 'Invalid Form Body', code: 50_035 } },
      reason: 'bad-message',
      code: '400',
    },
    { says: '502', step: { status: 502 }, reason: 'unavailable', code: '502', maybeDelivered: true },
  ],
});
