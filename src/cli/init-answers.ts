/** What `tocsin init` has to know: from its options and the environment, else from the person at the terminal. */
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { kindFacts } from '../channels/registry.ts';
import { serviceSection } from '../config/poll-section.ts';
import type { Environment } from '../config/variables.ts';
import { UsageError } from '../errors.ts';
import { parseHostPort } from '../schema/fields.ts';
import type { CommandContext, CommonOptions } from './context.ts';
import { type ChannelAnswers, SERVICE_KEY, type ServiceAnswers } from './init-config.ts';
import { kindOf, oneOf } from './options.ts';

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

/** What the whole dialogue is about. */
export interface Setup {
  options: InitOptions;
  context: CommandContext;
  /** As they are set, and those that are given now. */
  variables: { known: Environment; given: Record<string, string> };
}

type Io = Pick<CommandContext, 'ask' | 'askSecret' | 'warn'>;

export const STOPPED = 'stopped: nothing was written';

const isSet = ({ variables: { known, given } }: Setup, name: string): boolean =>
  (given[name] ?? known[name] ?? '') !== '';

/** The options that a channel of this kind lacks, and the variables that it needs. */
const demandsOf = (setup: Setup): { options: string[]; names: string[] } => {
  const { channel, to, from, smtp, smtpUser } = setup.options;
  if (channel === undefined) return { options: to === undefined ? ['--to ADDRESS'] : [], names: [] };
  const { addressVariable: name, hasRelay = false, secret } = kindFacts(kindOf(channel)).setup;
  const isNamed = to !== undefined || (name !== undefined && isSet(setup, name));
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
export const demandAnswers = (setup: Setup): void => {
  const { options, context } = setup;
  if (context.ask !== undefined) return;
  const demands = demandsOf(setup);
  const missing = [
    ...(options.service === undefined ? ['--service URL'] : []),
    ...(options.channel === undefined ? [`--channel ${CHANNEL_KINDS.join('|')}`] : []),
    ...demands.options,
    ...[SERVICE_KEY, ...demands.names].filter((name) => !isSet(setup, name)).map((name) => `the variable ${name}`),
  ];
  if (missing.length > 0) {
    throw new UsageError(`there is no terminal to ask on, so init needs ${missing.join(', ')}; tocsin init --help`);
  }
};

/** Asks until there is an answer; none stands for what is offered. */
const askFor = async ({ ask, warn }: Io, question: string, offered?: string): Promise<string> => {
  for (;;) {
    const answer = await ask?.(question);
    if (answer === undefined) throw new UsageError(STOPPED);
    const text = answer.trim() || offered;
    if (text !== undefined) return text;
    warn('An answer is needed; Ctrl-C ends this.\n');
  }
};

/** Offers what was given before, if it was. */
const askAgain = (io: Io, question: string, before: string | undefined): Promise<string> =>
  askFor(io, before === undefined ? question : question.replace(/: $/, ` [${before}]: `), before);

/** Asks until `read` takes it: it throws a `UsageError` for what it does not take. `given`: by an option. */
const askUntil = async <T>(
  io: Io,
  question: string,
  { given, before }: { given?: string | undefined; before?: string | undefined },
  read: (text: string) => T,
): Promise<T> => {
  for (let text = given; ; text = undefined) {
    const answer = text ?? (await askAgain(io, question, before));
    try {
      return read(answer);
    } catch (error) {
      if (!(error instanceof UsageError) || io.ask === undefined) throw error;
      io.warn(`${error.message}\n`);
    }
  }
};

/** Takes the variable where it is set, unless it was tried in vain. */
const settle = async (
  { context: io, variables }: Setup,
  name: string,
  question: string,
  again: boolean,
): Promise<void> => {
  const known = variables.given[name] ?? variables.known[name] ?? '';
  if (known !== '' && !(again && io.askSecret !== undefined)) {
    io.warn(`${name} is set already; using it.\n`);
    variables.given[name] = known;
    return;
  }
  let answer: string | undefined = '';
  while (answer === '') answer = (await io.askSecret?.(question))?.trim();
  if (answer === undefined) throw new UsageError(STOPPED);
  variables.given[name] = answer;
};

/** `before`: what did not work. The person is asked for everything again, and offered it. */
export const askService = async (setup: Setup, before?: ServiceAnswers): Promise<ServiceAnswers> => {
  const { options, context: io } = setup;
  const given = before === undefined ? options.service : undefined;
  const question = 'Base URL of the monitoring service, like https://host/api: ';
  const baseUrl = await askUntil(io, question, { given, before: before?.baseUrl }, (answer) => {
    const { error } = serviceSection.shape.baseUrl.safeParse(answer.trim());
    // Asked for again at once, before its key is typed for nothing. Where nobody can be asked, the check names it.
    if (error !== undefined && io.ask !== undefined) throw new UsageError(`it ${error.issues[0]?.message}`);
    return answer.trim();
  });
  await settle(setup, SERVICE_KEY, 'Its API key (does not show): ', before !== undefined);
  return { baseUrl };
};

const KIND_QUESTION = `A channel for test messages and as the last resort: ${CHANNEL_KINDS.join(', ')}: `;

const askKind = (io: Io, before: ChannelKind = 'slack'): Promise<ChannelKind> =>
  askUntil(io, KIND_QUESTION, { before }, (answer) => oneOf('it', answer.toLowerCase(), CHANNEL_KINDS));

type Relay = NonNullable<ChannelAnswers['relay']>;

const hostOf = (answer: string): Pick<Relay, 'host' | 'port'> => {
  const relay = parseHostPort(answer.includes(':') ? answer : `${answer}:587`);
  if (relay !== undefined) return relay;
  throw new UsageError(`--smtp must be HOST:PORT, like smtp.example.com:587 (got '${answer}')`);
};

const RELAY_QUESTION = 'Mail relay as HOST:PORT, like smtp.example.com:587: ';
const TLS_QUESTION = 'Encryption to the relay: verify, opportunistic, off: ';

const askRelay = async (
  options: InitOptions,
  io: Io,
  settleSecret: () => Promise<void>,
  before?: Relay,
): Promise<Relay> => {
  const offered = before && `${before.host}:${before.port}`;
  const { host, port } = await askUntil(io, RELAY_QUESTION, { given: options.smtp, before: offered }, hostOf);
  const from = options.from ?? (await askAgain(io, 'Sender, like Tocsin <tocsin@example.com>: ', before?.from));
  const user = options.smtpUser ?? (io.ask === undefined ? '' : await askFor(io, 'User at the relay [none]: ', ''));
  if (user !== '') await settleSecret();
  // Most relays have TLS: only a person whose relay did not work is asked.
  const tls = before === undefined ? options.smtpTls : await askAgain(io, TLS_QUESTION, before.tls ?? 'verify');
  return { from, host, port, ...(tls === undefined ? {} : { tls }), ...(user === '' ? {} : { user }) };
};

/** `before`: what did not work. The person is asked for everything again, and offered it. */
export const askChannel = async (setup: Setup, before?: ChannelAnswers): Promise<ChannelAnswers> => {
  const { options: given, context: io, variables } = setup;
  const again = before !== undefined;
  const { apiUrl, allowPrivate: isPrivate = false } = given;
  const options: InitOptions = again ? { config: given.config, check: given.check } : given;
  const kind = options.channel === undefined ? await askKind(io, before?.kind) : kindOf(options.channel);
  const { question, addressVariable, secret, hasRelay = false } = kindFacts(kind).setup;
  const settleSecret = async (): Promise<void> => {
    if ('question' in secret) await settle(setup, secret.variable, secret.question, again);
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

/** True for yes; without an answer `standard`. A key that is typed here is no no. */
export const askWhether = (io: Io, question: string, standard: boolean): Promise<boolean> =>
  askUntil(io, `${question} [${standard ? 'Y/n' : 'y/N'}] `, { before: standard ? 'y' : 'n' }, (answer) => {
    if (!/^(y(es)?|no?)$/i.test(answer)) throw new UsageError('it must be y or n');
    return /^y/i.test(answer);
  });
