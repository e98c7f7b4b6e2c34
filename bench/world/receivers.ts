/** Where alerts arrive: webhooks, Slack's Web API and Telegram's Bot API by HTTP, e-mail by SMTP. All take everything. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import type { ChannelKind } from '../../src/alert.ts';

export interface ReceiverDependencies {
  /** A message of a kind began to arrive at that time, and has arrived now. */
  onMessage(kind: ChannelKind, beganAt: number, content: string): void;
  now(): number;
}

/** `away`: webhooks are answered with 503. `held`: they are taken, and never answered. */
export type Answering = 'ok' | 'away' | 'held';

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
const kindOf = (path: string): ChannelKind | undefined => {
  if (path.startsWith('/hooks/')) return 'webhook';
  if (path.endsWith('/chat.postMessage')) return 'slack';
  return path.endsWith('/sendMessage') ? 'telegram' : undefined;
};

export const createReceivers = ({ onMessage, now }: ReceiverDependencies) => {
  const mailBeganAt = new Map<string, number>();
  let answering: Answering = 'ok';
  return {
    answer: (how: Answering): void => {
      answering = how;
    },
    /** Takes one POST. */
    take: async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const beganAt = now();
      const kind = kindOf(request.url ?? '');
      const content = await text(request);
      if (kind === 'webhook' && answering === 'away') return void response.writeHead(503).end();
      if (kind !== 'webhook' || answering === 'ok')
        response.setHeader('content-type', 'application/json').end(answerTo(request));
      if (kind) onMessage(kind, beganAt, content);
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
        text(stream).then((content) => {
          done();
          onMessage('email', beganAt, content);
        }, done);
      },
    }),
  };
};
