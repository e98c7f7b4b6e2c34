/** Presses of buttons on Slack: one connection after another, and an answer to each press. */
import { createBoundedMap } from '../../bounded-map.ts';
import type { ConnectionTo } from '../../connection/settings.ts';
import { DeliveryError } from '../../errors.ts';
import { statusText } from '../../net.ts';
import type { Buttons, Listening } from '../channel.ts';
import { objectIn, textIn } from '../content/foreign.ts';
import type { GuardedPost } from '../http.ts';
import type { SlackBody } from './blocks.ts';
import {
  answerTo,
  type IsMember,
  type Own,
  type Pressed,
  readPress,
  responseOf,
  slackButtons,
  toPress,
} from './buttons.ts';
import type { Call } from './call.ts';
import type { SlackConfig } from './config.ts';
import { runSocket } from './socket.ts';

/** The most that Slack gives. */
const PAGE = 999;
const MOST_PAGES = 10;
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 1000;

/** Nothing that passes: the token lacks `channels:read` or its like, or the bot is no longer in a private channel. */
const NOT_SAID = ['missing_scope', 'no_permission', 'channel_not_found', 'method_not_supported_for_channel_type'];

/**
 * Who is in a channel: asks once a minute for the same person in the same channel, and remembers a thousand of them. `call`:
 * with the bot token. Source: https://docs.slack.dev/reference/methods/conversations.members
 */
export const createMembers = (call: Call, now: () => number): IsMember => {
  const known = createBoundedMap<string, { at: number; is: Promise<boolean | undefined> }>(MOST_KNOWN);

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

  return (channel, user, signal) => {
    const key = `${channel} ${user}`;
    const before = known.get(key);
    if (before !== undefined && Math.abs(now() - before.at) < KNOWN_FOR_MS) return before.is;
    const is = ask(channel, user, signal).catch((error: unknown) => {
      if (error instanceof DeliveryError && NOT_SAID.includes(error.code)) return undefined;
      known.delete(key);
      throw error;
    });
    known.set(key, { at: now(), is });
    return is;
  };
};

/** The app's token goes to the host that Slack names, so it has to be a `wss` URL. */
const urlIn = ({ url }: Record<string, unknown>, isPlain: boolean): URL => {
  const found = typeof url === 'string' ? URL.parse(url) : null;
  if (found !== null && (found.protocol === 'wss:' || (isPlain && found.protocol === 'ws:'))) return found;
  throw new DeliveryError('unknown', 'Slack gave no address for Socket Mode', { code: 'unreadable' });
};

interface Ways {
  /** With the app-level token. */
  callApp: Call;
  /** With the bot token. */
  call: Call;
  /** To an address that Slack names with a press. */
  post: GuardedPost;
  /** Of the connection that Slack names. */
  connectionTo: ConnectionTo;
}

/** The answer to a press may reach nobody; what was done is done. */
export const createSlackButtons = (
  { apiUrl, timeout }: SlackConfig,
  { callApp, call, post, connectionTo }: Ways,
  now: () => number,
): Buttons<SlackBody> => {
  /** As in a test: the Web API is spoken to without TLS. */
  const isPlain = new URL(apiUrl).protocol === 'http:';
  const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  const isMember = createMembers(call, now);

  const teamsOf = async (signal: AbortSignal): Promise<string[]> => {
    const { team_id, enterprise_id } = await call('auth.test', {}, within(signal));
    return [team_id, enterprise_id].filter((id) => typeof id === 'string');
  };

  const respond = async (url: string, text: string, signal: AbortSignal): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'user-agent': 'tocsin' };
    const body = JSON.stringify(responseOf(text));
    const { status } = await post({ url, headers, body, signal: within(signal) });
    if (status < 200 || status > 299) {
      const why = `Slack took no answer for somebody outside of the channel: ${statusText(status)}`;
      throw new DeliveryError('unknown', why, { code: String(status) });
    }
  };

  const answer = async (pressed: Pressed, text: string, signal: AbortSignal): Promise<void> => {
    try {
      await call('chat.postEphemeral', answerTo(pressed, text), within(signal));
    } catch (error) {
      // It reaches only those who are in the channel.
      const isOutside = error instanceof DeliveryError && error.code === 'user_not_in_channel';
      if (!isOutside || pressed.responseUrl === '') throw error;
      await respond(pressed.responseUrl, text, signal);
    }
  };

  const handle = async (pressed: Pressed, own: Own, listening: Listening, signal: AbortSignal): Promise<void> => {
    try {
      const said = await listening.onPress(toPress(pressed, own));
      if (said !== undefined) await answer(pressed, said.text, signal);
    } catch (error) {
      listening.onProblem(error);
    }
  };

  return {
    ...slackButtons,
    listen: async (listening, signal) => {
      const opened = urlIn(await callApp('apps.connections.open', {}, within(signal)), isPlain);
      const teams = await teamsOf(signal);
      let appId: string | undefined;
      const isMemberInTime: IsMember = (channel, user, aborted) => isMember(channel, user, within(aborted));
      await runSocket(
        {
          url: opened.href,
          connection: connectionTo(opened.href.replace(/^ws/, 'http')),
          onHello: (id) => {
            appId = id;
            listening.onOpen();
          },
          onEnvelope: (type, payload) => {
            const pressed = type === 'interactive' ? readPress(payload) : undefined;
            if (pressed === undefined) return;
            void handle(pressed, { appId, teams, isMember: isMemberInTime }, listening, signal);
          },
        },
        signal,
      );
    },
  };
};
