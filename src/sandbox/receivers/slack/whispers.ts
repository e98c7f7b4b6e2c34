/**
 * Messages that one person sees: by `chat.postEphemeral`, and by the URL that comes with a press. Sources:
 * https://docs.slack.dev/reference/methods/chat.postEphemeral and
 * https://docs.slack.dev/interactivity/handling-user-interaction, "message responses".
 */
import { randomUUID } from 'node:crypto';
import type { Form } from '../form.ts';
import type { HttpAnswer } from '../http-receiver.ts';
import type { SlackMembers } from './members.ts';
import { isRefusal, readableText, readSlackMessage, type SlackMessage } from './message.ts';
import type { Posted } from './posted.ts';

export interface SlackWhisper {
  /** Epoch milliseconds. */
  at: number;
  channel: string;
  user: string;
  readable: string;
  /** By the URL of a press. */
  isResponse: boolean;
}

interface Judged {
  answer: HttpAnswer;
  whispered?: SlackWhisper;
}

export interface SlackWhispers {
  /** `chat.postEphemeral` by a token that may. */
  post(form: Form): Judged;
  /** What is sent to the URL of a press. */
  respond(path: string, form: Form | undefined): Judged;
  /** Path of the URL of a press, for this person in this channel. */
  responsePath(channelId: string, user: string): string;
}

interface WhispersDependencies {
  posted: Posted;
  members: Pick<SlackMembers, 'isIn'>;
  isKnownId(channel: unknown): channel is string;
  requireText: boolean;
  now(): number;
}

export const RESPONSES = '/actions/';

const RESPONSE = { times: 5, withinMs: 30 * 60_000 };

const refused = (error: string, messages: readonly string[] = []): Judged => ({
  answer: {
    status: 200,
    body: { ok: false, error, ...(messages.length > 0 && { response_metadata: { messages: [...messages] } }) },
  },
});

export const createSlackWhispers = (dependencies: WhispersDependencies): SlackWhispers => {
  const { posted, members, isKnownId, requireText, now } = dependencies;
  const responses = new Map<string, { channel: string; user: string; at: number; times: number }>();

  const whispered = (channelId: string, user: string, message: SlackMessage, isResponse: boolean): SlackWhisper => ({
    ...{ at: now(), channel: posted.destinationOf(channelId), user, readable: readableText(message), isResponse },
  });

  return {
    post: ({ fields }) => {
      const { channel, user } = fields;
      if (!isKnownId(channel)) return refused('channel_not_found');
      if (typeof user !== 'string' || user === '' || !members.isIn(channel, user))
        return refused('user_not_in_channel');
      const message = readSlackMessage(fields, requireText);
      if (isRefusal(message)) return refused(message.error, message.messages);
      return {
        answer: { status: 200, body: { ok: true, message_ts: `${Math.floor(now() / 1000)}.000001` } },
        whispered: whispered(channel, user, message, false),
      };
    },
    respond: (path, form) => {
      const response = responses.get(path);
      const isOver = response === undefined || response.times <= 0 || now() - response.at > RESPONSE.withinMs;
      if (isOver) return { answer: { status: 404, body: { ok: false, error: 'expired_url' } } };
      const { response_type: type = 'ephemeral', replace_original: replaces, ...fields } = form?.fields ?? {};
      // Anything else would be seen by all, or take the place of the alert.
      if (form === undefined || type !== 'ephemeral' || replaces !== false)
        return { answer: { status: 500, body: 'the sandbox takes answers for one person only' } };
      const message = readSlackMessage(fields, requireText);
      if (isRefusal(message)) return { answer: { status: 400, body: message.error } };
      response.times -= 1;
      const { channel, user } = response;
      return { answer: { status: 200, body: 'ok' }, whispered: whispered(channel, user, message, true) };
    },
    responsePath: (channel, user) => {
      const path = `${RESPONSES}T0SANDBOX/${responses.size + 1}/${randomUUID()}`;
      responses.set(path, { channel, user, at: now(), times: RESPONSE.times });
      return path;
    },
  };
};
