/** A real SMTP relay of a test's own, which records what arrives and refuses by script. */
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';

/** A reply at one point of the session; `text` is after the whole mail. */
export interface Reply {
  at: 'connect' | 'auth' | 'mail' | 'rcpt' | 'text';
  code: number;
  says: string;
}

/** `hang` takes the whole mail and never answers; `reset` takes it and drops the connection. */
export type SmtpStep = Reply | 'hang' | 'reset';

export interface ArrivedMail {
  from: string;
  to: string[];
  /** As it stood on the wire, less the dot stuffing. */
  raw: string;
}

export interface SmtpRelay {
  port: number;
  /** Every whole mail, also the refused. */
  arrived: ArrivedMail[];
  accepted: ArrivedMail[];
  /** How many connections were opened so far. */
  connections(): number;
  /** How many mails came over TLS, and how many logins were tried. */
  secured(): number;
  logins(): number;
  /** Closes what clients hold open, as a relay does after a while. */
  dropConnections(): void;
  /** What the next mails meet, in this order; after that all are accepted. */
  script(...steps: SmtpStep[]): void;
  close(): Promise<void>;
}

const errorOf = ({ code, says }: Reply): Error => Object.assign(new Error(says), { responseCode: code });

const addressOf = (address: false | { address: string }): string => (address === false ? '' : address.address);

export interface RelayOptions {
  user?: string;
  pass?: string;
  /** Reads a mail that the script lets through; what it throws is the relay's refusal of the text. */
  read?: (mail: ArrivedMail) => Promise<void>;
  /** Further options of the server, for TLS. */
  server?: SMTPServerOptions;
}

export const startSmtpRelay = async ({ user, pass, read, server: more }: RelayOptions = {}): Promise<SmtpRelay> => {
  const steps: SmtpStep[] = [];
  const arrived: ArrivedMail[] = [];
  const accepted: ArrivedMail[] = [];
  let connections = 0;
  let secured = 0;
  let logins = 0;

  const dropConnections = (): void => {
    for (const { _socket } of server.connections) _socket.destroy();
  };

  /** The next step's refusal, if it is for this point of the session. */
  const refusalAt = (at: Reply['at']): Error | null => {
    const [step] = steps;
    if (typeof step !== 'object' || step.at !== at) return null;
    steps.shift();
    return errorOf(step);
  };

  const drop = ({ id }: SMTPServerSession): void => {
    for (const connection of server.connections) if (connection.id === id) connection._socket.destroy();
  };

  /** The reply to a whole mail; nothing where there is to be none. */
  const take = async (stream: Readable, session: SMTPServerSession): Promise<string | undefined> => {
    const { mailFrom, rcptTo } = session.envelope;
    const raw = (await buffer(stream)).toString('utf8');
    const mail = { from: addressOf(mailFrom), to: rcptTo.map(addressOf), raw };
    arrived.push(mail);
    if (session.secure) secured += 1;
    const [step] = steps;
    if (step === 'hang' || step === 'reset') {
      steps.shift();
      if (step === 'reset') drop(session);
      return undefined;
    }
    const refusal = refusalAt('text');
    if (refusal !== null) throw refusal;
    await read?.(mail).catch((error: unknown) => {
      throw errorOf({ at: 'text', code: 554, says: `5.6.0 ${String(error)}` });
    });
    accepted.push(mail);
    return `2.0.0 Ok: queued as ${accepted.length}`;
  };

  const server = new SMTPServer({
    disabledCommands: ['STARTTLS', ...(user === undefined ? ['AUTH'] : [])],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    closeTimeout: 50,
    onConnect: (_session, done) => {
      connections += 1;
      done(refusalAt('connect'));
    },
    onAuth: (auth, _session, done) => {
      logins += 1;
      const refusal = refusalAt('auth');
      if (refusal !== null) return done(refusal);
      if (auth.username === user && auth.password === pass) return done(null, { user });
      return done(errorOf({ at: 'auth', code: 535, says: '5.7.8 Authentication credentials invalid' }));
    },
    onMailFrom: (_address, _session, done) => done(refusalAt('mail')),
    onRcptTo: (_address, _session, done) => done(refusalAt('rcpt')),
    onData: (stream, session, done) => {
      take(stream, session).then((answer) => answer && done(null, answer), done);
    },
    ...more,
  });
  // A client that goes away in the middle of its session is what some tests are about.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  let closed: Promise<void> | undefined;
  return {
    port,
    arrived,
    accepted,
    connections: () => connections,
    secured: () => secured,
    logins: () => logins,
    dropConnections,
    script: (...next) => void steps.push(...next),
    close: () => {
      closed ??= new Promise((resolve) => server.close(() => resolve()));
      dropConnections();
      return closed;
    },
  };
};
