/** Where alerts arrive: webhooks, Slack's Web API and Telegram's Bot API by HTTP, e-mail by SMTP. All take everything. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer } from 'smtp-server';
import type { ChannelKind } from '../../src/alert.ts';

export interface ReceiverDependencies {
  /** A message of a kind began to arrive at that time, and has arrived now. */
  onMessage(kind: ChannelKind, beganAt: number, content: string): void;
  now(): number;
}

/**
 * `away`: webhooks are answered with 503. `held`: they are taken, and never answered. `flooded`: bots are told to come
 * again in half a minute.
 */
export type Answering = 'ok' | 'away' | 'held' | 'flooded';

/** How one webhook answers, apart from the others. It is in its path. */
export type Manner = 'hanging' | 'slow' | 'gone';

export interface ReceiverSettings {
  /** What a mail takes, as a relay that looks at it would. Default: nothing. */
  mailMs?: number;
}

/** What a slow webhook takes. */
export const SLOW_MS = 10_000;
/** What a flooded bot names. */
export const FLOOD_SECONDS = 30;
const FLOODED = JSON.stringify({
  ok: false,
  error_code: 429,
  description: 'Too Many Requests',
  parameters: { retry_after: FLOOD_SECONDS },
});

/** What Slack, Telegram and a webhook's receiver may answer, all in one. */
const ANSWER = {
  ok: true,
  result: { message_id: 1, id: 1, is_bot: true, first_name: 'Bench', username: 'bench_bot', chat: { id: 1 } },
  channel: 'C0BENCH0000',
  ts: '1700000000.000100',
  user: 'bench',
  team: 'bench',
  file_id: 'F0BENCH0000',
  files: [{ id: 'F0BENCH0000' }],
};

const ANSWER_TEXT = JSON.stringify(ANSWER);

/** A file for Slack is uploaded to an address that Slack names. */
const answerTo = ({ headers, url }: IncomingMessage): string =>
  url?.endsWith('/files.getUploadURLExternal')
    ? JSON.stringify({ ...ANSWER, upload_url: `http://${headers.host}/upload` })
    : ANSWER_TEXT;

/** Other calls of the two APIs only ask who we are. */
const PATHS = Object.entries({
  webhook: /^\/hooks\//,
  slack: /\/chat\.postMessage$/,
  telegram: /\/send(Message|Document)$/,
} satisfies Record<Exclude<ChannelKind, 'email'>, RegExp>) as [ChannelKind, RegExp][];

const kindOf = (path: string): ChannelKind | undefined => PATHS.find(([, pattern]) => pattern.test(path))?.[0];

const mannerOf = (path: string): string | undefined => /^\/hooks\/([a-z]+)\//.exec(path)?.[1];

export const createReceivers = ({ mailMs = 0 }: ReceiverSettings, { onMessage, now }: ReceiverDependencies) => {
  const mailBeganAt = new Map<string, number>();
  let answering: Answering = 'ok';

  const answer = async (
    kind: ChannelKind | undefined,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const manner = mannerOf(request.url ?? '');
    if (manner === 'slow') await sleep(SLOW_MS);
    if (kind === 'webhook' && (manner === 'hanging' || answering === 'held')) return;
    response.setHeader('content-type', 'application/json').end(answerTo(request));
  };

  const refusalOf = (kind: ChannelKind | undefined, path: string): number | undefined => {
    if (kind === 'webhook' && answering === 'away') return 503;
    if (kind === 'telegram' && answering === 'flooded') return 429;
    return kind === 'webhook' && mannerOf(path) === 'gone' ? 410 : undefined;
  };

  return {
    answer: (how: Answering): void => {
      answering = how;
    },
    /** Takes one POST. */
    take: async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const beganAt = now();
      const kind = kindOf(request.url ?? '');
      const content = await text(request);
      const refusal = refusalOf(kind, request.url ?? '');
      if (refusal !== undefined) return void response.writeHead(refusal).end(kind === 'telegram' ? FLOODED : '');
      const answered = answer(kind, request, response);
      if (kind) onMessage(kind, beganAt, content);
      await answered;
    },
    smtp: new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      disableReverseLookup: true,
      onMailFrom: (_address, session, done) => {
        mailBeganAt.set(session.id, now());
        done();
      },
      onData: (stream, session, done) => {
        const beganAt = mailBeganAt.get(session.id) ?? now();
        text(stream).then(async (content) => {
          await sleep(mailMs);
          done();
          onMessage('email', beganAt, content);
        }, done);
      },
      // A daemon that is ended resets its connections.
    }).on('error', () => undefined),
  };
};
