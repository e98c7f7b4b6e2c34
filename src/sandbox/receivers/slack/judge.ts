/** What Slack would say to a message, by the way it came: `chat.postMessage`, an upload, or an incoming webhook. */
import { isObject, type JsonObject, parseJson } from '../../json.ts';
import type { Exchange } from '../../listener.ts';
import type { Judgement } from '../desk.ts';
import type { Form } from '../form.ts';
import type { SlackFile, SlackFiles } from './files.ts';
import { readableText, readSlackMessage, type SlackMessage, type SlackRefusal } from './message.ts';

export interface SlackRaw extends SlackMessage {
  method: 'chat.postMessage' | 'files.completeUploadExternal' | 'webhook';
  /** Only with an upload. */
  files: SlackFile[];
}

export interface SlackRules {
  botToken: string;
  channels: readonly string[] | undefined;
  webhooks: readonly string[] | undefined;
  requireText: boolean;
  now(): number;
}

export interface SlackJudge {
  /** The Web API's error for this call's token; undefined where it is the right one. */
  findTokenProblem(exchange: Exchange, fields: JsonObject): string | undefined;
  post(exchange: Exchange, form: Form): Judgement<SlackRaw>;
  upload(exchange: Exchange, form: Form): Judgement<SlackRaw>;
  webhook(exchange: Exchange, form: Form | undefined): Judgement<SlackRaw>;
}

const CHANNEL = /^[CGDU][A-Z0-9]{5,20}$|^#?[a-z0-9][a-z0-9_-]{0,79}$/;
const WEBHOOK_PATH = /^\/services\/T\w+\/B\w+\/\w+$/;

const isRefusal = (message: SlackMessage | SlackRefusal): message is SlackRefusal => 'error' in message;

const refused = (error: string, messages: readonly string[] = []): Judgement<SlackRaw> => ({
  answer: {
    status: 200,
    body: { ok: false, error, ...(messages.length > 0 && { response_metadata: { messages: [...messages] } }) },
  },
  code: error,
});

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

export const createSlackJudge = (rules: SlackRules, files: SlackFiles): SlackJudge => {
  let count = 0;

  const accept = (
    channel: string,
    message: SlackMessage,
    method: SlackRaw['method'],
    sent: SlackFile[] = [],
  ): Judgement<SlackRaw> => {
    count += 1;
    const ts = `${Math.floor(rules.now() / 1000)}.${String(count % 1_000_000).padStart(6, '0')}`;
    const texts = [readableText(message), ...sent.map(({ content }) => content.toString())];
    return {
      answer: { status: 200, body: { ok: true, channel, ts, message: { type: 'message', text: message.text, ts } } },
      code: 'ok',
      accepted: { id: ts, text: texts.join('\n'), raw: { ...message, method, files: sent } },
    };
  };

  const findTokenProblem = (exchange: Exchange, fields: JsonObject): string | undefined => {
    const token = tokenOf(exchange, fields);
    if (token === undefined) return 'not_authed';
    return token === rules.botToken ? undefined : 'invalid_auth';
  };

  const findProblem = (exchange: Exchange, fields: JsonObject, channel: unknown): string | undefined => {
    const known = typeof channel === 'string' && (rules.channels?.includes(channel) ?? CHANNEL.test(channel));
    return findTokenProblem(exchange, fields) ?? (known ? undefined : 'channel_not_found');
  };

  return {
    findTokenProblem,
    post: (exchange, { fields }) => {
      const problem = findProblem(exchange, fields, fields.channel);
      if (problem) return refused(problem);
      const message = readSlackMessage(fields, rules.requireText);
      return isRefusal(message)
        ? refused(message.error, message.messages)
        : accept(String(fields.channel), message, 'chat.postMessage');
    },
    upload: (exchange, { fields }) => {
      const problem = findProblem(exchange, fields, fields.channel_id);
      if (problem) return refused(problem);
      const message = readSlackMessage({ ...fields, text: fields.initial_comment ?? '(no comment)' }, false);
      if (isRefusal(message)) return refused(message.error, message.messages);
      const sent = files.complete(fields);
      if ('error' in sent) return refused(sent.error);
      const listed = sent.map(({ fileId, title = '' }) => ({ id: fileId, title }));
      const judgement = accept(String(fields.channel_id), message, 'files.completeUploadExternal', sent);
      return { ...judgement, answer: { status: 200, body: { ok: true, files: listed } } };
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
