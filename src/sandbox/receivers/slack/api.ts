/** The methods of Slack's Web API: each by its own checks, its token's scopes and its tier. */
import type { Journal } from '../../journal.ts';
import type { JsonObject } from '../../json.ts';
import type { Exchange } from '../../listener.ts';
import { type Form, readForm } from '../form.ts';
import { type HttpAnswer, type HttpReceiver, sendHttp } from '../http-receiver.ts';
import { createRates, type Rates } from '../rates.ts';
import type { SlackAccess } from './access.ts';
import type { SlackFiles } from './files.ts';
import type { SlackEdit, SlackJudge, SlackRaw } from './judge.ts';
import type { SlackSockets } from './socket-mode.ts';
import type { SlackWhisper } from './whispers.ts';

/** Of methods that post no message, in calls a minute; each method has a count of its own. */
const TIERS: Readonly<Record<string, number>> = {
  'chat.update': 50,
  'files.getUploadURLExternal': 100,
  'files.completeUploadExternal': 100,
  'conversations.members': 100,
};

export const createTiers = (now: () => number) => {
  const rates = Object.entries(TIERS).map(([method, limit]) => {
    return [method, createRates([{ limit, windowMs: 60_000, scope: 'all' }], now)] as const;
  });
  return new Map(rates);
};

export const limited = (waitMs: number): HttpAnswer => ({
  status: 429,
  headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  body: { ok: false, error: 'ratelimited' },
});

const ok = (fields: JsonObject = {}): HttpAnswer => ({ status: 200, body: { ok: true, ...fields } });

export const notOk = (error: string): HttpAnswer => ({ status: 200, body: { ok: false, error } });

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
  whispers: Journal<SlackWhisper>;
  sockets: SlackSockets;
  appToken: string;
  tiers: ReadonlyMap<string, Rates> | undefined;
}

/** The methods of the Web API. */
export const createApi = ({ judge, files, access, http, edits, whispers, sockets, appToken, tiers }: ApiParts) => {
  const beginUpload = ({ fields }: Form, exchange: Exchange): HttpAnswer => {
    const begun = files.begin(fields);
    if ('error' in begun) return notOk(begun.error);
    return ok({ upload_url: `http://${exchange.headers.host}${begun.path}`, file_id: begun.fileId });
  };

  /** Only in a header, and only with the app's token. */
  const openSocket = ({ headers }: Exchange): HttpAnswer => {
    if (headers.authorization !== `Bearer ${appToken}`) return notOk('not_allowed_token_type');
    return ok({ url: `ws://${headers.host}${sockets.open()}` });
  };

  const answerWhisper = (form: Form): HttpAnswer => {
    const { answer, whispered } = judge.whispers.post(form);
    if (whispered) whispers.add(whispered);
    return answer;
  };

  const answerUpdate = (form: Form): HttpAnswer => {
    const { answer, edit } = judge.update(form);
    if (edit) edits.add(edit);
    return answer;
  };

  const methods: Readonly<Record<string, (form: Form, exchange: Exchange) => HttpAnswer>> = {
    'auth.test': () => ok(IDENTITY),
    'chat.update': answerUpdate,
    'chat.postEphemeral': answerWhisper,
    'conversations.info': judge.info,
    'conversations.members': judge.members,
    'files.getUploadURLExternal': beginUpload,
  };

  const answerCall = (method: string, exchange: Exchange, form: Form): HttpAnswer => {
    if (method === 'apps.connections.open') return openSocket(exchange);
    const refusal = judge.refuseToken(exchange, form.fields, method);
    if (refusal) return { status: 200, body: { ok: false, ...refusal } };
    return methods[method]?.(form, exchange) ?? notOk('unknown_method');
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
