/** A person presses a button of a message: the payload that the app gets. Source: docs.slack.dev, block_actions payload. */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';
import { APP_ID } from './socket-mode.ts';

export interface SlackPress {
  /** As senders address it. */
  channel: string;
  /** Of the message. */
  ts: string;
  /** The end of the button's `action_id`: `acknowledge`. */
  action: string;
  /** Default: Ann, of the workspace. */
  user?: { id: string; name: string; team?: string };
  /** Instead of the button's own: what somebody makes up. */
  forged?: { value?: string; channelId?: string; ts?: string; appId?: string };
}

const ANN = { id: 'U0ANN0000', name: 'ann' };
const TEAM = 'T0SANDBOX';

const buttonsIn = (value: JsonValue | undefined): JsonObject[] => {
  if (Array.isArray(value)) return value.flatMap(buttonsIn);
  if (!isObject(value)) return [];
  return value.type === 'button' ? [value] : Object.values(value).flatMap(buttonsIn);
};

export interface PressedMessage {
  channelId: string;
  threadTs?: string;
  /** Blocks and attachments. */
  content: JsonValue;
}

/** Throws where the message shows no such button. `urlOf`: where the app can answer this person. */
export const pressPayload = (
  { ts, action, user = ANN, forged = {} }: SlackPress,
  { channelId, threadTs, content }: PressedMessage,
  urlOf: (user: string) => string,
): JsonObject => {
  const button = buttonsIn(content).find(({ action_id: id }) => typeof id === 'string' && id.endsWith(action));
  if (!button && forged.value === undefined) throw new Error(`the message has no button ${action}`);
  const channel = forged.channelId ?? channelId;
  const messageTs = forged.ts ?? ts;
  const { text = null, value = '', action_id: id = `tocsin.${action}` } = button ?? {};
  const pressed = {
    type: 'button',
    action_id: id,
    text,
    value: forged.value ?? value,
    block_id: 'b',
    action_ts: messageTs,
  };
  return {
    type: 'block_actions',
    api_app_id: forged.appId ?? APP_ID,
    team: { id: TEAM, domain: 'sandbox' },
    user: { id: user.id, username: user.name, name: user.name, team_id: 'team' in user ? (user.team ?? '') : TEAM },
    channel: { id: channel, name: 'alerts' },
    container: {
      type: 'message',
      message_ts: messageTs,
      channel_id: channel,
      is_ephemeral: false,
      ...(threadTs !== undefined && { thread_ts: threadTs }),
    },
    message: { type: 'message', ts: messageTs },
    response_url: urlOf(user.id),
    trigger_id: '1.2.3',
    actions: [pressed],
  };
};
