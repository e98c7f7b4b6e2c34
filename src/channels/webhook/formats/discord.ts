/**
 * Discord's webhooks: embeds that mention nobody. Source: https://docs.discord.com/developers/resources/webhook#execute-webhook
 * and https://docs.discord.com/developers/topics/rate-limits
 */
import type { PostResponse } from '../../http.ts';
import { jsonObjectIn } from '../../outside.ts';
import { digestDiscord } from './discord-digest.ts';
import { singleDiscord } from './discord-single.ts';
import { type FormatModule, idAt, type Verdict } from './format.ts';
import { composeForPeople } from './people.ts';

const TOO_MANY = 429;
const LONGEST_WAIT_MS = 3_600_000;

/** `Unknown Webhook`, `Unknown Channel` and `Invalid Webhook Token` do not mend themselves. Source: .../topics/opcodes-and-status-codes */
const GONE_CODES = [10_003, 10_015, 50_027];

const GONE: Verdict = {
  reason: 'destination-dead',
  explanation: {
    is: 'is a webhook that was deleted at Discord',
    todo: "make another in the channel's settings, and write its URL where the old one is, at the service or in the config",
  },
};

/** The wait in the body has parts of a second; the header has whole ones. */
const verdictOf = ({ status, text }: PostResponse): Verdict | undefined => {
  const { code, retry_after: seconds } = jsonObjectIn(text);
  if (GONE_CODES.some((one) => one === code)) return GONE;
  if (status !== TOO_MANY || typeof seconds !== 'number' || !(seconds >= 0)) return undefined;
  return { reason: 'rate-limited', retryAfterMs: Math.ceil(Math.min(seconds * 1000, LONGEST_WAIT_MS)) };
};

/** Discord answers when the message is kept, with its id; else a message that is not kept is no error. */
const waiting = (address: string): string => {
  const url = new URL(address);
  url.searchParams.set('wait', 'true');
  return url.href;
};

export const discord: FormatModule = {
  contentType: 'application/json',
  isSigned: false,
  compose: (parcel, context) =>
    composeForPeople(parcel, context, {
      single: (content, { format }, isQuiet) => singleDiscord(content, format, isQuiet),
      digest: (content, { format }) => digestDiscord(content, format),
    }),
  complete: (_request, { address }) => ({ url: waiting(address) }),
  idIn: idAt('id'),
  verdictOf,
};
