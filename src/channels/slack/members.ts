/** Who is in a channel. Source: https://docs.slack.dev/reference/methods/conversations.members */
import { DeliveryError } from '../../errors.ts';
import { objectIn, textIn } from '../content/foreign.ts';
import type { Call } from './call.ts';

export interface MembersDependencies {
  /** With the bot token. */
  call: Call;
  now(): number;
}

/** Undefined where Slack does not say: to this token, or of a channel with too many people. Throws a `DeliveryError`. */
export type IsMember = (channel: string, user: string, signal: AbortSignal) => Promise<boolean | undefined>;

/** The most that Slack gives. */
const PAGE = 999;
const MOST_PAGES = 10;
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 1000;

/** Nothing that passes: the token lacks `channels:read` or its like, or the bot is no longer in a private channel. */
const NOT_SAID = ['missing_scope', 'no_permission', 'channel_not_found', 'method_not_supported_for_channel_type'];

const isNotSaid = (error: unknown): boolean => error instanceof DeliveryError && NOT_SAID.includes(error.code);

/** Asks once a minute for the same person in the same channel, and remembers a thousand of them. */
export const createMembers = ({ call, now }: MembersDependencies): IsMember => {
  const known = new Map<string, { at: number; is: Promise<boolean | undefined> }>();

  const ask: IsMember = async (channel, user, signal) => {
    let cursor = '';
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const args = { channel, limit: PAGE, ...(cursor === '' ? {} : { cursor }) };
      const { members, response_metadata: rest } = await call('conversations.members', args, signal);
      if (Array.isArray(members) && members.includes(user)) return true;
      cursor = textIn(objectIn(rest).next_cursor);
      if (cursor === '') return false;
    }
    return undefined;
  };

  const askAnew = async (key: string, ...who: Parameters<IsMember>): Promise<boolean | undefined> => {
    try {
      return await ask(...who);
    } catch (error) {
      if (isNotSaid(error)) return undefined;
      known.delete(key);
      throw error;
    }
  };

  return (channel, user, signal) => {
    const key = `${channel} ${user}`;
    const before = known.get(key);
    if (before !== undefined && Math.abs(now() - before.at) < KNOWN_FOR_MS) return before.is;
    const is = askAnew(key, channel, user, signal);
    known.delete(key);
    known.set(key, { at: now(), is });
    for (const oldest of known.keys()) if (known.size > MOST_KNOWN) known.delete(oldest);
    return is;
  };
};
