/**
 * A webhook's receiver: checks Standard Webhooks 1.0 signatures with code of its own and counts doubles by `webhook-id`.
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject, type JsonObject, parseJson } from '../json.ts';
import { createHttpListener, type Exchange, type ListenOptions, urlHost } from '../listener.ts';
import { createHttpReceiver, type HttpReceiverOptions, type HttpVerdict, type Judgement } from './http-receiver.ts';
import type { ReceiverView } from './received.ts';
import type { Script } from './script.ts';

interface WebhookRaw {
  /** `webhook-id`; empty where none was sent and none is required. */
  id: string;
  /** Lower-cased names. */
  headers: Exchange['headers'];
  body: JsonObject;
  /** The bytes as they came. */
  bodyText: string;
  /** 1 for the first with this id, 2 for its first double. */
  occurrence: number;
}

export interface WebhookReceiverOptions extends ListenOptions, HttpReceiverOptions {
  /** `whsec_...`. With several, a signature made with any of them is good. Default: signatures are not checked. */
  secret?: string | readonly string[];
  /** Secrets by path, instead of `secret`. */
  secrets?: Readonly<Record<string, string>>;
  /** How far `webhook-timestamp` may be from now, before or after. Default 5 minutes. */
  toleranceMs?: number;
}

export interface WebhookReceiver extends ReceiverView<WebhookRaw> {
  /** `url` has no path; every path takes messages. */
  start(): Promise<{ url: string; port: number }>;
  stop(): Promise<void>;
  script: Script<HttpVerdict>;
  /** How often each `webhook-id` was accepted. */
  occurrences(): Map<string, number>;
}

/** Ids remembered for counting doubles. */
const IDS_KEPT = 200_000;

const keyOf = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');

const equal = (left: string, right: string): boolean => {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
};

/** Why these headers do not vouch for this body; undefined where they do. */
const findSignatureProblem = (
  headers: Exchange['headers'],
  body: Buffer,
  secrets: readonly string[],
  { now, toleranceMs }: { now: number; toleranceMs: number },
): string | undefined => {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    return 'missing required headers';
  if (id === '' || id.includes('.')) return 'invalid webhook-id';
  if (!/^\d{1,12}$/.test(timestamp)) return 'invalid webhook-timestamp';
  if (Math.abs(now - Number(timestamp) * 1000) > toleranceMs) return 'webhook-timestamp out of tolerance';
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const expected = secrets.map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(signed).digest('base64')}`);
  const given = signatures.split(' ');
  return given.some((one) => expected.some((other) => equal(one, other))) ? undefined : 'no matching signature';
};

const refusal = (status: number, message: string): Judgement<WebhookRaw> => ({
  answer: { status, body: { error: message } },
  code: message,
});

const limited = (waitMs: number) => ({
  status: 429,
  headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  body: { error: 'too many requests' },
});

/** Counts one more of this id; only the latest ids are kept. */
const countOne = (occurrences: Map<string, number>, id: string): number => {
  const occurrence = (occurrences.get(id) ?? 0) + 1;
  if (id === '') return 1;
  occurrences.set(id, occurrence);
  const [oldest = ''] = occurrences.keys();
  if (occurrences.size > IDS_KEPT) occurrences.delete(oldest);
  return occurrence;
};

export const createWebhookReceiver = (options: WebhookReceiverOptions = {}): WebhookReceiver => {
  const { secret = [], secrets = {}, toleranceMs = 300_000, now = Date.now, host = '127.0.0.1' } = options;
  const http = createHttpReceiver<WebhookRaw>('webhook', limited, options);
  const occurrences = new Map<string, number>();

  const secretsFor = (path: string): readonly string[] => {
    const own = secrets[path];
    if (own !== undefined) return [own];
    return typeof secret === 'string' ? [secret] : secret;
  };

  const judge = ({ method, path, headers, body }: Exchange): Judgement<WebhookRaw> => {
    if (method !== 'POST') return refusal(405, 'only POST');
    if (!/^application\/json\b/i.test(headers['content-type'] ?? '')) return refusal(415, 'only application/json');
    const required = secretsFor(path);
    const problem = required.length > 0 && findSignatureProblem(headers, body, required, { now: now(), toleranceMs });
    if (problem) return refusal(401, problem);
    const bodyText = body.toString();
    const value = parseJson(bodyText);
    if (!isObject(value)) return refusal(400, 'the body must be a JSON object');
    const id = String(headers['webhook-id'] ?? '');
    const occurrence = countOne(occurrences, id);
    return {
      answer: { status: 200, body: { received: true } },
      code: '200',
      accepted: { text: bodyText, raw: { id, headers, body: value, bodyText, occurrence }, ...(id !== '' && { id }) },
    };
  };

  const listener = createHttpListener(options, (exchange) => {
    const destination = exchange.query === '' ? exchange.path : `${exchange.path}?${exchange.query}`;
    return http.receive(exchange.response, destination, () => judge(exchange));
  });

  return {
    ...http.view,
    clear: () => {
      http.view.clear();
      occurrences.clear();
    },
    start: async () => {
      const port = await listener.start();
      return { port, url: `http://${urlHost(host)}:${port}` };
    },
    stop: listener.stop,
    script: http.script,
    occurrences: () => new Map(occurrences),
  };
};
