/** A mail server that takes everything for its recipients, unless its script, its password or its limits say no. */
import { createLifecycle } from '../../lifecycle.ts';
import type { ListenOptions } from '../../listener.ts';
import { createRates, type RateRule } from '../rates.ts';
import { createMessageStore, type ReceiverView } from '../received.ts';
import { createScript, type Script } from '../script.ts';
import type { SmtpRaw } from './mail.ts';
import { type OpenedSmtp, openSmtpServer } from './server.ts';
import { createSessionHandlers, type SmtpVerdict } from './session.ts';

export interface SmtpReceiverOptions extends ListenOptions {
  /** Required of every client, in clear. Default: no AUTH is offered. */
  auth?: { user: string; pass: string };
  /** Recipients that exist, lower-case. Default: all. */
  recipients?: readonly string[];
  /** Larger messages get 552. Default: no limit. */
  maxBytes?: number;
  /** Enforced at RCPT with 450. Default none. */
  rates?: readonly RateRule[];
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
  /** Messages and attempts kept. Default 10,000. */
  keep?: number;
}

export interface SmtpReceiver extends ReceiverView<SmtpRaw> {
  start(): Promise<{ host: string; port: number }>;
  stop(): Promise<void>;
  /** By recipient; only the stages `rcpt` and `data` know one, `data` the first. */
  script: Script<SmtpVerdict>;
}

export const createSmtpReceiver = (options: SmtpReceiverOptions = {}): SmtpReceiver => {
  const { auth, recipients, maxBytes, host = '127.0.0.1', port = 0, now = Date.now, keep } = options;
  const messages = createMessageStore<SmtpRaw>('email', now, keep);
  const script = createScript<SmtpVerdict>();
  const rates = createRates(options.rates ?? [], now);
  let server: OpenedSmtp | undefined;

  const handlers = createSessionHandlers({
    auth,
    recipients,
    messages,
    rates,
    script,
    reset: (session) => server?.reset(session),
  });

  const lifecycle = createLifecycle(port, async (keptPort) => {
    server = await openSmtpServer(
      {
        ...handlers,
        banner: 'sandbox',
        disabledCommands: auth ? ['STARTTLS'] : ['STARTTLS', 'AUTH'],
        allowInsecureAuth: true,
        authOptional: !auth,
        ...(maxBytes !== undefined && { size: maxBytes }),
      },
      keptPort,
      host,
    );
    return server;
  });

  return {
    ...messages.view,
    start: async () => ({
      host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host,
      port: await lifecycle.start(),
    }),
    stop: lifecycle.stop,
    script,
  };
};
