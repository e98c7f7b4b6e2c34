import { telegramConfig } from '../../src/channels/telegram/config.ts';
import { telegram } from '../../src/channels/telegram/module.ts';
import { createTelegramChannel } from '../../src/channels/telegram/transport.ts';
import { destinationOf } from '../support/alerts.ts';
import { type Answer, type Arrived, startHttpReceiver } from '../support/http-receiver.ts';
import { activeIn, limitBroken, type Parsed, parseTelegramHtml } from '../support/telegram-reader.ts';
import { type Contestant, readOnce, type Shown } from './contestant.ts';

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';
const [, TOKEN_KEY = ''] = TOKEN.split(':');

const json = (status: number, body: object): Answer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const refusal = (code: number, description: string, parameters?: object): Answer =>
  json(code, { ok: false, error_code: code, description, ...(parameters ? { parameters } : {}) });

/** What a call says. Of `sendDocument`, `text` is the caption. */
interface Call {
  text: string;
  parse_mode?: string;
  file?: string;
}

/** The values of a multipart form by name. */
const readForm = (body: string, boundary: string): Record<string, string> =>
  Object.fromEntries(
    body
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((part) => {
        const [head = '', ...rest] = part.split('\r\n\r\n');
        return [/ name="([^"]*)"/.exec(head)?.[1] ?? '', rest.join('\r\n\r\n').replace(/\r\n$/, '')];
      }),
  );

const readCall = ({ headers, body }: Arrived): Call => {
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return JSON.parse(body) as Call;
  const { caption = '', document = '', ...fields } = readForm(body, boundary);
  return { ...fields, text: caption, file: document };
};

const parse = ({ text, parse_mode }: Call): Parsed =>
  parse_mode === 'HTML' ? parseTelegramHtml(text) : { text, entities: [] };

const CAPTION_MAX = 1024;

const brokenBy = (call: Call): string | undefined => {
  const parsed = parse(call);
  if (call.file === undefined) return limitBroken(call.text, parsed);
  if (call.file === '') return 'Bad Request: file must be non-empty';
  return parsed.text.length > CAPTION_MAX ? 'Bad Request: message caption is too long' : undefined;
};

const MESSAGE = new RegExp(`^/bot${TOKEN}/(sendMessage|sendDocument|editMessageText)$`);

/** The Bot API, as far as it checks a message before it takes it. */
const accept = (arrived: Arrived): Answer => {
  if (arrived.path === `/bot${TOKEN}/getMe`)
    return json(200, { ok: true, result: { id: 1, is_bot: true, username: 'tocsin' } });
  if (!MESSAGE.test(arrived.path)) return refusal(404, 'Not Found');
  try {
    const broken = brokenBy(readCall(arrived));
    return broken === undefined
      ? json(200, { ok: true, result: { message_id: 4711, date: 1_763_633_275, chat: { id: 1 } } })
      : refusal(400, broken);
  } catch (error) {
    return refusal(400, error instanceof Error ? error.message : String(error));
  }
};

const isMessage = ({ path }: Arrived): boolean => MESSAGE.test(path);

const show = readOnce((arrived: Arrived): Shown => {
  const call = readCall(arrived);
  const parsed = parse(call);
  return { text: parsed.text, active: activeIn(parsed), files: call.file === undefined ? [] : [call.file] };
});

/** Position of the forum topic among the destinations. */
const TOPIC = 1;

export const telegramContestant: Contestant<Answer> = {
  kind: 'telegram',
  forPeople: true,
  addressesOf: telegram.addressesOf,
  labelOf: telegram.labelOf,
  badEntries: [
    { name: 'telegram', contacts: ['ops'] },
    { name: 'telegram', contacts: ['@ab', '-1001234567890'] },
    { name: 'telegram', contacts: ['-100 123'] },
    { name: 'telegram', contacts: ['-1001234567890/0'] },
    { name: 'telegram', contacts: ['-1001234567890/-5'] },
    { name: 'telegram', contacts: ['https://t.me/joinchat/s3cr3t'] },
    { name: 'telegram', contacts: [`${TOKEN}\r\n`] },
    { name: 'telegram', contacts: ['1e9'] },
    { name: 'telegram', url: 'https://t.me/ops' },
  ],
  async open({ timeoutMs }) {
    const receiver = await startHttpReceiver(accept);
    const config = { ...telegramConfig.parse({ botToken: TOKEN, apiRoot: receiver.origin }), timeout: timeoutMs };
    return {
      channel: createTelegramChannel(config, {
        post: () => Promise.reject(new Error('not by this way')),
        now: Date.now,
      }),
      destinations: [destinationOf('telegram', '-1001234567890'), destinationOf('telegram', '@lending_alerts/77')],
      secrets: [TOKEN, TOKEN_KEY],
      script: receiver.script,
      arrivals: () => receiver.arrived.filter(isMessage).length,
      accepted: () => receiver.accepted.filter(isMessage).map(show),
      stopProvider: receiver.close,
    };
  },
  refusals: [
    {
      says: '500',
      step: refusal(500, 'Internal Server Error'),
      reason: 'unavailable',
      code: '500',
      maybeDelivered: true,
    },
    {
      says: '429',
      step: refusal(429, 'Too Many Requests: retry after 17', { retry_after: 17 }),
      reason: 'rate-limited',
      code: '429',
      retryAfterMs: 17_000,
    },
    { says: '429 alone', step: refusal(429, 'Too Many Requests'), reason: 'rate-limited', code: '429' },
    {
      says: '429 for a day',
      step: refusal(429, 'Too Many Requests: retry after 86400', { retry_after: 86_400 }),
      reason: 'rate-limited',
      retryAfterMs: 3_600_000,
    },
    {
      says: '502 with a page',
      step: { status: 502, body: `<html>${TOKEN}</html>` },
      reason: 'unavailable',
      code: '502',
      maybeDelivered: true,
    },
    {
      says: 'a group that moved',
      step: refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: -1009876543210,
      }),
      reason: 're-address',
      newAddress: '-1009876543210',
    },
    {
      says: 'a group that moved, with a topic',
      to: TOPIC,
      step: refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
        migrate_to_chat_id: -1009876543210,
      }),
      reason: 're-address',
      newAddress: '-1009876543210/77',
    },
    {
      says: "can't parse entities",
      step: refusal(400, 'Bad Request: can\'t parse entities: Unsupported start tag "x" at byte offset 3'),
      reason: 'bad-message',
      code: '400',
      maybeDelivered: false,
    },
    { says: 'too long', step: refusal(400, 'Bad Request: message is too long'), reason: 'bad-message' },
    { says: 'chat not found', step: refusal(400, 'Bad Request: chat not found'), reason: 'destination-dead' },
    { says: 'blocked', step: refusal(403, 'Forbidden: bot was blocked by the user'), reason: 'destination-dead' },
    {
      says: 'kicked',
      step: refusal(403, 'Forbidden: bot was kicked from the supergroup chat'),
      reason: 'destination-dead',
      code: '403',
    },
    {
      says: 'no thread',
      to: TOPIC,
      step: refusal(400, 'Bad Request: message thread not found'),
      reason: 'destination-dead',
    },
    {
      says: 'no rights',
      step: refusal(400, 'Bad Request: not enough rights to send text messages to the chat'),
      reason: 'destination-dead',
    },
    { says: 'in capitals', step: refusal(400, 'Bad Request: CHAT_WRITE_FORBIDDEN'), reason: 'destination-dead' },
    { says: '401', step: refusal(401, 'Unauthorized'), reason: 'sender-misconfigured', code: '401' },
    { says: '404', step: refusal(404, 'Not Found'), reason: 'sender-misconfigured', code: '404' },
    {
      says: '421',
      step: refusal(421, 'Misdirected Request: unallowed token specified'),
      reason: 'sender-misconfigured',
    },
    { says: 'an undocumented 400', step: refusal(400, 'Bad Request: BRAND_NEW'), reason: 'unknown', code: '400' },
    { says: 'an undocumented 403', step: refusal(403, 'Forbidden: whatever'), reason: 'unknown', code: '403' },
    {
      says: 'a page with the token',
      step: { status: 200, body: `<html>/bot${TOKEN}/</html>` },
      reason: 'unknown',
      code: 'invalid-json',
      maybeDelivered: true,
    },
    { says: 'a refusal that quotes the token', step: refusal(400, `Bad Request: bot${TOKEN}`), reason: 'unknown' },
    { says: 'JSON that says nothing', step: json(200, {}), reason: 'unknown' },
  ],
};
