/**
 * Discord's webhooks. Source: https://docs.discord.com/developers/resources/webhook#execute-webhook (fields, 204),
 * .../resources/message#embed-object-embed-limits (lengths), .../topics/rate-limits (429) and
 * .../topics/opcodes-and-status-codes (codes)
 */
import { isObject, type JsonObject, type JsonValue } from '../../json.ts';
import type { Exchange } from '../../listener.ts';
import type { HttpAnswer } from '../http-receiver.ts';
import type { Received } from '../received.ts';
import { dateTime, flag, list, object, objectIn, oneOf, type Rule, text, webUrl, whole } from './rules.ts';
import {
  createVendorReceiver,
  type Vendor,
  type VendorOptions,
  type VendorRaw,
  type VendorReceiver,
} from './vendor.ts';

const FIELD = object({ name: text({ max: 256 }), value: text({ max: 1024 }) }, { inline: flag });

const EMBED = object(
  {},
  {
    title: text({ max: 256 }),
    description: text({ max: 4096 }),
    url: webUrl,
    timestamp: dateTime,
    color: whole(0, 0xffffff),
    footer: object({ text: text({ max: 2048 }) }, { icon_url: webUrl }),
    author: object({ name: text({ max: 256 }) }, { url: webUrl, icon_url: webUrl }),
    fields: list(FIELD, { max: 25 }),
  },
);

const MENTIONS = object(
  {},
  {
    parse: list(oneOf('roles', 'users', 'everyone')),
    roles: list(text(), { max: 100 }),
    users: list(text(), { max: 100 }),
    replied_user: flag,
  },
);

/** Flags that a webhook may set: SUPPRESS_EMBEDS, SUPPRESS_NOTIFICATIONS, IS_COMPONENTS_V2. */
const FLAGS = (1 << 2) | (1 << 12) | (1 << 15);

const MESSAGE: Rule = object(
  {},
  {
    content: text({ max: 2000 }),
    username: text({ max: 80 }),
    avatar_url: webUrl,
    tts: flag,
    embeds: list(EMBED, { max: 10 }),
    allowed_mentions: MENTIONS,
    flags: whole(0, FLAGS),
    thread_name: text({ max: 100 }),
  },
);

/** Of a message that is there; the only flags that may change are those of embeds and components. */
const EDIT: Rule = object(
  {},
  {
    content: text({ max: 2000 }),
    embeds: list(EMBED, { max: 10 }),
    allowed_mentions: MENTIONS,
    flags: whole(0, 1 << 2),
  },
);

const ALL_MAX = 6000;

const lengthOf = (value: JsonValue | undefined): number => (typeof value === 'string' ? value.length : 0);

const embedLength = ({ title, description, footer, author, fields }: JsonObject): number =>
  [title, description, objectIn(footer).text, objectIn(author).name].reduce<number>(
    (sum, each) => sum + lengthOf(each),
    (Array.isArray(fields) ? fields : [])
      .filter(isObject)
      .reduce((sum, { name, value }) => sum + lengthOf(name) + lengthOf(value), 0),
  );

const together = ({ content, embeds }: JsonObject): string[] => {
  const all = (Array.isArray(embeds) ? embeds : []).filter(isObject);
  const length = all.reduce((sum, embed) => sum + embedLength(embed), 0);
  return [
    ...(content === undefined && all.every((embed) => embedLength(embed) === 0)
      ? ['Cannot send an empty message']
      : []),
    ...(length > ALL_MAX ? [`Embed size exceeds maximum size of ${ALL_MAX}: ${length}`] : []),
  ];
};

interface DiscordFile {
  name: string;
  text: string;
}

const PAYLOAD = /^\r\ncontent-disposition: form-data; name="payload_json"\r\n(?:[^\r]+\r\n)*\r\n([\s\S]*)\r\n$/i;
const FILE =
  /^\r\ncontent-disposition: form-data; name="files\[0\]"; filename="([\w.-]+)"\r\n(?:[^\r]+\r\n)*\r\n([\s\S]+)\r\n$/i;

/** The parts of a form (RFC 7578); without a payload that can be read where it is none. */
const formIn = ({ headers, body }: Exchange): { payload: string; file?: DiscordFile } => {
  const [, boundary] =
    /^multipart\/form-data; boundary=([\w'()+,./:=?-]{1,70})$/i.exec(headers['content-type'] ?? '') ?? [];
  if (boundary === undefined) return { payload: body.toString() };
  const [before, payload = '', file = '', end] = body.toString().split(`--${boundary}`);
  const [, json = ''] = PAYLOAD.exec(payload) ?? [];
  const [, name = '', text = ''] = FILE.exec(file) ?? [];
  if (before !== '' || end !== '--\r\n' || name === '') return { payload: '' };
  return { payload: json, file: { name, text } };
};

interface DiscordReceiver extends VendorReceiver {
  /** Changes of messages, oldest first; `received` has new messages only. */
  edits(): Received<VendorRaw>[];
  /** Beside messages, in the order in which they came. */
  files(): readonly DiscordFile[];
  /** As somebody deletes a message in the channel. */
  forget(id: string): void;
  /** `url` is that of a webhook. */
  start(): Promise<{ url: string; port: number }>;
  /** As it is deleted in the channel's settings. */
  remove(): void;
}

const PATH =
  '/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44fecd1726de135cbe28a41f8b2f777c372ba2939e72279b94526ff5d1bd4358d65cf11';

const EDITED = /^\/messages\/(\d+)$/;

export const createDiscordReceiver = (options: VendorOptions = {}): DiscordReceiver => {
  let exists = true;
  let count = 0;
  const known = new Set<string>();
  const files: DiscordFile[] = [];
  const refuse = ({ method, path }: Exchange): HttpAnswer | undefined => {
    const [, id] = EDITED.exec(path.slice(PATH.length)) ?? [];
    if (!exists || !path.startsWith(PATH)) return { status: 404, body: { message: 'Unknown Webhook', code: 10_015 } };
    if (id === undefined)
      return path === PATH ? undefined : { status: 404, body: { message: '404: Not Found', code: 0 } };
    if (method !== 'PATCH') return { status: 405, body: { message: '405: Method Not Allowed', code: 0 } };
    return known.has(id) ? undefined : { status: 404, body: { message: 'Unknown Message', code: 10_008 } };
  };

  const vendor: Vendor = {
    contentType: /^(?:application\/json\b|multipart\/form-data; boundary=)/i,
    methods: ['POST', 'PATCH'],
    admit: refuse,
    jsonOf: (exchange) => {
      const { payload, file } = formIn(exchange);
      if (file !== undefined) files.push(file);
      return payload;
    },
    malformed: { status: 400, body: { code: 50_109, message: 'The request body contains invalid JSON.' } },
    limited: (waitMs) => ({
      status: 429,
      headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
      body: { message: 'You are being rate limited.', retry_after: waitMs / 1000, global: false },
    }),
    judge: ({ method, path, body, query }) => {
      const isEdit = method === 'PATCH';
      const problems = [...(isEdit ? EDIT : MESSAGE)(body, 'message'), ...together(objectIn(body))];
      const refusal = { code: 50_035, message: 'Invalid Form Body', errors: [...problems] };
      if (problems.length > 0) return { problems, answer: { status: 400, body: refusal } };
      if (isEdit) {
        const [, id = ''] = EDITED.exec(path.slice(PATH.length)) ?? [];
        return { problems, answer: { status: 200, body: { id, type: 0 } } };
      }
      count += 1;
      const isWaiting = new URLSearchParams(query).get('wait') === 'true';
      const message = { id: `11${String(count).padStart(16, '0')}`, type: 0 };
      known.add(message.id);
      return { problems, answer: isWaiting ? { status: 200, body: message } : { status: 204 } };
    },
  };
  const receiver = createVendorReceiver(vendor, options);
  return {
    ...receiver,
    files: () => files,
    received: () => receiver.received().filter(({ raw: { method } }) => method === 'POST'),
    edits: () => receiver.received().filter(({ raw: { method } }) => method === 'PATCH'),
    forget: (id) => void known.delete(id),
    remove: () => {
      exists = false;
    },
    start: async () => {
      const { url, port } = await receiver.start();
      return { port, url: `${url}${PATH}` };
    },
  };
};
