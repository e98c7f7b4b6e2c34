/** E-mail through a relay: one mail, one recipient, one attempt. The pool keeps connections but never sends a mail twice. */
import type { Readable } from 'node:stream';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { tlsOptions } from '../../connection/settings.ts';
import { DeliveryError } from '../../errors.ts';
import { createScrubber } from '../../secret.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { Channel, CreateChannel, Message, Receipt } from '../channel.ts';
import { stoppedWaiting } from '../failures.ts';
import { type Mailbox, parseAddress } from './address.ts';
import type { MailBody } from './body.ts';
import type { EmailConfig } from './config.ts';
import { composeEmail, type First, handleOf, inThread, readHandle } from './message.ts';
import { type AccessTokens, createAccessTokens } from './oauth2.ts';
import { withAcknowledgeLink, withWhat } from './page.ts';
import { smtpFailure } from './verdicts.ts';

/** How the connection to the relay is encrypted, and whom it trusts, as nodemailer takes it. */
const relayTls = ({ secure, requireTLS, tls, ca, cert, key }: EmailConfig['smtp']) => ({
  secure,
  requireTLS: requireTLS && !secure,
  ignoreTLS: tls === 'off',
  // Go on without TLS if the relay offers STARTTLS and then refuses it.
  opportunisticTLS: tls === 'opportunistic',
  tls: {
    minVersion: 'TLSv1.2' as const,
    ...(tls === 'opportunistic' ? { rejectUnauthorized: false } : {}),
    ...tlsOptions(
      { ...(ca !== undefined && { ca }), ...(cert !== undefined && key !== undefined && { cert, key }) },
      { isChosen: true },
    ),
  },
});

/** Limits of single steps; the kind's `timeout` limits the whole attempt. Nodemailer's defaults are minutes. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 60_000;
const IDLE_MS = 30_000;
const GOODBYE_MS = 1000;
const RECEIPT_LIMIT = 300;

/** What nodemailer takes for a login; an access token is fetched when a connection needs one. */
const loginOf = ({ user, pass, oauth2 }: EmailConfig['smtp'], tokens: AccessTokens | undefined) => {
  if (tokens === undefined || oauth2 === undefined)
    return user === undefined || pass === undefined ? {} : { auth: { user, pass: pass.reveal() } };
  const provisionCallback = (_user: string, renew: boolean, done: TokenCallback): void => {
    tokens.get(renew).then(
      ({ token, expiresAt }) => done(null, token, expiresAt),
      // Nodemailer writes a code of its own into what it is given.
      (error: unknown) => done(Object.assign(new Error('no access token'), { failure: error })),
    );
  };
  return { auth: { type: 'OAuth2' as const, user: oauth2.user, provisionCallback } };
};

/** No part of a mail is read from a file or a URL. */
const NO_ACCESS = { disableFileAccess: true, disableUrlAccess: true };

type TokenCallback = (error: Error | null, accessToken?: string, expires?: number) => void;

const openPool = ({ smtp, concurrency, timeout }: EmailConfig, tokens: AccessTokens | undefined) =>
  createTransport({
    pool: true,
    host: smtp.host,
    port: smtp.port,
    ...relayTls(smtp),
    ...loginOf(smtp, tokens),
    maxConnections: concurrency,
    // A new connection costs a greeting and a handshake. A relay with a lower limit closes the connection; we then retry.
    maxMessages: 1000,
    // Once more over a new connection if the relay had closed the kept one; never after the text was sent.
    maxRequeues: 1,
    connectionTimeout: Math.min(CONNECT_MS, timeout),
    greetingTimeout: Math.min(CONNECT_MS, timeout),
    dnsTimeout: Math.min(CONNECT_MS, timeout),
    socketTimeout: SILENCE_MS,
    idleTimeout: IDLE_MS,
    socketCloseTimeout: GOODBYE_MS,
    ...NO_ACCESS,
  });

/**
 * RFC 2156, and for programs that know only the older one. Not X-MSMail-Priority, which nodemailer's `priority` adds: it
 * counts as spam without an X-MimeOLE (SpamAssassin MISSING_MIMEOLE), as X-Priority does without an X-Mailer.
 */
const URGENT = { Importance: 'high', 'X-Priority': '1' };

/** Beside a subject that an earlier mail gave it stands what this one is about. */
const htmlOf = ({ html, what, subject: own }: MailBody, subject: string): { html?: string } => {
  if (html === undefined) return {};
  return { html: what === undefined || subject === own ? html : withWhat(html, what) };
};

/** Who stores mails in an mbox puts a `>` before such a line (RFC 4155). With a no-break space it looks the same, and stays. */
const keptInMbox = (text: string): string => text.replace(/^From /gm, 'From\u00a0');

/** Addresses are given as objects and in an envelope: nodemailer would parse a text as a list. */
const mailOf = ({ id, body, replyTo = '' }: Message<MailBody>, from: Mailbox, to: string) => {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const root = `<${body.threadId}@${domain}>`;
  const earlier = readHandle(replyTo);
  const { subject, first } = inThread(body, earlier);
  const mail = {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to: [to] },
    subject,
    text: keptInMbox(body.text),
    ...htmlOf(body, subject),
    attachments: (body.attachments ?? []).map((file) => ({ ...file, contentType: 'text/plain; charset=utf-8' })),
    date: new Date(body.date),
    messageId: `<${id}@${domain}>`,
    // The nearest ancestor last (RFC 5322). Mail programs without nested threads use the first, the root.
    inReplyTo: earlier?.messageId ?? root,
    references: [root, ...(earlier ? [earlier.messageId] : [])],
    list: { id: { url: `${body.list.label}.${domain}`, comment: body.list.name } },
    headers: {
      // RFC 3834, and the same for Exchange: no out-of-office replies to us.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(body.isUrgent ? URGENT : {}),
    },
    // Without a version: it is nobody's business.
    xMailer: 'Tocsin',
    ...NO_ACCESS,
  } satisfies SendMailOptions;
  return { mail, first };
};

interface SentInfo {
  messageId: string;
  serverMessageId?: string | undefined;
  rejectedErrors?: readonly unknown[] | undefined;
}

const receiptOf = ({ messageId, serverMessageId }: SentInfo, first: First): Receipt => {
  const named = serverMessageId ? `${messageId} (relay: ${serverMessageId})` : messageId;
  return { handle: handleOf(messageId, first), providerId: shorten(cleanLine(named), RECEIPT_LIMIT) };
};

/** The text stream of each mail in flight, by its signal: it alone shows whether the text had left us when an answer is lost. */
const trackTexts = (pool: ReturnType<typeof openPool>): WeakMap<AbortSignal, Readable> => {
  const texts = new WeakMap<AbortSignal, Readable>();
  pool.use('stream', (mail, done) => {
    const { signal } = mail.data;
    mail.message.processFunc((text: Readable) => {
      if (signal instanceof AbortSignal) texts.set(signal, text);
      return text;
    });
    done();
  });
  return texts;
};

export const createEmailChannel: CreateChannel<EmailConfig> = (config, { now, proxyFor }): Channel<MailBody> => {
  const { smtp, from, timeout } = config;
  const peer = `${smtp.host}:${smtp.port}`;
  const timeoutMs = Math.min(CONNECT_MS, timeout);
  const tokens = smtp.oauth2 && createAccessTokens(smtp.oauth2, timeoutMs, now, proxyFor);
  const pool = openPool(config, tokens);
  const scrub = (text: string): string =>
    createScrubber([...(smtp.pass === undefined ? [] : [smtp.pass.reveal()]), ...(tokens?.secrets() ?? [])])(text);

  const texts = trackTexts(pool);

  const attempt = async <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
    if (signal.aborted) throw stoppedWaiting(signal, peer, false);
    try {
      return await run();
    } catch (error) {
      const sent = texts.get(signal)?.readableEnded ?? false;
      if (signal.aborted) throw stoppedWaiting(signal, peer, sent);
      throw smtpFailure(error, { peer, sent, scrub });
    }
  };

  const verify = (signal: AbortSignal): Promise<string> =>
    attempt(signal, async () => {
      const aborted = new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      await Promise.race([pool.verify(), aborted]);
      return `${peer} lets us in`;
    });

  return {
    kind: 'email',
    compose: composeEmail,
    withAcknowledgeLink,
    send: async (message, signal) => {
      const to = parseAddress(message.destination.address);
      if (to === undefined)
        throw new DeliveryError('destination-dead', 'this is not an e-mail address', { code: 'address' });
      return attempt(signal, async () => {
        const { mail, first } = mailOf(message, from, to);
        const info: SentInfo = await pool.sendMail({ ...mail, signal });
        const [refusal] = info.rejectedErrors ?? [];
        if (refusal !== undefined) throw refusal;
        return receiptOf(info, first);
      });
    },
    givesHandle: () => true,
    verify,
    // A relay may refuse one recipient in words that blame us: if it still lets us in, the other mailboxes need not wait.
    isSenderFailure: (signal) =>
      verify(signal).then(
        () => false,
        () => true,
      ),
    close: async () => {
      pool.close();
      await tokens?.close();
    },
  };
};
