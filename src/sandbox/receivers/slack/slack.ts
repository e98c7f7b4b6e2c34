/**
 * Slack's Web API and incoming webhooks, as far as messages go, with Slack's own checks and errors.
 * Sources: https://docs.slack.dev/reference/methods/chat.postMessage,
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
import { createJournal, type Journal } from '../../journal.ts';
import type { JsonObject } from '../../json.ts';
import { createHttpListener, type Exchange, type ListenOptions, urlHost } from '../../listener.ts';
import { type Form, readForm } from '../form.ts';
import {
  createHttpReceiver,
  type HttpAnswer,
  type HttpReceiver,
  type HttpReceiverOptions,
  type HttpVerdict,
  sendHttp,
} from '../http-receiver.ts';
import { createRates, type RateRule, type Rates } from '../rates.ts';
import type { ReceiverView } from '../received.ts';
import type { Script } from '../script.ts';
import { createSlackAccess, type SlackAccess } from './access.ts';
import { createSlackFiles, type SlackFiles } from './files.ts';
import { createSlackJudge, type SlackEdit, type SlackJudge, type SlackRaw } from './judge.ts';

export interface SlackReceiverOptions extends ListenOptions, HttpReceiverOptions {
  /** The one token that is valid. Default `xoxb-sandbox`. */
  botToken?: string;
  /** Channel ids that exist. Default: every id or name of the right shape. */
  channels?: readonly string[];
  /** Paths of webhooks that exist. Default: every path of the right shape. */
  webhooks?: readonly string[];
  /** Refuse messages without top-level text although Slack would take blocks alone. Default true. */
  requireText?: boolean;
}

export interface SlackReceiver extends ReceiverView<SlackRaw> {
  /** `apiUrl` ends with a slash; `webhookUrl` exists unless the option `webhooks` says otherwise. */
  start(): Promise<{ apiUrl: string; webhookUrl: string; port: number }>;
  stop(): Promise<void>;
  /** Accepted changes of messages, oldest first; `received` shows messages as they came. `clear` forgets both. */
  edits(): SlackEdit[];
  /** Verdicts on messages, by channel or webhook path. */
  script: Script<HttpVerdict>;
  /** Verdicts on other calls, by method: `auth.test`, `chat.update`, `files.completeUploadExternal`, `upload`, ... */
  callScript: Script<HttpVerdict>;
  /** Every call of the Web API is answered `token_revoked` until the given function is called; webhooks go on. */
  revokeToken(): () => void;
  /** Leaves the token only these of its scopes, `chat:write` and `files:write`, until the given function is called. */
  limitScopes(scopes: readonly string[]): () => void;
}

const SANDBOX_WEBHOOK_PATH = '/services/T0SANDBOX/B0SANDBOX/sandboxsandboxsandbox';

/** One a second and channel with short bursts; the workspace's own limit is not published. */
export const SLACK_RATES: readonly RateRule[] = [{ limit: 1, windowMs: 1000, burst: 5, scope: 'destination' }];

/** Of methods that post no message, in calls a minute; each method has a count of its own. */
const TIERS: Readonly<Record<string, number>> = {
  'chat.update': 50,
  'files.getUploadURLExternal': 100,
  'files.completeUploadExternal': 100,
};

const createTiers = (now: () => number) => {
  const rates = Object.entries(TIERS).map(([method, limit]) => {
    return [method, createRates([{ limit, windowMs: 60_000, scope: 'all' }], now)] as const;
  });
  return new Map(rates);
};

const EDITS_KEPT = 1000;

const limited = (waitMs: number): HttpAnswer => ({
  status: 429,
  headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  body: { ok: false, error: 'ratelimited' },
});

const ok = (fields: JsonObject = {}): HttpAnswer => ({ status: 200, body: { ok: true, ...fields } });

const notOk = (error: string): HttpAnswer => ({ status: 200, body: { ok: false, error } });

/** A verdict as the Web API words an error: HTTP 200 with `ok: false`. */
export const slackError = (error: string): HttpVerdict => ({ kind: 'answer', ...notOk(error) });

const IDENTITY = {
  url: 'https://sandbox.slack.example/',
  team: 'Sandbox',
  user: 'tocsin',
  team_id: 'T0SANDBOX',
  user_id: 'U0SANDBOX',
  bot_id: 'B0SANDBOX',
};

interface ApiParts {
  judge: SlackJudge;
  files: SlackFiles;
  access: SlackAccess;
  http: HttpReceiver<SlackRaw>;
  edits: Journal<SlackEdit>;
  tiers: ReadonlyMap<string, Rates> | undefined;
}

/** The methods of the Web API. */
const createApi = ({ judge, files, access, http, edits, tiers }: ApiParts) => {
  const beginUpload = (exchange: Exchange, { fields }: Form): HttpAnswer => {
    const begun = files.begin(fields);
    if ('error' in begun) return notOk(begun.error);
    return ok({ upload_url: `http://${exchange.headers.host}${begun.path}`, file_id: begun.fileId });
  };

  const answerCall = (method: string, exchange: Exchange, form: Form): HttpAnswer => {
    const refusal = judge.refuseToken(exchange, form.fields, method);
    if (refusal) return { status: 200, body: { ok: false, ...refusal } };
    if (method === 'auth.test') return ok(IDENTITY);
    if (method === 'chat.update') return answerUpdate(form);
    return method === 'files.getUploadURLExternal' ? beginUpload(exchange, form) : notOk('unknown_method');
  };

  const answerUpdate = (form: Form): HttpAnswer => {
    const { answer, edit } = judge.update(form);
    if (edit) edits.add(edit);
    return answer;
  };

  return async (method: string, exchange: Exchange): Promise<void> => {
    const { response } = exchange;
    const form = await readForm(exchange);
    if (!form) return sendHttp(response, notOk('invalid_form_data'));
    const waitMs = tiers?.get(method)?.take(method) ?? 0;
    if (waitMs > 0) return sendHttp(response, limited(waitMs));
    if (!judge.refuseToken(exchange, form.fields, 'auth.test')) response.setHeader('x-oauth-scopes', access.scopes());
    const destination = judge.destinationOf(form.fields);
    if (method === 'chat.postMessage') return http.receive(response, destination, () => judge.post(exchange, form));
    if (method === 'files.completeUploadExternal')
      return http.receive(response, destination, () => judge.upload(exchange, form), method);
    return http.answer(response, method, () => answerCall(method, exchange, form));
  };
};

export const createSlackReceiver = (options: SlackReceiverOptions = {}): SlackReceiver => {
  const { botToken = 'xoxb-sandbox', requireText = true, now = Date.now, host = '127.0.0.1' } = options;
  const { channels, webhooks } = options;
  const files = createSlackFiles();
  const access = createSlackAccess(botToken);
  const tiers = options.rates ? createTiers(now) : undefined;
  const judge = createSlackJudge({ access, channels, webhooks, requireText, now }, files);
  const http = createHttpReceiver<SlackRaw>('slack', limited, options);
  const edits = createJournal<SlackEdit>(EDITS_KEPT);
  const handleApi = createApi({ judge, files, access, http, edits, tiers });

  /** Raw bytes or multipart with one file, as clients choose. */
  const handleUpload = async (exchange: Exchange): Promise<void> => {
    const multipart = exchange.headers['content-type']?.startsWith('multipart/') ?? false;
    const content = multipart ? (await readForm(exchange))?.files[0]?.content : exchange.body;
    return http.answer(exchange.response, 'upload', () => {
      const taken = content !== undefined && files.take(exchange.path, content);
      return taken ? { status: 200, body: `OK - ${content.length}` } : { status: 400, body: 'invalid upload' };
    });
  };

  const listener = createHttpListener(options, async (exchange) => {
    const { path, response } = exchange;
    if (path.startsWith('/api/')) return handleApi(path.slice('/api/'.length), exchange);
    if (path.startsWith('/upload/')) return handleUpload(exchange);
    const form = await readForm(exchange);
    return http.receive(response, path, () => judge.webhook(exchange, form));
  });

  return {
    ...http.view,
    edits: edits.list,
    clear: () => {
      http.view.clear();
      edits.clear();
    },
    start: async () => {
      const port = await listener.start();
      const origin = `http://${urlHost(host)}:${port}`;
      return { port, apiUrl: `${origin}/api/`, webhookUrl: `${origin}${SANDBOX_WEBHOOK_PATH}` };
    },
    stop: listener.stop,
    script: http.script,
    callScript: http.callScript,
    revokeToken: access.revoke,
    limitScopes: access.limit,
  };
};
