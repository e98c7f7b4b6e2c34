/** What Slack would say to a message, by the way it came: `chat.postMessage`, an upload, or an incoming webhook. */
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import type { Exchange } from '../../listener.ts';
import type { Form } from '../form.ts';
import type { HttpAnswer, Judgement } from '../http-receiver.ts';
import type { SlackAccess } from './access.ts';
import type { SlackFile, SlackFiles } from './files.ts';
import type { SlackMembers } from './members.ts';
import { isRefusal, readableText, readSlackMessage, type SlackMessage } from './message.ts';
import { CHANNEL_ID, createPosted, type Posted } from './posted.ts';
import type { PressedMessage } from './press.ts';
import { createSlackWhispers, type SlackWhispers } from './whispers.ts';

export interface SlackRaw extends SlackMessage {
  method: 'chat.postMessage' | 'files.completeUploadExternal' | 'webhook';
  /** Only with an upload. */
  files: SlackFile[];
}

/** An accepted change of a message that was posted before. */
export interface SlackEdit extends SlackMessage {
  /** Epoch milliseconds. */
  at: number;
  /** Of the message. */
  destination: string;
  ts: string;
  /** Everything a reader finds in the message from now on. */
  readable: string;
}

interface SlackRules {
  access: SlackAccess;
  channels: readonly string[] | undefined;
  webhooks: readonly string[] | undefined;
  requireText: boolean;
  members: SlackMembers;
  now(): number;
}

export interface SlackJudge {
  /** The Web API's refusal of this call for its token; undefined where it may be made. */
  refuseToken(exchange: Exchange, fields: JsonObject, method: string): JsonObject | undefined;
  /** How senders address the channel that a call names. */
  destinationOf(fields: JsonObject): string;
  /** The id of a channel, by what senders address it with. */
  idOf(channel: string): string;
  post(exchange: Exchange, form: Form): Judgement<SlackRaw>;
  upload(exchange: Exchange, form: Form): Judgement<SlackRaw>;
  /** `conversations.info` by a token that may. */
  info(form: Form): HttpAnswer;
  /** `chat.update` by a token that may. */
  update(form: Form): { answer: HttpAnswer; edit?: SlackEdit };
  webhook(exchange: Exchange, form: Form | undefined): Judgement<SlackRaw>;
  /** `conversations.members` by a token that may. */
  members(form: Form): HttpAnswer;
  whispers: SlackWhispers;
  /** What somebody sees who presses a button. `channel`: as senders address it. Throws where there is no such message. */
  messageAt(channel: string, ts: string): PressedMessage;
}

const CHANNEL_NAME = /^#?[a-z0-9][a-z0-9_-]{0,79}$/;
const WEBHOOK_PATH = /^\/services\/T\w+\/B\w+\/\w+$/;

const refusedWith = (fields: JsonObject): Judgement<SlackRaw> => ({
  answer: { status: 200, body: { ok: false, ...fields } },
  code: String(fields.error),
});

const refused = (error: string, messages: readonly string[] = []): Judgement<SlackRaw> =>
  refusedWith({ error, ...(messages.length > 0 && { response_metadata: { messages: [...messages] } }) });

const refusedWebhook = (status: number, error: string): Judgement<SlackRaw> => ({
  answer: { status, body: error },
  code: error,
});

const tokenOf = ({ headers }: Exchange, { token }: JsonObject): string | undefined => {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  return bearer ?? (typeof token === 'string' ? token : undefined);
};

/** Old clients send a webhook's JSON in a form's field `payload`. */
const payloadOf = ({ fields }: Form): JsonObject | undefined => {
  if (typeof fields.payload !== 'string') return fields;
  const payload = parseJson(fields.payload);
  return isObject(payload) ? payload : undefined;
};

const contentOf = ({ blocks, attachments }: SlackMessage): JsonValue => [blocks, attachments];

/** Gives a message its time stamp, which is its id, and answers as Slack does. */
const createAccept = (rules: SlackRules, posted: Posted) => {
  let count = 0;
  return (
    channel: string,
    message: SlackMessage,
    method: SlackRaw['method'],
    sent: SlackFile[] = [],
  ): Judgement<SlackRaw> => {
    count += 1;
    const ts = `${Math.floor(rules.now() / 1000)}.${String(count % 1_000_000).padStart(6, '0')}`;
    const { threadTs, text } = message;
    posted.add(ts, { channelId: channel, content: contentOf(message), ...(threadTs !== undefined && { threadTs }) });
    const texts = [readableText(message), ...sent.map(({ content }) => content.toString())];
    const part = sent.length > 0 && threadTs !== undefined ? { partOf: threadTs } : {};
    return {
      answer: { status: 200, body: { ok: true, channel, ts, message: { type: 'message', text, ts } } },
      code: 'ok',
      accepted: { id: ts, ...part, text: texts.join('\n'), raw: { ...message, method, files: sent } },
    };
  };
};

/** Which channels there are: those of the rules, or every one whose name or id is well-formed. */
const knownChannels = ({ channels: known }: SlackRules, posted: Posted) => {
  const exists = (channel: unknown): channel is string => {
    if (typeof channel !== 'string') return false;
    if (known) return known.includes(channel) || known.includes(posted.destinationOf(channel));
    return CHANNEL_ID.test(channel) || CHANNEL_NAME.test(channel);
  };

  const isKnownId = (channel: unknown): channel is string => exists(channel) && CHANNEL_ID.test(channel);

  return { exists, isKnownId };
};

export const createSlackJudge = (rules: SlackRules, files: SlackFiles): SlackJudge => {
  const posted = createPosted();
  const accept = createAccept(rules, posted);
  const { exists, isKnownId } = knownChannels(rules, posted);

  const refuseToken: SlackJudge['refuseToken'] = (exchange, fields, method) =>
    rules.access.refuse(tokenOf(exchange, fields), method);

  return {
    refuseToken,
    idOf: posted.idOf,
    destinationOf: ({ channel, channel_id: id }) => posted.destinationOf(String(channel ?? id ?? '')),
    post: (exchange, { fields }) => {
      const refusal = refuseToken(exchange, fields, 'chat.postMessage');
      if (refusal) return refusedWith(refusal);
      if (!exists(fields.channel)) return refused('channel_not_found');
      const message = readSlackMessage(fields, rules.requireText);
      if (isRefusal(message)) return refused(message.error, message.messages);
      const channelId = posted.idOf(fields.channel);
      const problem = posted.findThreadProblem(channelId, message.threadTs);
      return problem === undefined ? accept(channelId, message, 'chat.postMessage') : refused(problem);
    },
    upload: (exchange, { fields }) => {
      const refusal = refuseToken(exchange, fields, 'files.completeUploadExternal');
      if (refusal) return refusedWith(refusal);
      const channelId = fields.channel_id;
      if (!isKnownId(channelId)) return refused('channel_not_found');
      const message = readSlackMessage({ ...fields, text: fields.initial_comment ?? '(no comment)' }, false);
      if (isRefusal(message)) return refused(message.error, message.messages);
      const problem = posted.findThreadProblem(channelId, message.threadTs);
      if (problem !== undefined) return refused(problem);
      const sent = files.complete(fields);
      if ('error' in sent) return refused(sent.error);
      const listed = sent.map(({ fileId, title = '' }) => ({ id: fileId, title }));
      const judgement = accept(channelId, message, 'files.completeUploadExternal', sent);
      return { ...judgement, answer: { status: 200, body: { ok: true, files: listed } } };
    },
    info: ({ fields }) => {
      const { channel } = fields;
      if (!isKnownId(channel)) return refused('channel_not_found').answer;
      const name = `alerts-${channel.slice(-4).toLowerCase()}`;
      return { status: 200, body: { ok: true, channel: { id: channel, name, is_channel: true } } };
    },
    update: ({ fields }) => {
      const { channel, ts } = fields;
      if (!isKnownId(channel)) return refused('channel_not_found');
      if (typeof ts !== 'string' || !posted.has(channel, ts)) return refused('message_not_found');
      const message = readSlackMessage(fields, rules.requireText);
      if (isRefusal(message)) return refused(message.error, message.messages);
      const answer = { status: 200, body: { ok: true, channel, ts, text: message.text } };
      const held = posted.get(channel, ts);
      if (held) held.content = contentOf(message);
      const edited = { ...message, at: rules.now(), destination: posted.destinationOf(channel), ts };
      return { answer, edit: { ...edited, readable: readableText(message) } };
    },
    members: ({ fields }) => {
      if (!isKnownId(fields.channel)) return refused('channel_not_found').answer;
      const page = rules.members.page(fields.channel, fields);
      return 'error' in page ? refused(page.error).answer : { status: 200, body: { ok: true, ...page.fields } };
    },
    whispers: createSlackWhispers({ ...rules, posted, isKnownId }),
    messageAt: (channel, ts) => {
      const message = posted.get(posted.idOf(channel), ts);
      if (!message) throw new Error('no such message');
      return message;
    },
    webhook: ({ path, method }, form) => {
      const known = rules.webhooks?.includes(path) ?? WEBHOOK_PATH.test(path);
      if (!known) return refusedWebhook(404, 'no_service');
      const payload = form && method === 'POST' ? payloadOf(form) : undefined;
      if (!payload) return refusedWebhook(400, 'invalid_payload');
      const message = readSlackMessage(payload, rules.requireText);
      if (isRefusal(message)) return refusedWebhook(400, message.error);
      return { ...accept(path, message, 'webhook'), answer: { status: 200, body: 'ok' } };
    },
  };
};
