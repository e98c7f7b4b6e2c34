/**
 * Slack's Web API and incoming webhooks, as far as messages go, with Slack's own checks and errors.
 * Sources: https://docs.slack.dev/reference/methods/chat.postMessage,
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
import { createJournal } from '../../journal.ts';
import { createHttpListener, type Exchange, type ListenOptions, urlHost } from '../../listener.ts';
import { type Form, readForm } from '../form.ts';
import { createHttpReceiver, type HttpReceiverOptions, type HttpVerdict } from '../http-receiver.ts';
import type { RateRule } from '../rates.ts';
import type { ReceiverView } from '../received.ts';
import type { Script } from '../script.ts';
import { createSlackAccess } from './access.ts';
import { createApi, createTiers, limited, notOk } from './api.ts';
import { createSlackFiles } from './files.ts';
import { createSlackJudge, type SlackEdit, type SlackRaw } from './judge.ts';
import { createSlackMembers } from './members.ts';
import { pressPayload, type SlackPress } from './press.ts';
import { createSlackSockets, type SlackSockets } from './socket-mode.ts';
import { RESPONSES, type SlackWhisper } from './whispers.ts';

export interface SlackReceiverOptions extends ListenOptions, HttpReceiverOptions {
  /** The one token that is valid. Default `xoxb-sandbox`. */
  botToken?: string;
  /** The app-level token that may open connections. Default `xapp-sandbox`. */
  appToken?: string;
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
  /** What single people were told, oldest first. */
  whispers(): SlackWhisper[];
  /** Somebody presses a button; resolves when the app has acknowledged the envelope, rejects where it does not. */
  press(press: SlackPress): Promise<void>;
  /** Connections of Socket Mode. */
  sockets: Pick<SlackSockets, 'count' | 'opened' | 'send' | 'disconnect'>;
  /** Who is in a channel, by ids; undefined: everybody, as at first. */
  setMembers(channel: string, users: readonly string[] | undefined): void;
  /** Every call of the Web API is answered `token_revoked` until the given function is called; webhooks go on. */
  revokeToken(): () => void;
  /** Gives the token these scopes instead of `chat:write` and `files:write`, until the given function is called. */
  limitScopes(scopes: readonly string[]): () => void;
}

const SANDBOX_WEBHOOK_PATH = '/services/T0SANDBOX/B0SANDBOX/sandboxsandboxsandbox';

/** One a second and channel with short bursts; the workspace's own limit is not published. */
export const SLACK_RATES: readonly RateRule[] = [{ limit: 1, windowMs: 1000, burst: 5, scope: 'destination' }];

const EDITS_KEPT = 1000;

/** A verdict as the Web API words an error: HTTP 200 with `ok: false`. */
export const slackError = (error: string): HttpVerdict => ({ kind: 'answer', ...notOk(error) });

export const createSlackReceiver = (options: SlackReceiverOptions = {}): SlackReceiver => {
  const { botToken = 'xoxb-sandbox', requireText = true, now = Date.now, host = '127.0.0.1' } = options;
  const { channels, webhooks } = options;
  const files = createSlackFiles();
  const access = createSlackAccess(botToken);
  const tiers = options.rates ? createTiers(now) : undefined;
  const members = createSlackMembers();
  const judge = createSlackJudge({ access, channels, webhooks, requireText, members, now }, files);
  const http = createHttpReceiver<SlackRaw>('slack', limited, options);
  const edits = createJournal<SlackEdit>(EDITS_KEPT);
  const whispers = createJournal<SlackWhisper>(EDITS_KEPT);
  const sockets = createSlackSockets(now);
  const appToken = options.appToken ?? 'xapp-sandbox';
  const handleApi = createApi({ judge, files, access, http, edits, whispers, sockets, appToken, tiers });

  /** Raw bytes or multipart with one file, as clients choose. */
  const handleUpload = async (exchange: Exchange): Promise<void> => {
    const multipart = exchange.headers['content-type']?.startsWith('multipart/') ?? false;
    const content = multipart ? (await readForm(exchange))?.files[0]?.content : exchange.body;
    return http.answer(exchange.response, 'upload', () => {
      const taken = content !== undefined && files.take(exchange.path, content);
      return taken ? { status: 200, body: `OK - ${content.length}` } : { status: 400, body: 'invalid upload' };
    });
  };

  const handleResponse = async ({ path, response }: Exchange, form: Form | undefined): Promise<void> =>
    http.answer(response, 'response_url', () => {
      const { answer, whispered } = judge.whispers.respond(path, form);
      if (whispered) whispers.add(whispered);
      return answer;
    });

  let origin = '';
  const press = async (pressed: SlackPress): Promise<void> => {
    const message = judge.messageAt(pressed.channel, pressed.ts);
    const urlOf = (user: string): string => `${origin}${judge.whispers.responsePath(message.channelId, user)}`;
    return sockets.send('interactive', pressPayload(pressed, message, urlOf));
  };

  const listener = createHttpListener(
    options,
    async (exchange) => {
      const { path, response } = exchange;
      if (path.startsWith('/api/')) return handleApi(path.slice('/api/'.length), exchange);
      if (path.startsWith('/upload/')) return handleUpload(exchange);
      const form = await readForm(exchange);
      if (path.startsWith(RESPONSES)) return handleResponse(exchange, form);
      return http.receive(response, path, () => judge.webhook(exchange, form));
    },
    sockets.upgrade,
  );

  return {
    ...http.view,
    edits: edits.list,
    clear: () => {
      http.view.clear();
      edits.clear();
      whispers.clear();
    },
    start: async () => {
      const port = await listener.start();
      origin = `http://${urlHost(host)}:${port}`;
      return { port, apiUrl: `${origin}/api/`, webhookUrl: `${origin}${SANDBOX_WEBHOOK_PATH}` };
    },
    stop: async () => {
      sockets.stop();
      await listener.stop();
    },
    whispers: whispers.list,
    press,
    sockets,
    setMembers: (channel, users) => members.set(judge.idOf(channel), users),
    script: http.script,
    callScript: http.callScript,
    revokeToken: access.revoke,
    limitScopes: access.limit,
  };
};
