import { createGuardedPost } from '../../src/channels/http.ts';
import { slackConfig } from '../../src/channels/slack/config.ts';
import { slack } from '../../src/channels/slack/module.ts';
import { createSlackChannel } from '../../src/channels/slack/transport.ts';
import { destinationOf } from '../support/alerts.ts';
import { type Answer, type Arrived, startHttpReceiver } from '../support/http-receiver.ts';
import { readSlack } from '../support/slack-reader.ts';
import { type Contestant, readOnce, type Shown } from './contestant.ts';

const TOKEN = 'xoxb-4711-s3cr3t-bot-token';
const HOOK_PATH = '/services/T0AAAAAAA/B0BBBBBBB/s3cr3tHookKey';
const CHANNEL = 'C024BE91L';

/** Position of the incoming webhook among the destinations. */
const HOOK = 1;

const refusal = (error: string, more: object = {}): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ ok: false, error, ...more }),
});

const plain = (status: number, body: string, headers: Record<string, string> = {}): Answer => ({
  status,
  headers,
  body,
});

const json = (body: object): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const METHOD = /^\/api\/(.+)$/;
const UPLOAD = /^\/upload\/(F\d+)$/;

const read = readOnce(readSlack);

/** What Slack would say against a message before it takes it. */
const findProblem = (arrived: Arrived): string | undefined => {
  try {
    read(arrived);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** A Slack that takes what is well formed, each message under a `ts` of its own. */
const createSlack = () => {
  let count = 0;
  const timestamps = new Map<Arrived, string>();

  const answerMethod = (method: string, arrived: Arrived): Answer => {
    switch (method) {
      case 'chat.postMessage': {
        const ts = `1763633275.${String(count).padStart(6, '0')}`;
        timestamps.set(arrived, ts);
        return json({ ok: true, channel: CHANNEL, ts });
      }
      case 'files.getUploadURLExternal':
        return json({ ok: true, upload_url: `http://${arrived.headers.host}/upload/F${count}`, file_id: `F${count}` });
      case 'auth.test':
        return json({ ok: true, user: 'tocsin', team: 'Example' });
      default:
        return json({ ok: true });
    }
  };

  const accept = (arrived: Arrived): Answer => {
    count += 1;
    const { path, headers } = arrived;
    const problem = isMessage(arrived) ? findProblem(arrived) : undefined;
    if (path === HOOK_PATH) return problem === undefined ? plain(200, 'ok') : plain(400, problem);
    if (UPLOAD.test(path)) return plain(200, 'OK');
    if (headers.authorization !== `Bearer ${TOKEN}`) return refusal('invalid_auth');
    return problem === undefined ? answerMethod(METHOD.exec(path)?.[1] ?? '', arrived) : refusal(problem);
  };

  /** Files by the `ts` of the message that they stand under. */
  const filesOf = (accepted: readonly Arrived[]): Map<string, string[]> => {
    const texts = new Map(accepted.map(({ path, body }) => [UPLOAD.exec(path)?.[1] ?? '', body]));
    const shared = accepted
      .filter(({ path }) => path === '/api/files.completeUploadExternal')
      .map(({ body }) => new URLSearchParams(body));
    return new Map(
      shared.map((form) => {
        const files = JSON.parse(form.get('files') ?? '[]') as { id: string }[];
        return [form.get('thread_ts') ?? '', files.map(({ id }) => texts.get(id) ?? '')];
      }),
    );
  };

  const shown = (accepted: readonly Arrived[]): Shown[] => {
    const files = filesOf(accepted);
    return accepted
      .filter(isMessage)
      .map((arrived) => ({ ...read(arrived), files: files.get(timestamps.get(arrived) ?? '') ?? [] }));
  };

  return { accept, shown };
};

/** Other calls carry no message. */
const isMessage = ({ path }: Arrived): boolean =>
  [HOOK_PATH, '/api/chat.postMessage', '/api/chat.update'].includes(path);

export const slackContestant: Contestant<Answer> = {
  kind: 'slack',
  forPeople: true,
  addressesOf: slack.addressesOf,
  labelOf: slack.labelOf,
  badEntries: [
    { name: 'slack', contacts: ['ops@example.com'] },
    { name: 'slack', contacts: ['#two words'] },
    { name: 'slack', contacts: ['C024BE91L', 'U024BE7LH'] },
    { name: 'slack', contacts: ['https://hooks.slack.com/services/T0/B0/key'] },
    { name: 'slack', contacts: ['<!channel>'] },
    { name: 'slack', contacts: [TOKEN.toUpperCase()] },
    { name: 'slack', url: 'C024BE91L' },
    { name: 'slack', url: 'slack://channel?id=C1' },
  ],
  async open({ timeoutMs }) {
    const provider = createSlack();
    const receiver = await startHttpReceiver(provider.accept);
    const guard = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'] });
    const config = { ...slackConfig.parse({ botToken: TOKEN, apiUrl: `${receiver.origin}/api` }), timeout: timeoutMs };
    const channel = createSlackChannel(config, { post: guard.post, now: Date.now });
    return {
      channel: {
        ...channel,
        close: async () => {
          await channel.close();
          await guard.close();
        },
      },
      destinations: [destinationOf('slack', CHANNEL), destinationOf('slack', `${receiver.origin}${HOOK_PATH}`)],
      secrets: [TOKEN, HOOK_PATH, 's3cr3t'],
      script: receiver.script,
      arrivals: () => receiver.arrived.filter(isMessage).length,
      accepted: () => provider.shown(receiver.accepted),
      stopProvider: receiver.close,
    };
  },
  refusals: [
    { says: 'internal_error', step: refusal('internal_error'), reason: 'unavailable', maybeDelivered: true },
    { says: 'service_unavailable', step: refusal('service_unavailable'), reason: 'unavailable', maybeDelivered: false },
    { says: '503', step: plain(503, 'down'), reason: 'unavailable', code: '503', maybeDelivered: false },
    {
      says: '502',
      step: plain(502, '<html>bad gateway</html>'),
      reason: 'unavailable',
      code: '502',
      maybeDelivered: true,
    },
    {
      says: '429 with seconds',
      step: plain(429, '', { 'retry-after': '30' }),
      reason: 'rate-limited',
      retryAfterMs: 30_000,
    },
    { says: '429 alone', step: plain(429, ''), reason: 'rate-limited', code: '429' },
    {
      says: 'ratelimited with status 200',
      step: { ...refusal('ratelimited'), headers: { 'retry-after': '12' } },
      reason: 'rate-limited',
      code: 'ratelimited',
      retryAfterMs: 12_000,
    },
    {
      says: 'message_limit_exceeded',
      step: refusal('message_limit_exceeded'),
      reason: 'rate-limited',
      retryAfterMs: 3_600_000,
    },
    { says: 'channel_not_found', step: refusal('channel_not_found'), reason: 'destination-dead' },
    { says: 'is_archived', step: refusal('is_archived'), reason: 'destination-dead', code: 'is_archived' },
    { says: 'invalid_auth', step: refusal('invalid_auth'), reason: 'sender-misconfigured', code: 'invalid_auth' },
    { says: 'missing_scope', step: refusal('missing_scope', { needed: 'chat:write' }), reason: 'sender-misconfigured' },
    { says: 'a redirect', step: plain(302, '', { location: 'https://x.example' }), reason: 'sender-misconfigured' },
    { says: 'invalid_blocks', step: refusal('invalid_blocks'), reason: 'bad-message', code: 'invalid_blocks' },
    { says: 'an undocumented code', step: refusal('brand_new_error'), reason: 'unknown', code: 'brand_new_error' },
    { says: 'a code out of nowhere', step: refusal('constructor'), reason: 'unknown', code: 'constructor' },
    { says: 'half a JSON', step: plain(200, '{"ok":tr'), reason: 'unknown', code: 'unreadable', maybeDelivered: true },
    { says: 'a page', step: plain(200, `<html>${TOKEN}</html>`), reason: 'unknown', code: 'unreadable' },

    {
      says: 'hook: 429',
      to: HOOK,
      step: plain(429, '', { 'retry-after': '1' }),
      reason: 'rate-limited',
      retryAfterMs: 1000,
    },
    {
      says: 'hook: rollup_error',
      to: HOOK,
      step: plain(500, 'rollup_error'),
      reason: 'unavailable',
      code: 'rollup_error',
    },
    { says: 'hook: no_text', to: HOOK, step: plain(400, 'no_text'), reason: 'bad-message', code: 'no_text' },
    { says: 'hook: 400 with a page', to: HOOK, step: plain(400, '<html>'), reason: 'bad-message', code: '400' },
    { says: 'hook: invalid_token', to: HOOK, step: plain(403, 'invalid_token'), reason: 'destination-dead' },
    {
      says: 'hook: no_service',
      to: HOOK,
      step: plain(404, 'no_service'),
      reason: 'destination-dead',
      code: 'no_service',
    },
    { says: 'hook: token_revoked', to: HOOK, step: plain(403, 'token_revoked'), reason: 'destination-dead' },
    {
      says: 'hook: channel_is_archived',
      to: HOOK,
      step: plain(410, 'channel_is_archived'),
      reason: 'destination-dead',
    },
    { says: 'hook: a redirect', to: HOOK, step: plain(301, '', { location: '/x' }), reason: 'destination-dead' },
    { says: 'hook: 404 with a page', to: HOOK, step: plain(404, '<html>'), reason: 'unknown', code: '404' },
  ],
};
