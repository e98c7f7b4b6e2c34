/** What the mail server says at each command: the script first, then its own rules. */
import type { SMTPServerAddress, SMTPServerOptions, SMTPServerSession } from 'smtp-server';
import type { Rates } from '../rates.ts';
import type { MessageStore } from '../received.ts';
import type { Script } from '../script.ts';
import { parseMail, readableMail, type SmtpRaw } from './mail.ts';

type SmtpStage = 'connect' | 'mail' | 'rcpt' | 'data';

/** What happens at which command. With `recorded`, a message is kept although the sender gets another reply, or none. */
export type SmtpVerdict =
  /** `text` may begin with an enhanced status code, e.g. `4.7.1 Greylisted`. */
  | { kind: 'reply'; stage: SmtpStage; code: number; text: string; recorded?: boolean }
  | { kind: 'hang'; stage: SmtpStage; recorded?: boolean }
  | { kind: 'reset'; stage: SmtpStage; recorded?: boolean };

interface SessionDependencies {
  auth: { user: string; pass: string } | undefined;
  recipients: readonly string[] | undefined;
  messages: MessageStore<SmtpRaw>;
  rates: Rates;
  script: Script<SmtpVerdict>;
  reset(session: SMTPServerSession): void;
}

type Reply = (error?: Error | null) => void;
type Incoming = AsyncIterable<Buffer> & { sizeExceeded: boolean };

const smtpError = (responseCode: number, text: string): Error => Object.assign(new Error(text), { responseCode });

const recipientsOf = ({ envelope }: SMTPServerSession): string[] =>
  envelope.rcptTo.map(({ address }) => address.toLowerCase());

const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const file = async ({ messages }: SessionDependencies, source: Buffer, session: SMTPServerSession): Promise<void> => {
  const from = session.envelope.mailFrom;
  const to = recipientsOf(session);
  const raw = await parseMail(source, { from: from ? from.address : '', to });
  const id = raw.messageId === '' ? {} : { id: raw.messageId };
  for (const recipient of to) messages.add(recipient, { ...id, text: readableMail(raw), raw });
};

/** Does what the script says. */
const play = (
  parts: SessionDependencies,
  verdict: SmtpVerdict,
  session: SMTPServerSession,
  to: string,
  reply: Reply,
): void => {
  parts.messages.addAttempt(to, 'scripted', verdict.kind === 'reply' ? String(verdict.code) : verdict.kind);
  if (verdict.kind === 'reply') reply(smtpError(verdict.code, verdict.text));
  if (verdict.kind === 'reset') parts.reset(session);
};

const refuse = (
  { messages }: SessionDependencies,
  to: string,
  outcome: 'refused' | 'limited',
  code: number,
  text: string,
): Error => {
  messages.addAttempt(to, outcome, String(code));
  return smtpError(code, text);
};

const judgeRecipient = (parts: SessionDependencies, to: string): Error | null => {
  if (!(parts.recipients?.includes(to) ?? true)) return refuse(parts, to, 'refused', 550, '5.1.1 No such mailbox');
  if (parts.rates.take(to) > 0) return refuse(parts, to, 'limited', 450, '4.7.1 Too many messages, try later');
  return null;
};

export const createSessionHandlers = (parts: SessionDependencies): SMTPServerOptions => {
  const { auth, messages, script } = parts;

  const take = (stage: SmtpStage, to = ''): SmtpVerdict | undefined =>
    script.take(to, (verdict) => verdict.stage === stage);

  const receive = async (stream: Incoming, session: SMTPServerSession, reply: Reply): Promise<void> => {
    const source = await readAll(stream);
    const [first = '', ...others] = recipientsOf(session);
    const verdict = take('data', first);
    if (verdict?.recorded) await file(parts, source, session);
    if (verdict) return play(parts, verdict, session, first, reply);
    if (stream.sizeExceeded) return reply(refuse(parts, first, 'refused', 552, '5.3.4 Message too big'));
    await file(parts, source, session);
    for (const to of [first, ...others]) messages.addAttempt(to, 'accepted', '250');
    return reply();
  };

  /** A stage without a recipient. */
  const passOr = (stage: SmtpStage, session: SMTPServerSession, reply: Reply): void => {
    const verdict = take(stage);
    if (verdict) play(parts, verdict, session, '', reply);
    else reply();
  };

  return {
    onConnect: (session, reply) => passOr('connect', session, reply),
    onMailFrom: (_address, session, reply) => passOr('mail', session, reply),
    onAuth: ({ username, password }, _session, reply) => {
      if (username === auth?.user && password === auth?.pass) reply(null, { user: username });
      else reply(refuse(parts, '', 'refused', 535, '5.7.8 Authentication credentials invalid'));
    },
    onRcptTo: ({ address }: SMTPServerAddress, session, reply) => {
      const to = address.toLowerCase();
      const verdict = take('rcpt', to);
      if (verdict) play(parts, verdict, session, to, reply);
      else reply(judgeRecipient(parts, to));
    },
    onData: (stream, session, reply) => {
      receive(stream, session, reply).catch((error: unknown) => reply(smtpError(451, `4.3.0 ${String(error)}`)));
    },
  };
};
