/** What `tocsin init` has to know: from its options and the environment, else from the person at the terminal. */
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { kindFacts } from '../channels/registry.ts';
import { serviceSection } from '../config/poll-section.ts';
import type { Environment } from '../config/variables.ts';
import { UsageError } from '../errors.ts';
import { parseHostPort } from '../schema/fields.ts';
import type { CommandContext, CommonOptions } from './context.ts';
import { type ChannelAnswers, SERVICE_KEY, type ServiceAnswers } from './init-config.ts';
import { kindOf } from './options.ts';

export interface InitOptions extends CommonOptions {
  service?: string;
  channel?: string;
  to?: string;
  from?: string;
  smtp?: string;
  smtpUser?: string;
  smtpTls?: string;
  apiUrl?: string;
  allowPrivate?: boolean;
  /** False with `--no-check`. */
  check: boolean;
  force?: boolean;
}

export interface Answers {
  service: ServiceAnswers;
  channel: ChannelAnswers;
}

type Io = Pick<CommandContext, 'ask' | 'askSecret' | 'warn'>;

/** Variables as they are set, and those that were given just now. */
export interface Variables {
  known: Environment;
  given: Record<string, string>;
}

export const STOPPED = 'stopped: nothing was written';

const isSet = ({ known, given }: Variables, name: string): boolean => (given[name] ?? known[name] ?? '') !== '';

/** The options that a channel of this kind lacks, and the variables that it needs. */
const demandsOf = (
  { channel, to, from, smtp, smtpUser }: InitOptions,
  variables: Variables,
): { options: string[]; names: string[] } => {
  if (channel === undefined) return { options: to === undefined ? ['--to ADDRESS'] : [], names: [] };
  const { addressVariable: name, hasRelay = false, secret } = kindFacts(kindOf(channel)).setup;
  const isNamed = to !== undefined || (name !== undefined && isSet(variables, name));
  return {
    options: [
      ...(isNamed ? [] : [`--to ADDRESS${name === undefined ? '' : ` or the variable ${name}`}`]),
      ...(hasRelay && from === undefined ? ['--from ADDRESS'] : []),
      ...(hasRelay && smtp === undefined ? ['--smtp HOST:PORT'] : []),
    ],
    names: 'question' in secret && (!hasRelay || smtpUser !== undefined) ? [secret.variable] : [],
  };
};

/** Throws a `UsageError` that names every option and variable that is missing, where nobody can be asked. */
export const demandAnswers = (options: InitOptions, { ask }: Io, variables: Variables): void => {
  if (ask !== undefined) return;
  const demands = demandsOf(options, variables);
  const missing = [
    ...(options.service === undefined ? ['--service URL'] : []),
    ...(options.channel === undefined ? [`--channel ${CHANNEL_KINDS.join('|')}`] : []),
    ...demands.options,
    ...[SERVICE_KEY, ...demands.names].filter((name) => !isSet(variables, name)).map((name) => `the variable ${name}`),
  ];
  if (missing.length > 0) {
    throw new UsageError(`there is no terminal to ask on, so init needs ${missing.join(', ')}; tocsin init --help`);
  }
};

/** Asks until there is an answer; `standard` is taken for none. */
const askFor = async ({ ask, warn }: Io, question: string, standard?: string): Promise<string> => {
  for (;;) {
    const answer = await ask?.(question);
    if (answer === undefined) throw new UsageError(STOPPED);
    const text = answer.trim() || standard;
    if (text !== undefined) return text;
    warn('An answer is needed; Ctrl-C ends this.\n');
  }
};

/** Offers what was given before, if it was. */
const askAgain = (io: Io, question: string, before: string | undefined): Promise<string> =>
  askFor(io, before === undefined ? question : question.replace(/: $/, ` [${before}]: `), before);

/** Takes the variable where it is set, unless it was tried in vain. */
const settle = async (io: Io, variables: Variables, name: string, question: string, again: boolean): Promise<void> => {
  const known = variables.given[name] ?? variables.known[name] ?? '';
  if (known !== '' && !(again && io.askSecret !== undefined)) {
    io.warn(`${name} is set already; using it.\n`);
    variables.given[name] = known;
    return;
  }
  for (;;) {
    const answer = await io.askSecret?.(question);
    if (answer === undefined) throw new UsageError(STOPPED);
    const text = answer.trim();
    if (text === '') continue;
    variables.given[name] = text;
    return;
  }
};

/** One that can be none is asked for again at once, before its key is typed for nothing. */
const askBaseUrl = async (io: Io, given: string | undefined, before: string | undefined): Promise<string> => {
  const question = 'Base URL of the monitoring service, like https://host/api: ';
  for (let text = given; ; text = undefined) {
    const baseUrl = (text ?? (await askAgain(io, question, before))).trim();
    const { error } = serviceSection.shape.baseUrl.safeParse(baseUrl);
    if (error === undefined || io.ask === undefined) return baseUrl;
    io.warn(`it ${error.issues[0]?.message}\n`);
  }
};

/** `before`: what did not work. The person is asked for everything again, and offered it. */
export const askService = async (
  options: InitOptions,
  io: Io,
  variables: Variables,
  before?: ServiceAnswers,
): Promise<ServiceAnswers> => {
  const given = before === undefined ? options.service : undefined;
  const baseUrl = await askBaseUrl(io, given, before?.baseUrl);
  await settle(io, variables, SERVICE_KEY, 'Its API key (does not show): ', before !== undefined);
  return { baseUrl };
};

const KIND_QUESTION = `A channel for test messages and as the last resort: ${CHANNEL_KINDS.join(', ')}: `;

const askKind = async (io: Io, before: ChannelKind = 'slack'): Promise<ChannelKind> => {
  for (;;) {
    try {
      return kindOf((await askAgain(io, KIND_QUESTION, before)).toLowerCase());
    } catch (error) {
      if (!(error instanceof UsageError) || error.message === STOPPED) throw error;
      io.warn(`${error.message.replace('--channel', 'it')}\n`);
    }
  }
};

type Relay = NonNullable<ChannelAnswers['relay']>;
const TLS_QUESTION = 'Encryption to the relay: verify, opportunistic, off: ';

const askHost = async (io: Io, smtp: string | undefined, before?: Relay): Promise<Pick<Relay, 'host' | 'port'>> => {
  const offered = before === undefined ? undefined : `${before.host}:${before.port}`;
  for (let text = smtp; ; text = undefined) {
    const answer = text ?? (await askAgain(io, 'Mail relay as HOST:PORT, like smtp.example.com:587: ', offered));
    const relay = parseHostPort(answer.includes(':') ? answer : `${answer}:587`);
    if (relay !== undefined) return relay;
    const rule = `--smtp must be HOST:PORT, like smtp.example.com:587 (got '${answer}')`;
    if (io.ask === undefined) throw new UsageError(rule);
    io.warn(`${rule}\n`);
  }
};

const askRelay = async (
  options: InitOptions,
  io: Io,
  settleSecret: () => Promise<void>,
  before?: Relay,
): Promise<Relay> => {
  const { host, port } = await askHost(io, options.smtp, before);
  const from = options.from ?? (await askAgain(io, 'Sender, like Tocsin <tocsin@example.com>: ', before?.from));
  const user = options.smtpUser ?? (io.ask === undefined ? '' : await askFor(io, 'User at the relay [none]: ', ''));
  if (user !== '') await settleSecret();
  // Most relays have TLS: only a person whose relay did not work is asked.
  const tls = before === undefined ? options.smtpTls : await askAgain(io, TLS_QUESTION, before.tls ?? 'verify');
  return { from, host, port, ...(tls === undefined ? {} : { tls }), ...(user === '' ? {} : { user }) };
};

/** `before`: what did not work. The person is asked for everything again, and offered it. */
export const askChannel = async (
  given: InitOptions,
  io: Io,
  variables: Variables,
  before?: ChannelAnswers,
): Promise<ChannelAnswers> => {
  const again = before !== undefined;
  const { apiUrl, allowPrivate: isPrivate = false } = given;
  const options: InitOptions = again ? { config: given.config, check: given.check } : given;
  const kind = options.channel === undefined ? await askKind(io, before?.kind) : kindOf(options.channel);
  const { question, addressVariable, secret, hasRelay = false } = kindFacts(kind).setup;
  const settleSecret = async (): Promise<void> => {
    if ('question' in secret) await settle(io, variables, secret.variable, secret.question, again);
    else variables.given[secret.variable] ??= variables.known[secret.variable] || secret.make();
  };
  const relay = hasRelay ? await askRelay(options, io, settleSecret, before?.relay) : undefined;
  if (!hasRelay) await settleSecret();
  // On a command line everybody on the machine can see an address that is a secret.
  const known = addressVariable !== undefined && !again ? variables.known[addressVariable] || undefined : undefined;
  const to = options.to ?? known ?? (await askAgain(io, question, before?.kind === kind ? before.to : undefined));
  if (addressVariable !== undefined) variables.given[addressVariable] = to;
  const api = apiUrl === undefined ? {} : { apiUrl };
  return { kind, to: to.trim(), isPrivate, ...api, ...(relay === undefined ? {} : { relay }) };
};

/** True for yes; without an answer `standard`. Asks until it is one of both: a key that is typed here is no no. */
export const askWhether = async (io: Io, question: string, standard: boolean): Promise<boolean> => {
  for (;;) {
    const answer = await askFor(io, `${question} [${standard ? 'Y/n' : 'y/N'}] `, standard ? 'y' : 'n');
    if (/^(y(es)?|no?)$/i.test(answer)) return /^y/i.test(answer);
    io.warn('it must be y or n\n');
  }
};
