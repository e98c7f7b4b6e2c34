/** Presses of buttons on Slack: one connection after another, and an answer to each press. */
import type { ConnectionTo } from '../../connection/settings.ts';
import { DeliveryError } from '../../errors.ts';
import { statusText } from '../../net.ts';
import type { Buttons, Listening } from '../channel.ts';
import type { GuardedPost } from '../http.ts';
import type { SlackBody } from './blocks.ts';
import { answerTo, type Own, type Pressed, readPress, responseOf, slackButtons, toPress } from './buttons.ts';
import type { Call } from './call.ts';
import { createMembers } from './members.ts';
import { runSocket } from './socket.ts';

export interface ListenDependencies {
  /** With the app-level token. */
  callApp: Call;
  /** With the bot token. */
  call: Call;
  /** To an address that Slack names with a press. */
  post: GuardedPost;
  /** Of the connection that Slack names. */
  connectionTo: ConnectionTo;
  /** The Web API is spoken to without TLS, as in a test. */
  isPlain: boolean;
  /** Of one call, in milliseconds. */
  timeoutMs: number;
  pingEveryMs?: number;
  now(): number;
}

/** The app's token goes to whatever host Slack names, so it has to be a `wss` URL. */
const urlIn = ({ url }: Record<string, unknown>, isPlain: boolean): URL => {
  const found = typeof url === 'string' ? URL.parse(url) : null;
  if (found !== null && (found.protocol === 'wss:' || (isPlain && found.protocol === 'ws:'))) return found;
  throw new DeliveryError('unknown', 'Slack gave no address for Socket Mode', { code: 'unreadable' });
};

const asHttp = ({ href }: URL): string => href.replace(/^ws/, 'http');

/** `chat.postEphemeral` reaches only those who are in the channel. */
const isOutside = (error: unknown): boolean => error instanceof DeliveryError && error.code === 'user_not_in_channel';

/** The answer to a press may reach nobody; what was done is done. */
export const createSlackButtons = (dependencies: ListenDependencies): Buttons<SlackBody> => {
  const { callApp, call, post, connectionTo, isPlain, timeoutMs, pingEveryMs, now } = dependencies;
  const within = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const isMember = createMembers({ call, now });

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
      if (!isOutside(error) || pressed.responseUrl === '') throw error;
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
      const isMemberInTime: Own['isMember'] = (channel, user, aborted) => isMember(channel, user, within(aborted));
      await runSocket(
        {
          url: opened.href,
          connection: connectionTo(asHttp(opened)),
          ...(pingEveryMs === undefined ? {} : { pingEveryMs }),
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
